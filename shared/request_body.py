"""A request's body as the WSGI server hands it over (PEP 3333): read once, and nobody's bytes are waited for without end."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Mapping
from typing import Any

from shared.a2a.errors import PARSE_ERROR, A2AError, ErrorKind

_CHUNK_BYTES = 65536
_MOST_DIGITS = 15
_MOST_DISCARDED_BYTES = 64 << 20
_BROKEN = "The request's body breaks off, or is not framed as HTTP says"
_TOO_SLOW = ErrorKind(
    "REQUEST_TIMEOUT",
    -32600,
    408,
    "DEADLINE_EXCEEDED",
    "The request's body did not arrive in time",
    a2a=False,
)


class RequestBody:
    """One request's body. `idle_seconds` bounds each wait for more of it; where nobody wants it any more, `pause_seconds` does,
    and `linger_seconds` all such waits together.

    Times are bounded where the server is gunicorn, which lends its socket.
    """

    __slots__ = (
        "_idle_seconds",
        "_left",
        "_length",
        "_linger_seconds",
        "_pause_seconds",
        "_socket",
        "_stream",
    )

    def __init__(
        self,
        environ: Mapping[str, Any],
        *,
        idle_seconds: float = 30.0,
        pause_seconds: float = 1.0,
        linger_seconds: float = 5.0,
    ) -> None:
        stated = environ.get("CONTENT_LENGTH", "")
        chunked = "HTTP_TRANSFER_ENCODING" in environ
        self._stream = environ["wsgi.input"]
        self._socket: socket.socket | None = environ.get("gunicorn.socket")
        self._length = None if chunked or not stated else _number(stated)
        self._left = chunked or bool(self._length)
        self._idle_seconds = idle_seconds
        self._pause_seconds = pause_seconds
        self._linger_seconds = linger_seconds

    @property
    def at_end(self) -> bool:
        """Nothing of it is left on the connection."""
        return not self._left

    def read(self, limit_bytes: int) -> bytes | None:
        """The whole body; None when it is longer. Raises A2AError for one that breaks off, is framed wrongly, or stays away."""
        if not self._left:
            return b""
        if self._length is not None and self._length > limit_bytes:
            return None
        if self._socket is not None:
            self._socket.settimeout(self._idle_seconds)
        try:
            data = self._some(limit_bytes) if self._length is None else self._stream.read(self._length)
        except TimeoutError:
            self._end()
            raise A2AError(_TOO_SLOW) from None
        except Exception:
            # Each server has exceptions of its own for what it cannot parse.
            self._end()
            raise A2AError(PARSE_ERROR, _BROKEN) from None
        finally:
            if self._socket is not None:
                self._socket.settimeout(None)
        if len(data) > limit_bytes:
            return None
        if self._length is not None and len(data) < self._length:
            self._end()
            raise A2AError(PARSE_ERROR, _BROKEN)
        self._left = False
        return bytes(data)

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
        late = threading.Timer(self._linger_seconds, self._end)
        late.start()
        left = _MOST_DISCARDED_BYTES
        try:
            if self._socket is not None:
                self._socket.settimeout(self._pause_seconds)
            while left > 0 and (chunk := self._stream.read(_CHUNK_BYTES)):
                left -= len(chunk)
            if left <= 0:
                self._end()
        except Exception:
            # It paused, broke off or cannot be parsed: where the next request would begin is not known.
            self._end()
        finally:
            late.cancel()
            if self._socket is not None:
                self._socket.settimeout(None)
        self._left = False

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


def _number(stated: str) -> int:
    """The length that was stated; one of more digits than anybody needs is as good as endless."""
    digits = stated.isascii() and stated.isdigit() and len(stated) <= _MOST_DIGITS
    return int(stated) if digits else 10**_MOST_DIGITS
