"""Admission: authentication, rate limit, and limited request bodies, per caller and in this instance's memory."""

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import A2AError, ErrorKind
from a2a_hub.http.messages import Request
from a2a_hub.identity.authentication import Authenticator, Caller
from a2a_hub.telemetry.log import Record

_MAX_SUBJECTS = 10_000
_RATE_LIMITED = ErrorKind(
    "RATE_LIMITED", -32603, 429, "RESOURCE_EXHAUSTED", "Too many requests; wait and try again", a2a=False
)
# A body may take two minutes; this is half of a deployed gate's threads.
_MAX_BODIES_PER_CALLER = 40
# Long enough to read a burst of bodies that have arrived already.
_WAIT_SECONDS = 1.0


class RateLimit:
    """A token bucket per subject: `per_minute` requests a minute, and a burst of as many. 0 means no limit. Thread-safe."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float], max_subjects: int = _MAX_SUBJECTS) -> None:
        self._per_second = per_minute / 60
        self._burst = float(per_minute)
        self._clock = clock
        self._max_subjects = max_subjects
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def seconds_to_wait(self, subject: str) -> float:
        """Take a token and return 0; without one, return the seconds until the next."""
        if not self._burst:
            return 0.0
        now = self._clock()
        with self._lock:
            tokens, at = self._buckets.pop(subject, (self._burst, now))
            tokens = min(self._burst, tokens + (now - at) * self._per_second)
            wait = 0.0 if tokens >= 1 else (1 - tokens) / self._per_second
            self._buckets[subject] = (tokens if wait else tokens - 1, now)
            if len(self._buckets) > self._max_subjects:
                self._buckets.popitem(last=False)
        return wait


class ConcurrencyLimit:
    """A limit of concurrent operations per subject; further ones wait for up to `wait_seconds`. Thread-safe."""

    def __init__(self, limit: int, *, wait_seconds: float) -> None:
        self._limit = limit
        self._wait_seconds = wait_seconds
        self._changed = threading.Condition()
        self._running: dict[str, int] = {}

    @contextmanager
    def slot(self, subject: str) -> Iterator[bool]:
        """Take a slot until the end of the context; False if none became free."""
        if not self._take(subject):
            yield False
            return
        try:
            yield True
        finally:
            with self._changed:
                left = self._running.pop(subject) - 1
                if left:
                    self._running[subject] = left
                if left == self._limit - 1:
                    self._changed.notify_all()

    def _take(self, subject: str) -> bool:
        with self._changed:
            is_free = self._changed.wait_for(lambda: self._running.get(subject, 0) < self._limit, self._wait_seconds)
            if is_free:
                self._running[subject] = self._running.get(subject, 0) + 1
            return is_free


class Admission:
    """The admission of callers and their request bodies."""

    def __init__(self, authenticator: Authenticator, rate_limit: RateLimit, *, max_body_bytes: int) -> None:
        self._authenticator = authenticator
        self._rate_limit = rate_limit
        self._bodies = ConcurrencyLimit(_MAX_BODIES_PER_CALLER, wait_seconds=_WAIT_SECONDS)
        self._max_body_bytes = max_body_bytes

    def caller(self, request: Request, record: Record) -> Caller:
        """Return the caller. Raises A2AError if authentication fails (401, 503) or the rate limit is exceeded (429)."""
        caller = self._authenticator.identify(request, record)
        if caller.principal is not None:
            wait = self._rate_limit.seconds_to_wait(caller.principal.subject)
            if wait:
                raise A2AError(_RATE_LIMITED, headers={"retry-after": str(math.ceil(wait))})
        return caller

    def body(self, request: Request, caller: Caller) -> bytes:
        """Return the whole body. Raises A2AError if it is too large (413), or if too many of this caller's are arriving (429)."""
        with self._bodies.slot(caller.principal.subject if caller.principal else "") as is_admitted:
            if not is_admitted:
                raise A2AError(_RATE_LIMITED, headers={"retry-after": "1"})
            return read_body(request, self._max_body_bytes)
