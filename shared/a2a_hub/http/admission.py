"""Admission control of a process: requests beyond its capacity are refused before they take a thread or memory."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum

from msgspec import Struct

from a2a_hub.http.messages import Handler, Request, Response
from a2a_hub.runtime.shutdown import Shutdown

_MEBIBYTE = 1 << 20


class Refusal(StrEnum):
    """The reason why a request is refused unread."""

    OVERLOADED = "overloaded"
    STOPPING = "stopping"
    HEADERS_TOO_LARGE = "headers_too_large"


class Overloaded(Exception):
    """The process is at its capacity."""


class Limits(Struct, frozen=True, kw_only=True):
    """The limits of one process. `requests` bounds those in flight, of which at most `threads` have a thread and
    `awaited_bodies` still wait for their body.

    `held_bytes` bounds the bodies of requests that are being read, or held until they are answered, with large answers that are
    being sent; and, apart from that, the bodies of the requests whose turns run. A body of up to `small_body_bytes` is always
    read; none is that is longer than `body_bytes`.
    """

    threads: int = 64
    requests: int = 256
    awaited_bodies: int = 64
    turns: int = 2000
    streams: int = 1000
    caller_streams: int = 250
    held_bytes: int = 20 * _MEBIBYTE
    body_bytes: int = 10 * _MEBIBYTE
    small_body_bytes: int = 65536


class BoundedCounter:
    """A counter of an amount in use, up to `limit`. Thread-safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._used = 0

    def acquire(self, amount: int = 1) -> bool:
        """Acquire the amount; False, and nothing is acquired, if less than that is left."""
        with self._lock:
            fits = self._used + amount <= self._limit
            if fits:
                self._used += amount
        return fits

    def add(self, amount: int) -> None:
        """Acquire the amount, even beyond the limit."""
        with self._lock:
            self._used += amount

    def release(self, amount: int = 1) -> None:
        """Release the amount."""
        with self._lock:
            self._used -= amount

    @property
    def used(self) -> int:
        """The amount in use."""
        return self._used


class Capacity:
    """The amounts that one process has in use."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.requests = BoundedCounter(limits.requests)
        self.held_bytes = BoundedCounter(limits.held_bytes)
        self._streams = BoundedCounter(limits.streams)
        self._running_turns: Callable[[], int] = lambda: 0
        self._turns_bytes: Callable[[], int] = lambda: 0
        self._lock = threading.Lock()
        self._streams_of: Counter[str] = Counter()

    def count_turns(self, running: Callable[[], int], body_bytes: Callable[[], int] = lambda: 0) -> None:
        """Count turns with `running` and their bodies with `body_bytes`, including turns without a waiting caller."""
        self._running_turns = running
        self._turns_bytes = body_bytes

    def check_turns(self, body_bytes: int = 0) -> None:
        """Raise Overloaded if no further turn with a body of this size may start."""
        is_large = body_bytes > self.limits.small_body_bytes
        if self._running_turns() >= self.limits.turns or (
            is_large and self._turns_bytes() + body_bytes > self.limits.held_bytes
        ):
            raise Overloaded

    def open_stream(self, caller: str) -> Callable[[], None]:
        """Count an open stream of the caller ("" if anonymous) until the returned function is called. Raises Overloaded."""
        with self._lock:
            if self._streams_of[caller] >= self.limits.caller_streams or not self._streams.acquire():
                raise Overloaded
            self._streams_of[caller] += 1
        closed = threading.Lock()

        def close() -> None:
            if closed.acquire(blocking=False):
                with self._lock:
                    self._streams.release()
                    self._streams_of[caller] -= 1
                    if not self._streams_of[caller]:
                        del self._streams_of[caller]

        return close


class AdmissionControl(Struct, frozen=True, kw_only=True):
    """Admission control of one function: what is answered or refused before the handler runs.

    `answers` are pages by path that need no I/O; `refuse` writes a refusal.

    `in_background` runs once in a thread of its own, shortly after the first request.
    """

    capacity: Capacity
    shutdown: Shutdown
    answers: Mapping[str, Handler]
    refuse: Callable[[Request, Refusal], Response]
    in_background: Callable[[], object] = lambda: None

    def page(self, request: Request) -> Response | None:
        """Return the page that the request reads, if it is one of `answers`."""
        page = self.answers.get(request.path)
        return page(request) if page is not None and request.method in ("GET", "HEAD") else None
