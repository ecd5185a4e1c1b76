"""A circuit breaker for one route: after repeated failures the agent is left alone for a while, then tried by one request."""

import threading
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple


class CircuitState(StrEnum):
    """CLOSED lets all requests through, OPEN none; HALF_OPEN waits for the outcome of the one trial request."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Admission(NamedTuple):
    """The answer to one request, which may go if `seconds_to_wait` is 0. `trial` is the number of its trial, 0 for none."""

    seconds_to_wait: float
    trial: int = 0


class CircuitBreaker:
    """The circuit of one agent. Thread-safe; `clock` gives seconds that never go back."""

    def __init__(self, *, clock: Callable[[], float], threshold: int = 5, open_seconds: float = 30.0) -> None:
        self._clock = clock
        self._threshold = threshold
        self._open_seconds = open_seconds
        self._lock = threading.Lock()
        self._state = CircuitState.CLOSED
        self._failures = 0
        self._next_trial = 0.0
        self._trials = 0

    def admit(self) -> Admission:
        """Admit the request if the circuit is closed, or as the trial."""
        with self._lock:
            if self._state is CircuitState.CLOSED:
                return Admission(0.0)
            now = self._clock()
            if now < self._next_trial:
                return Admission(self._next_trial - now)
            # A trial that never ends makes room for another one after the same time.
            self._enter(CircuitState.HALF_OPEN, next_trial=now + self._open_seconds)
            self._trials += 1
            return Admission(0.0, self._trials)

    def succeeded(self) -> None:
        """Close the circuit: the agent answered."""
        if self._failures:
            with self._lock:
                self._failures = 0
                self._enter(CircuitState.CLOSED)

    def undecided(self, admission: Admission) -> None:
        """Let the next request be the trial: this trial says nothing yet, or never will. Other requests change nothing."""
        with self._lock:
            if self._state is CircuitState.HALF_OPEN and admission.trial == self._trials:
                self._enter(CircuitState.OPEN, next_trial=self._clock())

    def failed(self) -> None:
        """Count a failure of the agent: at the threshold the circuit opens, and a failed trial opens it anew."""
        with self._lock:
            self._failures += 1
            if self._failures >= self._threshold:
                self._enter(CircuitState.OPEN, next_trial=self._clock() + self._open_seconds)

    def _enter(self, state: CircuitState, *, next_trial: float = 0.0) -> None:
        self._state, self._next_trial = state, next_trial
