"""Server-sent events (WHATWG HTML §9.2), as a streaming operation sends them and a client reads them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

HEADERS = {"content-type": "text/event-stream", "cache-control": "no-store, no-transform", "x-accel-buffering": "no"}
KEEP_ALIVE = b": keep-alive\n\n"
_BOM = b"\xef\xbb\xbf"
# Line ends of Unicode, but not of JSON or §9.2.6: httpx-sse cuts an event there in versions until 0.4.1.
_LINE_ENDS = {end.encode(): f"\\u{ord(end):04x}".encode() for end in "\u0085\u2028\u2029"}


def write(data: bytes) -> bytes:
    """Return one event. `data` is JSON on a single line, also for clients that know more line ends than the standard."""
    for end, escaped in _LINE_ENDS.items():
        data = data.replace(end, escaped)
    return b"data: " + data + b"\n\n"


def read(chunks: Iterable[bytes], *, limit_bytes: int) -> Iterator[bytes]:
    """Yield the data of each event in a byte stream cut anywhere, without comments, other fields and events without data.

    An event that the stream's end cuts off is not delivered (§9.2.6). Raises ValueError for an event over `limit_bytes`.
    """
    return chain.from_iterable(read_batches(chunks, limit_bytes=limit_bytes))


def read_batches(chunks: Iterable[bytes], *, limit_bytes: int) -> Iterator[Sequence[bytes]]:
    """Yield what `read` yields, the events that one chunk completes together."""
    data: list[bytes] = []
    size = 0
    for lines in _lines(chunks, limit_bytes):
        events: list[bytes] = []
        for line in lines:
            if not line:
                # Servers whose streams can be resumed begin with an id alone; others send events without data as keep-alives.
                if any(data):
                    events.append(b"\n".join(data))
                data, size = [], 0
            elif line == b"data" or line.startswith(b"data:"):
                value = line[5:].removeprefix(b" ")
                size += len(value)
                if size > limit_bytes:
                    yield events
                    raise ValueError("a server-sent event is too large")
                data.append(value)
        if events:
            yield events


def data_lines(chunks: Iterable[bytes], *, limit_bytes: int) -> Iterator[bytes]:
    """Yield the data of each line, from a server that does not end its events with an empty line. Raises ValueError as `read`."""
    for line in chain.from_iterable(_lines(chunks, limit_bytes)):
        if line.startswith(b"data:"):
            yield line[5:].removeprefix(b" ")


def _lines(chunks: Iterable[bytes], limit_bytes: int) -> Iterator[Sequence[bytes]]:
    """Yield the lines whose ends (LF, CR or CRLF) are in one chunk, as soon as it is there."""
    begun: list[bytes] = []
    size = 0
    after_cr, at_start = False, True
    for chunk in chunks:
        if not chunk:
            continue
        if after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        after_cr = chunk.endswith(b"\r") if chunk else False
        first, *others = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        begun.append(first)
        size += len(first)
        lines: list[bytes] = []
        for line in others:
            complete = b"".join(begun)
            lines.append(complete.removeprefix(_BOM) if at_start else complete)
            at_start = False
            begun, size = [line], len(line)
        if lines:
            yield lines
        if size > limit_bytes:
            raise ValueError("a server-sent event is too large")
