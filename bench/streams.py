"""Many streams open at once on one hub process, each with an event every second."""

import statistics
import time
from collections.abc import Sequence

from bench.event_streams import OpenStream, follow, open_streams
from bench.report import Target, table
from bench.servers import SUBJECTS, Server, ask, function, serving
from bench.settings import Settings
from bench.usage import Memory, memory_of
from local.functions import functions
from local.ports import free_ports

STREAMS = 300
_INTERVAL_SECONDS = 1.0
_TICKS = 20
_UNARY_QUESTIONS = 20


def run(settings: Settings) -> list[Target]:
    """Prints what the streams received and what they cost; the target for their number."""
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
    with serving((hub,), parent_watch=settings.parent_watch, folder=settings.folder) as (process,):
        before = memory_of(process.popen.pid)
        opened_at = time.monotonic()
        streams = open_streams(hub, STREAMS)
        opening_seconds = time.monotonic() - opened_at
        follow(streams, seconds=_TICKS * _INTERVAL_SECONDS / 2)
        during = memory_of(process.popen.pid)
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
            ["longest silence of a stream", f"{_longest_silence_seconds(streams):.2f} s"],
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


def _longest_silence_seconds(streams: Sequence[OpenStream]) -> float:
    return max(stream.longest_silence_seconds for stream in streams)


def _memory_rows(before: Memory | None, during: Memory | None) -> list[list[str]]:
    if before is None or during is None:
        return [["memory", "not known on this system"]]
    added = (during.resident - before.resident) * 1e3 / STREAMS
    return [
        ["memory of the process before", f"{before.resident:.0f} MB"],
        ["memory of the process with them", f"{during.resident:.0f} MB ({added:.0f} kB for each)"],
    ]
