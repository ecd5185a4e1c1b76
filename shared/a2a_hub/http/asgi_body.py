"""A request's body from the ASGI server: read on the event loop before the handler starts, within limits of time and memory."""

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from a2a_hub.http.admission import BoundedCounter, Limits
from a2a_hub.http.messages import BodyError, BodyFault, stated_length
from a2a_hub.http.request_body import MAX_DISCARDED_BYTES, WaitLimits

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_TURN_SECONDS = 1.0


class AsgiBody:
    """The body of one request. `keeps_connection` is False if the start of the next request is unknown."""

    def __init__(
        self, headers: Mapping[str, str], receive: Receive, *, limits: Limits, held_bytes: BoundedCounter
    ) -> None:
        self._receive = receive
        self._limits = limits
        self._counter = held_bytes
        self._held = 0
        self._data = b""
        self._fault: BodyFault | None = None
        self._coding = headers.get("content-encoding", "").strip().lower()
        chunked = "transfer-encoding" in headers
        self._length = None if chunked else stated_length(headers.get("content-length", ""))
        self._unread = chunked or bool(self._length)
        self._unasked = "expect" in headers
        self._timeout = asyncio.Timeout(None)
        self._began_at = self._latest = 0.0
        self._left: Future[None] | None = None
        self.keeps_connection = True

    def taken(self, limit_bytes: int) -> bytes | None:
        """Return the body that was read, None if it is longer than `limit_bytes`. Raises BodyError. See `messages.Body`."""
        if self._fault is BodyFault.TOO_LARGE or len(self._data) > limit_bytes:
            return None
        if self._fault is not None:
            raise BodyError(self._fault)
        return self._data

    async def read(self, wait_limits: WaitLimits, awaited: "dict[AsgiBody, None]") -> bool:
        """Read the whole body, if it may be read; False if there is no room for it. `release` gives its room back.

        `awaited` holds the bodies that are being read: one too many takes the place of the one that was begun first, which is
        given up unless it arrives within `pause_seconds` of its beginning. So callers who send slowly keep nobody else from
        being read, and a burst of others is read.
        """
        if not self._unread:
            return True
        if self._coding not in ("", "identity"):
            self._fault = BodyFault.COMPRESSED
        elif self._length is not None and self._length > self._limits.body_bytes:
            self._fault = BodyFault.TOO_LARGE
        else:
            awaited[self] = None
            if len(awaited) > self._limits.awaited_bodies:
                next(iter(awaited))._give_up(awaited, wait_limits)
            try:
                return await self._read(wait_limits)
            except TimeoutError:
                self._end()
                if self not in awaited:
                    self.release()
                    return False
                self._fault = BodyFault.TOO_SLOW
            finally:
                awaited.pop(self, None)
        return True

    async def discard(self, wait_limits: WaitLimits) -> None:
        """Take the rest off the connection, so that a client that is still sending gets to read its answer.

        Many clients read only after they have sent everything. A client that pauses waits for the answer.
        """
        if not self._unread:
            return
        if self._unasked or (self._length or 0) > MAX_DISCARDED_BYTES:
            self._end()
            return
        left = MAX_DISCARDED_BYTES
        try:
            async with asyncio.timeout(wait_limits.linger_seconds):
                while self._unread and left > 0:
                    async with asyncio.timeout(wait_limits.pause_seconds):
                        left -= len(await self._piece())
        except TimeoutError:
            pass
        if self._unread:
            self._end()

    def release(self) -> None:
        """Give back the room that the body takes: nobody needs it any more, nor whether its client is there."""
        if self._left is not None:
            self._left.cancel()
        self._counter.release(self._held)
        self._held = 0
        self._data = b""

    def client_is_there(self, loop: AbstractEventLoop) -> bool:
        """Return False if the client has left; called in a handler's thread."""
        if self._left is None:
            self._left = asyncio.run_coroutine_threadsafe(self.wait_until_left(), loop)
            # By the next turn of the loop it is known whether the client had left before.
            with suppress(TimeoutError):
                asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(_TURN_SECONDS)
        return not self._left.done()

    async def wait_until_left(self) -> None:
        """Return when the client has left."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _read(self, wait_limits: WaitLimits) -> bool:
        clock = asyncio.get_running_loop().time
        self._began_at = clock()
        self._latest = self._began_at + wait_limits.total_seconds
        pieces: list[bytes] = []
        size = 0
        async with asyncio.timeout(wait_limits.idle_seconds) as self._timeout:
            while self._unread:
                piece = await self._piece()
                size += len(piece)
                if size > self._limits.body_bytes:
                    self._fault = BodyFault.TOO_LARGE
                    break
                more = size - self._limits.small_body_bytes - self._held
                if more > 0:
                    if not self._counter.acquire(more):
                        self.release()
                        return False
                    self._held += more
                pieces.append(piece)
                if self._unread:
                    self._timeout.reschedule(min(self._latest, clock() + wait_limits.idle_seconds))
        if self._fault is None:
            self._data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        else:
            self.release()
        return True

    def _give_up(self, awaited: "dict[AsgiBody, None]", wait_limits: WaitLimits) -> None:
        del awaited[self]
        self._latest = self._began_at + wait_limits.pause_seconds
        if not self._timeout.expired():
            self._timeout.reschedule(self._latest)

    async def _piece(self) -> bytes:
        self._unasked = False
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._fault = BodyFault.BROKEN
            self._end()
            return b""
        self._unread = message.get("more_body", False)
        body: bytes = message.get("body", b"")
        return body

    def _end(self) -> None:
        self._unread = self.keeps_connection = False
