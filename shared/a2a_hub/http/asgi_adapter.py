"""The adapter to Functions Framework's event loop (ASGI 3.0, served by uvicorn).

The loop accepts requests, reads their bodies, refuses those beyond its capacity, and sends answers as fast as clients read
them. A handler runs in a thread of a bounded pool, and has the whole body when it starts; a PolledBody holds none while it
waits.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from functions_framework import aio

from a2a_hub.http.admission import AdmissionControl, Capacity, Overloaded, Refusal
from a2a_hub.http.asgi_body import AsgiBody, Receive
from a2a_hub.http.asgi_protocol import bound_heads
from a2a_hub.http.messages import (
    BAD_HOST,
    INTERNAL_ERROR,
    Handler,
    PolledBody,
    Request,
    Response,
    has_valid_host,
    sent_headers,
)
from a2a_hub.http.request_body import WAIT_LIMITS, WaitLimits
from a2a_hub.http.worker_threads import WorkerThreads
from a2a_hub.runtime.threads import Threads
from a2a_hub.telemetry import tracing

__all__ = ["entry_point"]

_Message = MutableMapping[str, Any]
_Send = Callable[[_Message], Awaitable[None]]
_BODILESS = frozenset({204, 304})
_CHUNK_BYTES = 65536
_BACKGROUND_SECONDS = 1.0
_MAX_POLLERS = 32
_MAX_QUEUE_SECONDS = 5.0
_MAX_SECONDS_TO_END_STREAMS = 1.0
_MAX_HEADERS, _MAX_HEADER_BYTES = 100, 65536


def entry_point(
    name: str, handle: Handler, admission: AdmissionControl, *, wait_limits: WaitLimits = WAIT_LIMITS
) -> Callable[[Any], Any]:
    """Return the function `name` for Functions Framework, which answers every path and method with `handle`."""
    application = AsgiApplication(handle, admission, wait_limits=wait_limits)
    bound_heads(seconds=wait_limits.idle_seconds)
    logging.getLogger("uvicorn.error").addFilter(_is_reported)

    async def function(request: Any) -> Any:
        # From the second request on, none takes the way through the framework's routes and middleware, which answer some
        # paths and methods by themselves, and take 57 of a hub's 353 µs of processor time (docs/decisions/event-loop.md).
        if request.app.middleware_stack is not application:
            request.app.middleware_stack = application
            application.begin()
        return application

    function.__name__ = name
    return aio.http(function)


class CutShort(Exception):
    """A stream that broke off: the server closes the connection, so that its client does not take it for complete."""


def _is_reported(record: logging.LogRecord) -> bool:
    """Return False for the server's own text about a stream that broke off: the line of its request says so."""
    return record.exc_info is None or not isinstance(record.exc_info[1], CutShort)


