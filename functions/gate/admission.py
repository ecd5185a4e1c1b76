"""Limits for each caller, in this instance's memory: requests in a minute (a token bucket), and things at a time."""

from __future__ import annotations

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


_RATE_LIMITED = ErrorKind(
    "RATE_LIMITED", -32603, 429, "RESOURCE_EXHAUSTED", "Too many requests; wait and try again", a2a=False
)
# A body may take two minutes; this is half of the threads that a deployed gate has.
_BODIES_OF_ONE_CALLER = 40
# A burst of bodies that have arrived already is read well within this; slow ones are refused.
_TURN_SECONDS = 1.0


class Admission:
    """What a caller has to pass before anything of the request goes on."""

    def __init__(self, callers: Authenticator, rate_limit: RateLimit, *, max_body_bytes: int) -> None:
        self._callers = callers
        self._rate_limit = rate_limit
        self._bodies = ConcurrencyLimit(_BODIES_OF_ONE_CALLER, wait_seconds=_TURN_SECONDS)
        self._max_body_bytes = max_body_bytes

    def caller(self, request: Request, record: Record) -> Caller:
        """Who asks. Raises A2AError where nobody can say who it is, and for one who asks too often."""
        caller = self._callers.authenticate(request)
        if caller.principal is not None:
            record["principal"] = caller.principal.subject
            wait = self._rate_limit.seconds_to_wait(caller.principal.subject)
            if wait:
                raise A2AError(_RATE_LIMITED, headers={"retry-after": str(math.ceil(wait))})
        return caller

    def body(self, request: Request, caller: Caller) -> bytes:
        """The whole body. Raises A2AError for one that is too large, and where too many of this caller's are still arriving."""
        with self._bodies.one_more(caller.principal.subject if caller.principal else "") as may_wait:
            if not may_wait:
                raise A2AError(_RATE_LIMITED, headers={"retry-after": "1"})
            return read_body(request, self._max_body_bytes)
