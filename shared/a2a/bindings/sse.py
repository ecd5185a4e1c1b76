"""Server-sent events (WHATWG HTML §9.2): what a streaming operation answers with, and what a client reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
}
KEEP_ALIVE = b": keep-alive\n\n"


def write(data: bytes) -> bytes:
    """One event. `data` is JSON on a single line."""
    return b"data: " + data + b"\n\n"


def read(chunks: Iterable[bytes], *, limit_bytes: int) -> Iterator[bytes]:
    """The data of each event in a byte stream cut anywhere; comments and other fields are passed over.

    An event that the stream's end cuts off is not delivered (§9.2.6). Raises ValueError for an event over `limit_bytes`.
    """
    data: list[bytes] = []
    size = 0
    for line in _lines(chunks, limit_bytes):
        if not line:
            if data:
                yield b"\n".join(data)
                data, size = [], 0
        elif line.startswith(b"data:"):
            value = line[5:].removeprefix(b" ")
            size += len(value)
            if size > limit_bytes:
                raise ValueError("a server-sent event is too large")
            data.append(value)


def _lines(chunks: Iterable[bytes], limit_bytes: int) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        rest += chunk
        if rest.endswith(b"\r"):
            continue
        *lines, rest = rest.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        if len(rest) > limit_bytes:
            raise ValueError("a server-sent event is too large")
        yield from lines
    if rest.endswith(b"\r"):
        yield rest[:-1]
