"""Limits for each caller, in this instance's memory: requests in a minute (a token bucket), and things at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_MOST = 10_000


class RateLimit:
    """Lets `per_minute` requests a minute through for each subject, and a burst of as many. 0 is no limit. Thread-safe."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float], most: int = _MOST) -> None:
        self._per_second = per_minute / 60
        self._burst = float(per_minute)
        self._clock = clock
        self._most = most
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def seconds_to_wait(self, subject: str) -> float:
        """0 when the request may go, else when the next one may."""
        if not self._burst:
            return 0.0
        now = self._clock()
        with self._lock:
            tokens, at = self._buckets.pop(subject, (self._burst, now))
            tokens = min(self._burst, tokens + (now - at) * self._per_second)
            wait = 0.0 if tokens >= 1 else (1 - tokens) / self._per_second
            self._buckets[subject] = (tokens if wait else tokens - 1, now)
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        return wait


class ConcurrencyLimit:
    """Lets each subject do `most` things at a time; another one waits up to `wait_seconds` for its turn. Thread-safe."""

    def __init__(self, most: int, *, wait_seconds: float) -> None:
        self._most = most
        self._wait_seconds = wait_seconds
        self._changed = threading.Condition()
        self._under_way: dict[str, int] = {}

    @contextmanager
    def one_more(self, subject: str) -> Iterator[bool]:
        """Whether there is room; if so, it is taken until the end of the context."""
        if not self._taken(subject):
            yield False
            return
        try:
            yield True
        finally:
            with self._changed:
                left = self._under_way.pop(subject) - 1
                if left:
                    self._under_way[subject] = left
                if left == self._most - 1:
                    self._changed.notify_all()

    def _taken(self, subject: str) -> bool:
        with self._changed:
            there = self._changed.wait_for(
                lambda: self._under_way.get(subject, 0) < self._most, self._wait_seconds
            )
            if there:
                self._under_way[subject] = self._under_way.get(subject, 0) + 1
            return there