class AsgiApplication:
    """The ASGI application around `handle`."""

    def __init__(self, handle: Handler, admission: AdmissionControl, *, wait_limits: WaitLimits) -> None:
        self._handle = handle
        self._admission = admission
        self._capacity: Capacity = admission.capacity
        self._wait_limits = wait_limits
        self._handlers = WorkerThreads(admission.capacity.limits.threads)
        # A thread that polls a body is free again at once, or after one read of the store.
        self._pollers = WorkerThreads(_MAX_POLLERS)
        self._awaited: dict[AsgiBody, None] = {}
        self._streams: set[asyncio.Event] = set()
        self._ends_streams = False
        self._no_stream = threading.Event()
        self._no_stream.set()

    def begin(self) -> None:
        """Take the end of the process over; called on the event loop, once the server has installed its own handlers."""
        loop = asyncio.get_running_loop()
        shutdown = self._admission.shutdown
        shutdown.on_stop(partial(self._no_stream.wait, shutdown.seconds))
        loop.call_later(_BACKGROUND_SECONDS, Threads("background").run, self._admission.in_background)

        def end() -> None:
            loop.call_soon_threadsafe(self._end_streams)
            self._no_stream.wait(_MAX_SECONDS_TO_END_STREAMS)
            # The server ends the process by the signal itself: nothing runs at exit.
            tracing.flush()

        shutdown.install(last=end)

    async def __call__(self, scope: _Message, receive: Receive, send: _Send) -> None:
        """Answer one request; a WebSocket is refused."""
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        headers = _headers(scope)
        limits = self._capacity.limits
        body = AsgiBody(headers, receive, limits=limits, held_bytes=self._capacity.held_bytes)
        request = _request(scope, headers, body)
        if has_valid_host(headers, version=scope["http_version"]):
            answer = self._admission.page(request)
        else:
            body.keeps_connection, answer = False, BAD_HOST
        if answer is None and (refusal := self._refusal(scope)) is not None:
            body.keeps_connection = refusal is Refusal.OVERLOADED
            answer = self._admission.refuse(request, refusal)
        if answer is None:
            answer = await self._handled(request, body)
        await body.discard(self._wait_limits)
        refused = partial(self._admission.refuse, request, Refusal.OVERLOADED)
        await self._send(answer, body, send, refused, is_head=request.method == "HEAD")

    def _refusal(self, scope: _Message) -> Refusal | None:
        headers = scope["headers"]
        if len(headers) > _MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > _MAX_HEADER_BYTES:
            return Refusal.HEADERS_TOO_LARGE
        return Refusal.STOPPING if self._admission.shutdown.stopping else None

    async def _handled(self, request: Request, body: AsgiBody) -> Response:
        requests = self._capacity.requests
        if not requests.acquire():
            return self._admission.refuse(request, Refusal.OVERLOADED)
        try:
            if not await body.read(self._wait_limits, self._awaited):
                return self._admission.refuse(request, Refusal.OVERLOADED)
            return await self._handlers.run(
                partial(_answer, self._handle, request), max_wait_seconds=_MAX_QUEUE_SECONDS
            )
        except Overloaded:
            return self._admission.refuse(request, Refusal.OVERLOADED)
        finally:
            body.release()
            requests.release()

    async def _send(
        self, answer: Response, body: AsgiBody, send: _Send, refused: Callable[[], Response], *, is_head: bool = False
    ) -> None:
        content = answer.body
        assert not isinstance(content, Generator), "handlers stream by a PolledBody"
        bodiless = answer.status in _BODILESS
        if bodiless or is_head:
            length = None
            if not isinstance(content, bytes):
                await self._pollers.run(content.close)
            elif content and not bodiless:
                length = len(content)
            await send(_head(answer, body, length))
            await send({"type": "http.response.body"})
        elif isinstance(content, bytes):
            if not self._has_room(content):
                answer = refused()
                assert isinstance(answer.body, bytes), "a refusal is whole"
                content = answer.body
            with self._holding(content):
                await send(_head(answer, body, len(content)))
                if len(content) > _CHUNK_BYTES:
                    await _send_pieces(content, send)
                    content = b""
                await send({"type": "http.response.body", "body": content})
        else:
            await self._stream(answer, content, body, send, refused)

    def _has_room(self, content: bytes) -> bool:
        """Return False for a large answer, or beginning of one, while others that are being sent, and bodies, fill the room."""
        held = self._capacity.held_bytes.used
        return len(content) <= _CHUNK_BYTES or not held or held + len(content) <= self._capacity.limits.held_bytes

    @contextmanager
    def _holding(self, content: bytes) -> Iterator[None]:
        """Count a large answer, or piece of one, for as long as it is being sent."""
        size = len(content) if len(content) > _CHUNK_BYTES else 0
        self._capacity.held_bytes.add(size)
        try:
            yield
        finally:
            self._capacity.held_bytes.release(size)

    async def _stream(
        self,
        answer: Response,
        polled: PolledBody,
        body: AsgiBody,
        send: _Send,
        refused: Callable[[], Response],
    ) -> None:
        loop, wake = asyncio.get_running_loop(), asyncio.Event()

        def wake_from_any_thread() -> None:
            # The loop is closed at the end of the process.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(wake.set)

        left = asyncio.create_task(body.wait_until_left())
        left.add_done_callback(lambda _: wake.set())
        self._streams.add(wake)
        self._no_stream.clear()
        try:
            polled.on_ready(wake_from_any_thread)
            await self._send_polled(answer, polled, body, send, refused, left, wake)
        finally:
            left.cancel()
            # Nobody may wait for this any more, but it is done all the same.
            await asyncio.shield(self._pollers.run(polled.close))
            self._streams.discard(wake)
            if not self._streams:
                self._no_stream.set()

    async def _send_polled(
        self,
        answer: Response,
        polled: PolledBody,
        body: AsgiBody,
        send: _Send,
        refused: Callable[[], Response],
        left: "asyncio.Task[None]",
        wake: asyncio.Event,
    ) -> None:
        # A chunk is not held while the next one is waited for.
        has_begun = is_between_events = False
        # At the end of the process, streams end between two events.
        while not left.done() and not (self._ends_streams and is_between_events):
            wake.clear()
            try:
                chunk = await self._pollers.run(partial(_polled, polled))
            except Exception:
                if has_begun:
                    raise CutShort from None
                await self._send(INTERNAL_ERROR, body, send, refused)
                return
            if chunk is None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(polled.idle_seconds):
                        await wake.wait()
                continue
            if not has_begun:
                failure = polled.failure if not chunk else None if self._has_room(chunk) else refused()
                if failure is not None:
                    await self._send(failure, body, send, refused)
                    return
            with self._holding(chunk):
                if not has_begun:
                    await send(_head(answer, body, None))
                if not chunk:
                    break
                has_begun, is_between_events = True, chunk.endswith(b"\n\n")
                await _send_pieces(chunk, send)
        await send({"type": "http.response.body"})

    def _end_streams(self) -> None:
        """End the streams that are still open: the process ends."""
        self._ends_streams = True
        for wake in self._streams:
            wake.set()


