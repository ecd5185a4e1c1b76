"""A request's body from the WSGI server (PEP 3333): read once, within limits of time."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from a2a_hub.http.messages import BodyError, BodyFault, stated_length

_CHUNK_BYTES = 65536
MAX_DISCARDED_BYTES = 64 << 20
_TICK_SECONDS = 1.0
_QUIET_TICKS = 60


class ReadWatchdog:
    """A watcher that ends reads that last too long, late by up to `tick_seconds`. Thread-safe.

    One thread serves all connections of a process; it ends when nobody reads. Registering wakes nothing up.
    """

    def __init__(self, *, tick_seconds: float = _TICK_SECONDS, quiet_ticks: int = _QUIET_TICKS) -> None:
        self._tick_seconds = tick_seconds
        self._quiet_ticks = quiet_ticks
        self._lock = threading.Lock()
        self._due: dict[socket.socket, float] = {}
        self._runs = False

    def watch(self, connection: socket.socket, *, seconds: float) -> socket.socket:
        """End reads from `connection`, which is returned, after `seconds`, unless it is released before."""
        with self._lock:
            self._due[connection] = time.monotonic() + seconds
            if not self._runs:
                # Started in the process that serves requests: an earlier thread does not survive a fork.
                threading.Thread(target=self._run, name="read-watchdog", daemon=True).start()
                self._runs = True
        return connection

    def release(self, connection: socket.socket) -> None:
        """Stop watching the connection."""
        with self._lock:
            self._due.pop(connection, None)

    def _run(self) -> None:
        quiet, tick = 0, threading.Event()
        while True:
            tick.wait(self._tick_seconds)
            with self._lock:
                quiet = 0 if self._due else quiet + 1
                if quiet >= self._quiet_ticks:
                    self._runs = False
                    return
                now = time.monotonic()
                for connection in [each for each, due in self._due.items() if due <= now]:
                    del self._due[connection]
                    with contextlib.suppress(OSError):
                        connection.shutdown(socket.SHUT_RD)


_watchdog = ReadWatchdog()


class WaitLimits(Struct, frozen=True, kw_only=True):
    """Limits of waiting for a client's body, where the server is gunicorn, which lends its socket.

    `idle_seconds` bounds each piece, `total_seconds` the whole body; `pause_seconds` and `linger_seconds` do the same for a body
    that is discarded.
    """

    idle_seconds: float = 30.0
    total_seconds: float = 120.0
    pause_seconds: float = 1.0
    linger_seconds: float = 5.0
    watchdog: ReadWatchdog = _watchdog


WAIT_LIMITS = WaitLimits()


class RequestBody:
    """The body of one request."""

    __slots__ = ("_coding", "_left", "_length", "_socket", "_stream", "_wait_limits")

    def __init__(self, environ: Mapping[str, Any], *, wait_limits: WaitLimits = WAIT_LIMITS) -> None:
        stated = environ.get("CONTENT_LENGTH", "")
        chunked = "HTTP_TRANSFER_ENCODING" in environ
        self._coding: str = environ.get("HTTP_CONTENT_ENCODING", "")
        self._stream = environ["wsgi.input"]
        self._socket: socket.socket | None = environ.get("gunicorn.socket")
        self._length = None if chunked or not stated else stated_length(stated)
        self._left = chunked or bool(self._length)
        self._wait_limits = wait_limits

    def read(self, limit_bytes: int) -> bytes | None:
        """Return the whole body, None if it is longer than `limit_bytes`. Raises BodyError."""
        if not self._left:
            return b""
        if self._coding and self._coding.strip().lower() != "identity":
            raise BodyError(BodyFault.COMPRESSED)
        if self._length is not None and self._length > limit_bytes:
            return None
        try:
            with self._waiting(self._wait_limits.idle_seconds, self._wait_limits.total_seconds):
                data = self._some(limit_bytes) if self._length is None else self._stream.read(self._length)
        except BlockingIOError:
            self._end()
            raise BodyError(BodyFault.TOO_SLOW) from None
        except Exception:
            # Each server has exceptions of its own for what it cannot parse.
            self._end()
            raise BodyError(BodyFault.BROKEN) from None
        if len(data) > limit_bytes:
            return None
        if self._length is not None and len(data) < self._length:
            self._end()
            raise BodyError(BodyFault.BROKEN)
        self._left = False
        return bytes(data)

    def client_is_there(self) -> bool:
        """Return False if the client has certainly left, which only a server that lends its socket can tell."""
        if self._socket is None:
            return True
        try:
            return self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def discard(self) -> None:
        """Take the rest off the connection, so that a client that is still sending gets to read its answer.

        Many clients read only after they have sent everything, and some proxies take an early answer for a failure. A client that
        pauses waits for the answer.
        """
        if not self._left:
            return
        if self._length is not None and self._length > MAX_DISCARDED_BYTES:
            self._end()
            return
        left = MAX_DISCARDED_BYTES
        try:
            with self._waiting(self._wait_limits.pause_seconds, self._wait_limits.linger_seconds):
                while left > 0 and (chunk := self._stream.read(_CHUNK_BYTES)):
                    left -= len(chunk)
            if left <= 0:
                self._end()
        except Exception:
            # After a pause, a break or a syntax error, the start of the next request is unknown.
            self._end()
        self._left = False

    @contextlib.contextmanager
    def _waiting(self, each_seconds: float, all_seconds: float) -> Iterator[None]:
        if self._socket is None:
            yield
            return
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _timeval(each_seconds))
        self._wait_limits.watchdog.watch(self._socket, seconds=all_seconds)
        try:
            yield
        finally:
            self._wait_limits.watchdog.release(self._socket)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _timeval(0))

    def _some(self, limit_bytes: int) -> bytearray:
        """Return the chunks, up to one byte over the limit."""
        data = bytearray()
        while len(data) <= limit_bytes and (chunk := self._stream.read(limit_bytes + 1 - len(data))):
            data += chunk
        return data

    def _end(self) -> None:
        """Shut the connection for reading: the server finds its end and closes it."""
        self._left = False
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RD)


@cache
def _timeval(seconds: float) -> bytes:
    return struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6))
