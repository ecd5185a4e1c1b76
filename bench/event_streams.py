"""Many event streams followed by one thread."""

import re
import selectors
import socket
import time
from collections.abc import Callable, Sequence

from bench.question import STREAM_0_3
from bench.servers import Server
from local.ports import LOOPBACK

# `bench.subjects.ticking_hub` puts the time at which an event was due into its text.
_TICK = re.compile(rb'"text":"(\d{6,})\\n"')


class OpenStream:
    """One answer to `message/stream`. `ticks` are the times at which its events came, in seconds of the monotonic clock."""

    def __init__(self, server: Server, number: int) -> None:
        self.ticks: list[float] = []
        self.delays_ms: list[float] = []
        self.completed = False
        self.open = True
        self.socket = socket.create_connection((LOOPBACK, server.port))
        self._rest = b""
        body = STREAM_0_3.body(f"stream-{number}")
        headers = "".join(f"{name}: {value}\r\n" for name, value in STREAM_0_3.headers.items())
        head = f"POST / HTTP/1.1\r\nhost: {LOOPBACK}\r\n{headers}content-length: {len(body)}\r\n\r\n"
        self.socket.sendall(head.encode() + body)

    @property
    def longest_silence_seconds(self) -> float:
        """Between two of its events."""
        return max(
            (later - sooner for sooner, later in zip(self.ticks, self.ticks[1:], strict=False)), default=0.0
        )

    def receive(self) -> None:
        """Takes what has come: every whole line once."""
        data = self.socket.recv(65536)
        now = time.monotonic()
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            found = _TICK.search(line)
            if found:
                self.ticks.append(now)
                self.delays_ms.append(now * 1e3 - int(found[1]) / 1e6)
            self.completed = self.completed or (b'"final":true' in line and b'"completed"' in line)
        # The connection may be kept after the answer's end.
        self.open = bool(data) and not self.completed


def open_streams(server: Server, count: int) -> list[OpenStream]:
    """`count` streams, each with its first event, as far as that came within 10 s."""
    streams = [OpenStream(server, number) for number in range(count)]
    _receive(streams, until=lambda: all(stream.ticks for stream in streams), seconds=10.0)
    return streams


def follow(streams: Sequence[OpenStream], *, seconds: float) -> None:
    """Receives what comes in `seconds`, or until every stream has ended."""
    _receive(streams, until=lambda: False, seconds=seconds)


def _receive(streams: Sequence[OpenStream], *, until: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as waiting:
        for stream in streams:
            if stream.open:
                waiting.register(stream.socket, selectors.EVENT_READ, stream)
        while waiting.get_map() and not until() and (left := deadline - time.monotonic()) > 0:
            for key, _ in waiting.select(left):
                key.data.receive()
                if not key.data.open:
                    waiting.unregister(key.fileobj)
                    key.data.socket.close()
