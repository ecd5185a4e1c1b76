"""A rate limit for each caller: a token bucket, in this instance's memory and bounded."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

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
