"""HTTP as plain values, independent of the web framework: requests, responses, cancellation, dates and delays."""

from __future__ import annotations

import hashlib
import math
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Protocol, TypeVar

from msgspec import Struct, field, structs

__all__ = ["Handler", "Request", "Response"]

T_co = TypeVar("T_co", covariant=True)
Wake = Callable[[], None]
JSON = "application/json"
A2A_JSON = "application/a2a+json"
EVENT_STREAM = "text/event-stream"
PROBLEM_JSON = "application/problem+json"
# 30 years are as good as any longer delay.
_MAX_DELAY_DIGITS = 9
_MAX_LENGTH_DIGITS = 15
# One host (RFC 9110 §7.2, RFC 3986 §3.2.2), without a comma, since adapters join repeated headers by one.
_HOST = re.compile(r"(?:[\w.~!$&'()*+;=%-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?", re.ASCII)


class BodyFault(StrEnum):
    """The reason why a request's body could not be read."""

    BROKEN = "broken"
    COMPRESSED = "compressed"
    FORGED = "forged"
    TOO_SLOW = "too_slow"
    TOO_LARGE = "too_large"


class BodyError(Exception):
    """A request body that breaks off, is framed wrongly, is compressed, does not arrive in time, is over the limit, or is not
    the one that was signed.
    """

    def __init__(self, fault: BodyFault, limit_bytes: int = 0) -> None:
        super().__init__(fault)
        self.fault = fault
        self.limit_bytes = limit_bytes


Body = Callable[[int], bytes | None]
"""A reader of the request's body, to be called once with a limit in bytes: returns None if the body is longer. Raises
BodyError.
"""


class BodyDigest:
    """The SHA-256 (hexadecimal) that a request's body must have: `required`, once a signature is verified that names it."""

    __slots__ = ("required",)

    def __init__(self) -> None:
        self.required: str | None = None

    def fits(self, body: bytes) -> bool:
        """Return True if nothing is required, or this."""
        return self.required is None or hashlib.sha256(body).hexdigest() == self.required


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
    body_digest: BodyDigest = field(default_factory=BodyDigest)

    def body(self, max_bytes: int) -> bytes:
        """Read the body. Raises BodyError, also for a body over the limit, and for another than the signed one."""
        body = self.read_body(max_bytes)
        if body is None:
            raise BodyError(BodyFault.TOO_LARGE, max_bytes)
        if not self.body_digest.fits(body):
            raise BodyError(BodyFault.FORGED)
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


