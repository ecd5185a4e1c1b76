"""HTTP as plain values, independent of the web framework: requests, responses, cancellation, dates and delays."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

__all__ = ["Handler", "Request", "Response"]

JSON = "application/json"
A2A_JSON = "application/a2a+json"
EVENT_STREAM = "text/event-stream"
PROBLEM_JSON = "application/problem+json"
# 30 years are as good as any longer delay.
_MAX_DELAY_DIGITS = 9


class BodyFault(StrEnum):
    """The reason why a request's body could not be read."""

    BROKEN = "broken"
    COMPRESSED = "compressed"
    TOO_SLOW = "too_slow"
    TOO_LARGE = "too_large"


class BodyError(Exception):
    """A request body that breaks off, is framed wrongly, is compressed, does not arrive in time, or is over the limit."""

    def __init__(self, fault: BodyFault, limit_bytes: int = 0) -> None:
        super().__init__(fault)
        self.fault = fault
        self.limit_bytes = limit_bytes


class Body(Protocol):
    """A reader of the request's body, to be called once."""

    def __call__(self, limit_bytes: int) -> bytes | None:
        """Return the body, None if it is longer than `limit_bytes`. Raises BodyError."""


class Request(Struct, frozen=True, kw_only=True):
    """One request. Header names are lower case; `query` keeps every value of a repeated parameter.

    `path` is decoded; `target` is that of the request line, None if unknown. `client_is_there` is for long answers: it returns
    False if the client has certainly left.
    """

    method: str
    path: str
    target: str | None = None
    headers: Mapping[str, str] = {}
    query: Mapping[str, Sequence[str]] = {}
    read_body: Body = lambda _: b""
    client_is_there: Callable[[], bool] = lambda: True

    def body(self, max_bytes: int) -> bytes:
        """Read the body. Raises BodyError, also for a body over the limit."""
        body = self.read_body(max_bytes)
        if body is None:
            raise BodyError(BodyFault.TOO_LARGE, max_bytes)
        return body

    def parameter(self, name: str) -> str | None:
        """Return the first value of a query parameter, its name in any case; None if it is absent."""
        return next(iter(self.parameters(name)), None)

    def parameters(self, name: str) -> list[str]:
        """Return all values of a query parameter, its name in any case."""
        query = self.query.items() if self.query else ()
        return [value for key, values in query if key.lower() == name.lower() for value in values]

    @property
    def media_type(self) -> str:
        """The Content-Type without its parameters, in lower case; "" if there is none."""
        return self.headers.get("content-type", "").split(";", 1)[0].strip().lower()


class Response(Struct, frozen=True, kw_only=True):
    """One answer: bytes, or an iterator of chunks that is sent as it yields and closed when the client leaves."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes | Iterator[bytes] = b""


Handler = Callable[[Request], Response]


def close_if_closable(iterator: object) -> None:
    """Call the `close` of an iterator that has one, as generators and streams do."""
    close = getattr(iterator, "close", None)
    if close is not None:
        close()


def body_of(data: bytes) -> Body:
    """Return a Body over bytes in memory."""
    return lambda limit_bytes: data if len(data) <= limit_bytes else None


class Cancellation:
    """A signal that nobody waits for the answer any more. Blocking I/O registers what wakes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._callbacks: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        """True once the caller has left."""
        return self._cancelled

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Run `callback` when the caller leaves, at once if that has happened."""
        with self._lock:
            if not self._cancelled:
                self._callbacks.append(callback)
                return
        callback()

    def cancel(self) -> None:
        """Mark the call as left and run every callback once."""
        with self._lock:
            callbacks, self._callbacks, self._cancelled = self._callbacks, [], True
        for callback in callbacks:
            callback()


def seconds_of(text: str | None) -> float | None:
    """Return an HTTP date (RFC 9110 §5.6.7) in seconds since the epoch; None for any other text."""
    try:
        at = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def delay_of(text: str | None) -> float | None:
    """Return the seconds that a Retry-After names (RFC 9110 §10.2.3); None for any other text, dates included."""
    return float(text[:_MAX_DELAY_DIGITS]) if text and text.isascii() and text.isdigit() else None
