"""Streams through the hub: most wait for pull workers, some for an agent; how late events are, and what a stream costs."""

import contextlib
import re
import selectors
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from a2a_hub.a2a.model import Artifact, Part, TaskArtifactUpdateEvent
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.factory import open_store
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.task_store.store import Store
from bench.load import STREAM_1_0, Question
from bench.report import Target, at_most, table
from bench.servers import SUBJECTS, Memory, Server, Settings, ask, function, memory_of, serving
from local.functions import ROOT
from local.ports import LOOPBACK

T = TypeVar("T")
# The time at which an event was due, in nanoseconds of the monotonic clock; `bench.subjects.constant_hub` writes it, too.
_TICK = re.compile(rb'"text":"(\d{6,})\\n"')
_STREAMS, _WAITING = 1000, 900
_INTERVAL_SECONDS = 1.0
_TICKS = 20
_UNARY_QUESTIONS = 200
_ROLE, _WORK = "bench", "teleportation"
_ROUTE = f'''
[[routes]]
id = "bench"
name = "Bench"
description = "Work that waits for pull workers."
role = "{_ROLE}"
keywords = ["{_WORK}"]
priority = 100
'''
_MAX_DELAY_MS, _MAX_UNARY_MS, _MAX_KILOBYTES, _MAX_REFUSAL_SECONDS = 100.0, 100.0, 60.0, 1.0


class OpenStream:
    """One answer to a streaming message. `ticks` are the times at which its events came, in seconds of the monotonic clock.

    `status` is the HTTP status, 0 before it came.
    """

    def __init__(self, server: Server, number: int, question: Question) -> None:
        self.opened_at = time.monotonic()
        self.status = 0
        self.answered_at = 0.0
        self.ticks: list[float] = []
        self.delays_ms: list[float] = []
        self.completed = False
        self.open = True
        self.socket = socket.create_connection((LOOPBACK, server.port))
        self._rest = b""
        self.socket.sendall(question.request(f"stream-{number}", server.port))

    def receive(self) -> None:
        """Receive the available data."""
        data = self.socket.recv(65536)
        now = time.monotonic()
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            if not self.status:
                self.status, self.answered_at = int(line.split()[1]), now
            found = _TICK.search(line)
            if found:
                self.ticks.append(now)
                self.delays_ms.append(now * 1e3 - int(found[1]) / 1e6)
            self.completed = self.completed or b'"TASK_STATE_COMPLETED"' in line
        # The connection may be kept after the answer's end.
        self.open = bool(data) and not self.completed and self.status in (0, 200)


def open_streams(server: Server, count: int, question: Question) -> list[OpenStream]:
    """Open `count` streams and read until each has its status, as far as it comes within 20 s."""
    streams = []
    for number in range(count):
        streams.append(OpenStream(server, number, question))
        # A burst would only fill the backlog of the socket.
        _receive(streams[-1:], until=lambda: bool(streams[-1].status), seconds=0.005)
    _receive(streams, until=lambda: all(stream.status for stream in streams), seconds=20.0)
    return streams


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
    """Print what the streams received and cost; return the targets."""
    file = settings.folder / "streams.sqlite3"
    routes = settings.folder / "streams-routes.toml"
    routes.write_text((ROOT / "routes.toml").read_text(encoding="utf-8") + _ROUTE, encoding="utf-8")
    _remove(file)
    hub = function(
        "hub",
        SUBJECTS / "constant_hub.py",
        target="hub",
        BENCH_TICKS=str(_TICKS),
        BENCH_INTERVAL_SECONDS=str(_INTERVAL_SECONDS),
        ROUTES_FILE=str(routes),
        TASK_STORE=f"sqlite:{file}",
        MAX_STREAMS=str(_STREAMS),
        MAX_STREAMS_PER_CALLER=str(_STREAMS),
    )
    with serving((hub,), settings) as (contestant,):
        pid = contestant.process.popen.pid
        before = memory_of(pid)
        waiting = open_streams(hub, _WAITING, STREAM_1_0.about(_WORK))
        with _worker(file):
            read = open_streams(hub, _STREAMS - _WAITING, STREAM_1_0)
            streams = [*waiting, *read]
            unary_ms = _while_following(streams, lambda: _unary_milliseconds(hub))
            during = memory_of(pid)
            excess = _while_following(streams, lambda: open_streams(hub, _STREAMS, STREAM_1_0))
        alive = sum(1 for stream in streams if stream.open or stream.completed)
    _remove(file)
    delays = sorted(delay for stream in waiting for delay in stream.delays_ms)
    read_delays = sorted(delay for stream in read for delay in stream.delays_ms)
    refused = [stream for stream in excess if stream.status == 503]
    slowest_refusal = max((stream.answered_at - stream.opened_at for stream in refused), default=0.0)
    kilobytes = (during.resident - before.resident) * 1e3 / _STREAMS if before and during else 0.0
    table(
        f"{_STREAMS} streams on one hub process, {_WAITING} of them waiting for workers (SQLite)",
        ("", "measured"),
        [
            ["streams that were open at the end, or complete", str(alive)],
            ["event's delay, streams of workers, p50 and p99", _p50_and_p99(delays)],
            ["event's delay, streams of the agent, p50 and p99", _p50_and_p99(read_delays)],
            ["message/send meanwhile, p50 and p99", _p50_and_p99(sorted(unary_ms))],
            [f"of {_STREAMS} more streams, refused with 503", str(len(refused))],
            ["slowest refusal", f"{slowest_refusal:.2f} s"],
            *_memory_rows(before, during, kilobytes),
        ],
    )
    every = Target(
        wanted=f"{_STREAMS} streams stay open on one process, {_STREAMS} more are refused",
        measured=f"{alive}, {len(refused)}",
        met=alive == len(refused) == _STREAMS,
    )
    return [
        every,
        at_most("delay of a worker's event, p99", _p99(delays), _MAX_DELAY_MS, shown="{:.1f} ms"),
        at_most("message/send beside the streams, p99", _p99(sorted(unary_ms)), _MAX_UNARY_MS, shown="{:.1f} ms"),
        at_most("memory of each stream", kilobytes, _MAX_KILOBYTES, shown="{:.0f} kB"),
        at_most("time to refuse a stream", slowest_refusal, _MAX_REFUSAL_SECONDS, shown="{:.2f} s"),
    ]


