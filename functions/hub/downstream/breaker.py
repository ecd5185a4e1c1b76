"""A circuit breaker for one route: after repeated failures the agent is left alone for a while, then tried by one request."""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from a2a_hub.routing.routes import BreakerLimits
from functions.hub.failure import Failure


class CircuitState(StrEnum):
    """CLOSED lets all requests through, OPEN none; HALF_OPEN waits for the outcome of the one trial request."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Admission(NamedTuple):
    """The answer to one request, which may go if `seconds_to_wait` is 0. `trial` is the number of its trial, 0 for none.

    `opened_by` is the failure that opened the circuit for a request that has to wait.
    """

    seconds_to_wait: float
    trial: int = 0
    opened_by: Failure | None = None


class CircuitBreaker:
    """The circuit of one agent, which stays closed without `limits`. Thread-safe; `clock` gives seconds that never go back."""

    def __init__(self, limits: BreakerLimits | None, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._limits = limits
        self._lock = threading.Lock()
        self._state = CircuitState.CLOSED
        self._failures = 0
        self._next_trial = 0.0
        self._trials = 0
        self._opened_by: Failure | None = None

    def admit(self) -> Admission:
        """Admit the request if the circuit is closed, or as the trial."""
        with self._lock:
            if self._state is CircuitState.CLOSED:
                return Admission(0.0)
            seconds_to_wait = self._next_trial - self._clock()
            if seconds_to_wait > 0:
                return Admission(seconds_to_wait, opened_by=self._opened_by)
            # A trial that never ends makes room for another one after the same time.
            self._enter(CircuitState.HALF_OPEN, pause=True)
            self._trials += 1
            return Admission(0.0, self._trials)

    def pause(self) -> Admission | None:
        """Return the answer that requests get while the circuit is not closed, without admitting one."""
        with self._lock:
            if self._state is CircuitState.CLOSED:
                return None
            return Admission(max(0.0, self._next_trial - self._clock()), opened_by=self._opened_by)

    def succeeded(self) -> None:
        """Close the circuit: the agent answered."""
        if self._failures:
            with self._lock:
                self._failures = 0
                self._enter(CircuitState.CLOSED)

    def undecided(self, admission: Admission) -> None:
        """Let the next request be the trial: this trial says nothing yet, or never will. Other requests change nothing."""
        if admission.trial:
            with self._lock:
                if self._state is CircuitState.HALF_OPEN and admission.trial == self._trials:
                    self._enter(CircuitState.OPEN)

    def failed(self, failure: Failure) -> bool:
        """Count a failure of the agent: at the limit the circuit opens, and a failed trial opens it anew. Return True then."""
        with self._lock:
            self._failures += 1
            if self._limits is not None and self._failures >= self._limits.failures:
                self._opened_by = failure
                self._enter(CircuitState.OPEN, pause=True)
                return True
            return False

    def _enter(self, state: CircuitState, *, pause: bool = False) -> None:
        """Enter the state; the next trial may be made after a `pause`, or at once."""
        self._state = state
        self._next_trial = self._clock() + (self._limits.pause_seconds if pause and self._limits else 0.0)
