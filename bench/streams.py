"""Streams through the hub: how late events are, and how many streams one process holds."""

import re
import selectors
import socket
import statistics
import time
from collections.abc import Callable, Sequence

from bench.question import STREAM_0_3
from bench.report import Target, table
from bench.servers import SUBJECTS, Memory, Server, Settings, ask, function, memory_of, serving
from local.functions import functions
from local.ports import LOOPBACK, free_ports

# `bench.subjects.ticking_hub` puts the time at which an event was due into its text.
_TICK = re.compile(rb'"text":"(\d{6,})\\n"')
STREAMS = 300
_INTERVAL_SECONDS = 1.0
_TICKS = 20
_UNARY_QUESTIONS = 20


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
        """The longest time between two events."""
        return max((later - sooner for sooner, later in zip(self.ticks, self.ticks[1:], strict=False)), default=0.0)

    def receive(self) -> None:
        """Receive the available data."""
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
    """Open `count` streams and read the first event of each, as far as it comes within 10 s."""
    streams = [OpenStream(server, number) for number in range(count)]
    _receive(streams, until=lambda: all(stream.ticks for stream in streams), seconds=10.0)
    return streams


def follow(streams: Sequence[OpenStream], *, seconds: float) -> None:
    """Receive events for `seconds`, or until every stream has ended."""
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


def run(settings: Settings) -> list[Target]:
    """Print what the streams received and cost; return the target for their number."""
    hub = function(
        "hub",
        SUBJECTS / "ticking_hub.py",
        target="hub",
        port=free_ports(1)[0],
        # As `make run` starts it: a thread for every stream.
        THREADS=str(next(one.threads for one in functions() if one.name == "hub")),
        BENCH_TICKS=str(_TICKS),
        BENCH_INTERVAL_SECONDS=str(_INTERVAL_SECONDS),
    )
    with serving((hub,), settings) as (contestant,):
        pid = contestant.process.popen.pid
        before = memory_of(pid)
        opened_at = time.monotonic()
        streams = open_streams(hub, STREAMS)
        opening_seconds = time.monotonic() - opened_at
        follow(streams, seconds=_TICKS * _INTERVAL_SECONDS / 2)
        during = memory_of(pid)
        alive = sum(1 for stream in streams if stream.open and stream.ticks)
        unary_ms = _unary_milliseconds(hub)
        follow(streams, seconds=_TICKS * _INTERVAL_SECONDS)
    complete = sum(1 for stream in streams if len(stream.ticks) == _TICKS and stream.completed)
    delays = sorted(delay for stream in streams for delay in stream.delays_ms)
    table(
        f"{STREAMS} streams on one hub process, an event every {_INTERVAL_SECONDS:g} s on each, {_TICKS} events",
        ("", "measured"),
        [
            ["streams that had events and were open half-way", str(alive)],
            ["streams with every event and the final status", str(complete)],
            ["events received", f"{len(delays)} of {STREAMS * _TICKS}"],
            ["event's delay, p50 and p99", _p50_and_p99(delays)],
            ["longest silence of a stream", f"{max(each.longest_silence_seconds for each in streams):.2f} s"],
            ["time to open them all", f"{opening_seconds:.2f} s"],
            ["message/send meanwhile, p50", f"{statistics.median(unary_ms):.1f} ms"],
            *_memory_rows(before, during),
        ],
    )
    return [
        Target(
            wanted=f"{STREAMS} streams at once on one process, each receiving its events",
            measured=str(min(alive, complete)),
            met=alive == complete == STREAMS,
        )
    ]


def _unary_milliseconds(server: Server) -> list[float]:
    durations = []
    for _ in range(_UNARY_QUESTIONS):
        started = time.perf_counter()
        ask(server)
        durations.append((time.perf_counter() - started) * 1e3)
    return durations


def _p50_and_p99(sorted_values: Sequence[float]) -> str:
    if not sorted_values:
        return "no events"
    p50, p99 = (sorted_values[int(len(sorted_values) * share)] for share in (0.5, 0.99))
    return f"{p50:.1f} ms, {p99:.1f} ms"


def _memory_rows(before: Memory | None, during: Memory | None) -> list[list[str]]:
    if before is None or during is None:
        return [["memory", "not known on this system"]]
    added = (during.resident - before.resident) * 1e3 / STREAMS
    return [
        ["memory of the process before", f"{before.resident:.0f} MB"],
        ["memory of the process with them", f"{during.resident:.0f} MB ({added:.0f} kB for each)"],
    ]
