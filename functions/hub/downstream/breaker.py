"""A circuit breaker for one route: after repeated failures the agent is left alone for a while, then tried by one request."""

from __future__ import annotations

import threading
from collections.abc import Callable


class CircuitBreaker:
    """Closed, open, or half open. Thread-safe; `clock` gives seconds that never go back."""

    def __init__(self, *, clock: Callable[[], float], threshold: int = 5, open_seconds: float = 30.0) -> None:
        self._clock = clock
        self._threshold = threshold
        self._open_seconds = open_seconds
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until = 0.0
        self._trying = False

    def seconds_to_wait(self) -> float:
        """0 when a request may go: the circuit is closed, or this is the one request that tries again."""
        with self._lock:
            if self._failures < self._threshold:
                return 0.0
            now = self._clock()
            if now < self._open_until:
                return self._open_until - now
            # Whoever comes while the one request is on its way waits for its outcome.
            self._open_until = now + self._open_seconds
            self._trying = True
            return 0.0

    def succeeded(self) -> None:
        """The agent answered: the circuit closes."""
        if self._failures:
            with self._lock:
                self._failures = 0
                self._trying = False

    def undecided(self) -> None:
        """The request that was let through says nothing yet, or never will: an open circuit may be tried by the next one."""
        if self._trying:
            with self._lock:
                if self._trying:
                    self._trying = False
                    self._open_until = self._clock()

    def failed(self) -> None:
        """The agent failed: at the threshold the circuit opens, and a failed trial opens it anew."""
        with self._lock:
            self._failures += 1
            self._trying = False
            if self._failures >= self._threshold:
                self._open_until = self._clock() + self._open_seconds