def _answer(handle: Handler, request: Request) -> Response:
    try:
        return handle(request)
    except Exception:
        # The log has it (`Log.requests`); the server would write a text of its own.
        return INTERNAL_ERROR


def _polled(body: PolledBody) -> bytes | None:
    """Return the next chunk, None if there is none yet, and b"" at the end."""
    try:
        return body.poll()
    except StopIteration:
        return b""


async def _send_pieces(content: bytes, send: _Send) -> None:
    """Send a content that is not empty. The server holds one piece at a time; the next waits until the client has read."""
    for start in range(0, len(content), _CHUNK_BYTES):
        piece = content[start : start + _CHUNK_BYTES]
        await send({"type": "http.response.body", "body": piece, "more_body": True})


def _head(answer: Response, body: AsgiBody, length: int | None) -> _Message:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in sent_headers(answer).items()]
    if length is not None:
        headers.append((b"content-length", b"%d" % length))
    if not body.keeps_connection:
        headers.append((b"connection", b"close"))
    return {"type": "http.response.start", "status": answer.status, "headers": headers}


def _headers(scope: _Message) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        # As WSGI servers join them: two values are never mistaken for one.
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    return headers


def _request(scope: _Message, headers: dict[str, str], body: AsgiBody) -> Request:
    query: bytes = scope["query_string"]
    target: bytes = scope["raw_path"]
    return Request(
        method=scope["method"],
        path=scope["path"] or "/",
        target=(target + b"?" + query if query else target).decode("latin-1"),
        headers=headers,
        query=parse_qs(query.decode("utf-8", "replace"), keep_blank_values=True) if query else {},
        read_body=body.taken,
        client_is_there=partial(body.client_is_there, asyncio.get_running_loop()),
    )