class Headers:
    """The headers of an answer, as received with their names in lower case; text once they are asked for."""

    def __init__(self, received: Sequence[tuple[bytes, bytes]]) -> None:
        self._received = received
        self._first = dict(reversed(received))

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return the first value of a header, its name in any case."""
        value = self._first.get(name.lower().encode())
        return default if value is None else _text(value)

    def items(self) -> Sequence[tuple[str, str]]:
        """Return names and values as received, repeated headers included."""
        return [(name.decode("latin-1"), _text(value)) for name, value in self._received]


def _text(value: bytes) -> str:
    return value.strip(b" \t").decode("latin-1")


class Source(Protocol[T_co]):
    """A source of values for one reader, which holds no thread while waiting. Its methods are called by one thread at a time."""

    def poll(self) -> T_co | None:
        """Return the next value, None if there is none yet. Raise StopIteration at the end.

        This never waits; it may read the store once.
        """

    def on_ready(self, wake: Wake) -> None:
        """Call `wake` whenever `poll` may return something after it returned None, at once if that is so already.

        There is one callback: a later one replaces it. It is called from any thread, perhaps without need, and must not block.
        """

    def close(self) -> None:
        """End the source: it was read, or its reader has left. Idempotent."""


class PolledBody(Source[bytes], Protocol):
    """A streamed body that holds no thread while it waits."""

    @property
    def idle_seconds(self) -> float:
        """The time after which `poll` is called again at the latest."""

    @property
    def failure(self) -> Response | None:
        """The response to send instead of the stream: set if the first `poll` that returned no None failed."""


class Response(Struct, frozen=True, kw_only=True):
    """One answer: bytes, or chunks that are sent as they come, until the end or until the client leaves, and then closed.

    Handlers stream by a PolledBody; `blocking` makes a generator of it.
    """

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes | Generator[bytes] | PolledBody = b""


Handler = Callable[[Request], Response]

INTERNAL_ERROR = Response(
    status=500,
    headers={"content-type": JSON},
    body=b'{"error":{"code":500,"status":"INTERNAL","message":"Internal error"}}',
)
"""The answer if a handler fails."""
BAD_HOST = Response(
    status=400,
    headers={"content-type": JSON},
    body=b'{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"A request names its host in one Host header"}}',
)
"""The answer to a request without a Host, with two, or with one that is none."""


NO_PERMISSIONS = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"
"""A Permissions-Policy for pages that need none of these."""
# Requests and answers stay out of caches, and no referrer reaches other sites.
_PROTECTIVE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "permissions-policy": NO_PERMISSIONS,
    "cache-control": "no-store",
}


def sent_headers(response: Response) -> dict[str, str]:
    """Return the headers as they are sent: nothing is stored, sniffed or told to other sites unless the response says so."""
    return {**_PROTECTIVE, **response.headers}


def blocking(response: Response) -> Response:
    """Return the response with an iterator in place of a PolledBody, for servers with a thread for each stream.

    Waits for the first chunk: a failure before it is the response.
    """
    body = response.body
    if isinstance(body, bytes | Generator):
        return response
    chunks = _chunks(body)
    next(chunks)
    if body.failure is None:
        return structs.replace(response, body=chunks)
    chunks.close()
    return body.failure


def _chunks(body: PolledBody) -> Generator[bytes]:
    """Yield b"" when it is known whether the body fails before its first chunk, and then the chunks."""
    ready = threading.Event()
    body.on_ready(ready.set)

    def wait_for_chunk() -> bytes:
        try:
            while (chunk := body.poll()) is None:
                ready.wait(body.idle_seconds)
                ready.clear()
        except StopIteration:
            return b""
        return chunk

    with closing(body):
        chunk = wait_for_chunk()
        yield b""
        while chunk:
            yield chunk
            chunk = wait_for_chunk()


class ObservedBody:
    """A PolledBody that calls `on_end` once: exhausted, failed, or closed because the client left; then `on_left` before."""

    def __init__(
        self, body: PolledBody, on_end: Callable[[], object], *, on_left: Callable[[], object] = lambda: None
    ) -> None:
        self._body = body
        self._on_end: Callable[[], object] | None = on_end
        self._on_left = on_left

    @property
    def idle_seconds(self) -> float:
        """See `PolledBody.idle_seconds`."""
        return self._body.idle_seconds

    @property
    def failure(self) -> Response | None:
        """See `PolledBody.failure`."""
        return self._body.failure

    def poll(self) -> bytes | None:
        """See `PolledBody.poll`."""
        try:
            return self._body.poll()
        except BaseException:
            self._end()
            raise

    def on_ready(self, wake: Wake) -> None:
        """See `PolledBody.on_ready`."""
        self._body.on_ready(wake)

    def close(self) -> None:
        """Close the body; the server calls this."""
        self._body.close()
        if self._on_end is not None:
            self._on_left()
        self._end()

    def _end(self) -> None:
        on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end()


def has_valid_host(headers: Mapping[str, str], *, version: str) -> bool:
    """Return True for a request with one Host that is valid, or without one in HTTP/1.0 (RFC 9112 §3.2)."""
    host = headers.get("host")
    return version == "1.0" if host is None else _HOST.fullmatch(host) is not None


def stated_length(text: str) -> int:
    """Return a Content-Length, 0 if there is none. One with absurdly many digits counts as endless."""
    digits = text.isascii() and text.isdigit() and len(text) <= _MAX_LENGTH_DIGITS
    return int(text) if digits else 10**_MAX_LENGTH_DIGITS if text else 0


def body_of(data: bytes) -> Body:
    """Return a Body over bytes in memory."""
    return lambda limit_bytes: data if len(data) <= limit_bytes else None


class Cancellation:
    """A signal that the caller no longer waits for the answer. Blocking I/O registers callbacks that wake it. `deadline`
    (`time.monotonic`) is the latest time until which the caller waits.
    """

    def __init__(self) -> None:
        self.deadline = math.inf
        self._lock = threading.Lock()
        self._cancelled = False
        self._callbacks: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        """True once the caller has left."""
        return self._cancelled

    @property
    def seconds_left(self) -> float:
        """The time until the deadline, at least 0."""
        return max(0.0, self.deadline - time.monotonic())

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


class CancellationGroup:
    """The cancellations of the calls that are under way. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[Cancellation] = set()
        self.cancelled = False

    @contextmanager
    def call(self) -> Iterator[Cancellation]:
        """Yield the cancellation of one call, which ends with this context; a cancelled one once the group is cancelled."""
        cancellation = Cancellation()
        with self._lock:
            self._open.add(cancellation)
            cancelled = self.cancelled
        try:
            if cancelled:
                cancellation.cancel()
            yield cancellation
        finally:
            with self._lock:
                self._open.discard(cancellation)

    def cancel(self) -> None:
        """Cancel the calls under way, and all later ones."""
        with self._lock:
            self.cancelled, calls = True, list(self._open)
        for call in calls:
            call.cancel()


def seconds_of(text: str | None) -> float | None:
    """Return an HTTP date (RFC 9110 §5.6.7) in seconds since the epoch; None for any other text."""
    try:
        at = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def delay_of(text: str | None, *, now: float | None = None) -> float | None:
    """Return the seconds that a Retry-After names (RFC 9110 §10.2.3), those of a date if the time of day is known; else None."""
    if text and text.isascii() and text.isdigit():
        return float(text[:_MAX_DELAY_DIGITS])
    at = seconds_of(text)
    return None if at is None or now is None else max(0.0, at - now)
