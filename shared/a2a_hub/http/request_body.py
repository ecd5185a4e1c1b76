"""A request's body as the WSGI server hands it over (PEP 3333): read once, and never waited for without end."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from a2a_hub.a2a.errors import PARSE_ERROR, UNSUPPORTED_MEDIA_TYPE, A2AError, ErrorKind
from a2a_hub.http.read_watchdog import Overdue

_CHUNK_BYTES = 65536
_MOST_DIGITS = 15
_MOST_DISCARDED_BYTES = 64 << 20
_BROKEN = "The request's body breaks off, or is not framed as HTTP says"
_CODED = "Send the body as it is, without Content-Encoding"
_TOO_SLOW = ErrorKind(
    "REQUEST_TIMEOUT",
    -32600,
    408,
    "DEADLINE_EXCEEDED",
    "The request's body did not arrive in time",
    a2a=False,
)


_overdue = Overdue()


class Patience(Struct, frozen=True, kw_only=True):
    """How long a client is waited for, where the server is gunicorn, which lends its socket.

    `idle_seconds` for each piece of a body, `total_seconds` for all of it; where nobody wants it any more, `pause_seconds` and
    `linger_seconds`.
    """

    idle_seconds: float = 30.0
    total_seconds: float = 120.0
    pause_seconds: float = 1.0
    linger_seconds: float = 5.0
    overdue: Overdue = _overdue


_PATIENCE = Patience()


class RequestBody:
    """One request's body."""

    __slots__ = ("_coding", "_left", "_length", "_patience", "_socket", "_stream")

    def __init__(self, environ: Mapping[str, Any], *, patience: Patience = _PATIENCE) -> None:
        stated = environ.get("CONTENT_LENGTH", "")
        chunked = "HTTP_TRANSFER_ENCODING" in environ
        self._coding: str = environ.get("HTTP_CONTENT_ENCODING", "")
        self._stream = environ["wsgi.input"]
        self._socket: socket.socket | None = environ.get("gunicorn.socket")
        self._length = None if chunked or not stated else _number(stated)
        self._left = chunked or bool(self._length)
        self._patience = patience

    def read(self, limit_bytes: int) -> bytes | None:
        """The whole body; None when it is longer. Raises A2AError for one that breaks off, is framed wrongly, or stays away, and
        for one that is compressed (RFC 9110 §15.5.16).
        """
        if not self._left:
            return b""
        if self._coding and self._coding.strip().lower() != "identity":
            raise A2AError(UNSUPPORTED_MEDIA_TYPE, _CODED, headers={"accept-encoding": "identity"})
        if self._length is not None and self._length > limit_bytes:
            return None
        watched = self._wait_for(self._patience.idle_seconds, self._patience.total_seconds)
        try:
            data = self._some(limit_bytes) if self._length is None else self._stream.read(self._length)
        except BlockingIOError:
            self._end()
            raise A2AError(_TOO_SLOW) from None
        except Exception:
            # Each server has exceptions of its own for what it cannot parse.
            self._end()
            raise A2AError(PARSE_ERROR, _BROKEN) from None
        finally:
            self._waited(watched)
        if len(data) > limit_bytes:
            return None
        if self._length is not None and len(data) < self._length:
            self._end()
            raise A2AError(PARSE_ERROR, _BROKEN)
        self._left = False
        return bytes(data)

    def client_is_there(self) -> bool:
        """False when the client has certainly left; only a server that lends its socket lets anybody know."""
        if self._socket is None:
            return True
        try:
            return self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def discard(self) -> None:
        """Takes what is left off the connection, so that a client that is still sending gets to read its answer.

        Many read it only when they have sent everything, and some proxies take an early one for a failure. Whoever pauses is
        waiting for the answer.
        """
        if not self._left:
            return
        if self._length is not None and self._length > _MOST_DISCARDED_BYTES:
            self._end()
            return
        left = _MOST_DISCARDED_BYTES
        watched = self._wait_for(self._patience.pause_seconds, self._patience.linger_seconds)
        try:
            while left > 0 and (chunk := self._stream.read(_CHUNK_BYTES)):
                left -= len(chunk)
            if left <= 0:
                self._end()
        except Exception:
            # It paused, broke off or cannot be parsed: where the next request would begin is not known.
            self._end()
        finally:
            self._waited(watched)
        self._left = False

    def _wait_for(self, each_seconds: float, all_seconds: float) -> int | None:
        if self._socket is None:
            return None
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _timeval(each_seconds))
        return self._patience.overdue.watch(self._socket, seconds=all_seconds)

    def _waited(self, watched: int | None) -> None:
        if self._socket is not None and watched is not None:
            self._patience.overdue.release(watched)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _timeval(0))

    def _some(self, limit_bytes: int) -> bytearray:
        """What comes in chunks, up to one byte over the limit."""
        data = bytearray()
        while len(data) <= limit_bytes and (chunk := self._stream.read(limit_bytes + 1 - len(data))):
            data += chunk
        return data

    def _end(self) -> None:
        """Whoever reads from the connection now or later finds its end, and closes it."""
        self._left = False
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RD)


@cache
def _timeval(seconds: float) -> bytes:
    """A `struct timeval` (POSIX <sys/time.h>)."""
    return struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6))


def _number(stated: str) -> int:
    """The length that was stated; one of more digits than anybody needs is as good as endless."""
    digits = stated.isascii() and stated.isdigit() and len(stated) <= _MOST_DIGITS
    return int(stated) if digits else 10**_MOST_DIGITS