@contextlib.contextmanager
def _worker(file: Path) -> Iterator[None]:
    """Write an event into each waiting task, again and again, as the `tasks` function does for workers."""
    stopping = threading.Event()
    with contextlib.closing(open_store(StoreSettings(file=file), now=time.time, new_id=new_id, report=print)) as store:
        worker = threading.Thread(target=_write_events, args=(store, stopping))
        worker.start()
        try:
            yield
        finally:
            stopping.set()
            worker.join()


def _write_events(store: Store, stopping: threading.Event) -> None:
    leases = []
    while lease := store.lease("bench", seconds=600, roles=(_ROLE,)):
        leases.append(lease)
    while not stopping.is_set():
        for lease in leases:
            task = lease.stored.task
            artifact = Artifact(artifact_id="ticks", parts=(Part(text=f"{time.monotonic() * 1e9:.0f}\n"),))
            event = TaskArtifactUpdateEvent(
                task_id=task.id, context_id=task.context_id or "", artifact=artifact, append=True
            )
            store.append(task.id, [event], lease=lease.token)
            if stopping.wait(0.002):
                return


def _while_following(streams: Sequence[OpenStream], do: Callable[[], T]) -> T:
    """Return what `do` returns, while the events of the streams are received."""
    made: list[T] = []
    working = threading.Thread(target=lambda: made.append(do()))
    working.start()
    _receive(streams, until=lambda: not working.is_alive(), seconds=60.0)
    working.join()
    return made[0]


def _unary_milliseconds(server: Server) -> list[float]:
    durations = []
    for _ in range(_UNARY_QUESTIONS):
        started = time.perf_counter()
        ask(server)
        durations.append((time.perf_counter() - started) * 1e3)
        time.sleep(0.05)
    return durations


def _p99(sorted_values: Sequence[float]) -> float:
    return sorted_values[int(len(sorted_values) * 0.99)] if sorted_values else float("inf")


def _p50_and_p99(sorted_values: Sequence[float]) -> str:
    if not sorted_values:
        return "no events"
    return f"{statistics.median(sorted_values):.1f} ms, {_p99(sorted_values):.1f} ms"


def _memory_rows(before: Memory | None, during: Memory | None, kilobytes: float) -> list[list[str]]:
    if before is None or during is None:
        return [["memory", "not known on this system"]]
    return [
        ["memory of the process before", f"{before.resident:.0f} MB"],
        ["memory of the process with them", f"{during.resident:.0f} MB ({kilobytes:.0f} kB for each)"],
    ]


def _remove(file: Path) -> None:
    for each in file.parent.glob(f"{file.name}*"):
        each.unlink()
