"""Cold start: seconds from the start of a process to its first answer, with its processor time and memory until then."""

import shutil
import statistics
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from bench.report import Target, at_most, median_and_range, table
from bench.servers import (
    SUBJECTS,
    Memory,
    Server,
    Settings,
    first_answer,
    function,
    memory_of,
    processor_seconds_of,
    started,
)
from local.bundle import bundle
from local.functions import ROOT, functions

BARE = "bare function"
HUB = "hub, constant route"
_MAX_ADDED_MS = 70
_MAX_ADDED_MB = 30
_MIN_STARTS = 9
# Below what is to be seen, and long enough to leave the processor to the one that starts.
_POLL_SECONDS = 0.002


@dataclass(frozen=True, slots=True)
class _Start:
    milliseconds: float
    processor_milliseconds: float | None
    memory: Memory | None


def run(settings: Settings) -> list[Target]:
    """Print the table; return the targets for time and memory."""
    folder = settings.folder / "hub"
    contestants = (
        function(BARE, SUBJECTS / "bare.py", target="bare"),
        # The sources are installed beside the framework, which looks into the function's folder last.
        function(HUB, _bundled(folder), target="hub", PYTHONPATH=str(folder)),
    )
    starts: dict[str, list[_Start]] = {server.name: [] for server in contestants}
    for server in contestants:
        _start(server, settings)
    for number in range(max(settings.rounds, _MIN_STARTS)):
        for server in contestants if number % 2 else reversed(contestants):
            starts[server.name].append(_start(server, settings))
    rows = [[name, *_cells(mine)] for name, mine in starts.items()]
    head = ("", "to first answer, ms", "processor, ms", "peak, MB", "all processes, MB")
    table(f"Cold start, {len(starts[BARE])} starts of each in turn", head, rows)
    pairs = list(zip(starts[HUB], starts[BARE], strict=True))
    added_ms = statistics.median(hub.milliseconds - bare.milliseconds for hub, bare in pairs)
    wanted = f"hub's first answer ≤ bare + {_MAX_ADDED_MS} ms"
    targets = [at_most(wanted, added_ms, _MAX_ADDED_MS, shown="{:+.0f} ms")]
    added_mb = [hub.memory.peak - bare.memory.peak for hub, bare in pairs if hub.memory and bare.memory]
    if added_mb:
        wanted = f"hub's peak memory ≤ bare + {_MAX_ADDED_MB} MB"
        targets.append(at_most(wanted, statistics.median(added_mb), _MAX_ADDED_MB, shown="{:+.1f} MB"))
    return targets


def _bundled(folder: Path) -> Path:
    """Bundle the hub as it is uploaded, except for the agents that its entry point gives it."""
    hub = next(each for each in functions() if each.name == "hub")
    bundle(hub, root=ROOT, target=folder)
    return Path(shutil.copyfile(SUBJECTS / "constant_hub.py", folder / "main.py"))


def _start(server: Server, settings: Settings) -> _Start:
    began = perf_counter()
    with started(server, settings) as process:
        first_answer(server, process, poll_seconds=_POLL_SECONDS)
        milliseconds = (perf_counter() - began) * 1e3
        used = processor_seconds_of(process.popen.pid)
        return _Start(milliseconds, used * 1e3 if used is not None else None, memory_of(process.popen.pid))


def _cells(starts: list[_Start]) -> list[str]:
    memories = [start.memory for start in starts if start.memory]
    # Counted in steps of 10 ms, of which a mean is finer than a median.
    used = [start.processor_milliseconds for start in starts if start.processor_milliseconds is not None]
    return [
        median_and_range([start.milliseconds for start in starts], 0),
        f"{statistics.mean(used):.0f} ({min(used):.0f}-{max(used):.0f})" if used else "not known",
        median_and_range([memory.peak for memory in memories], 1) if memories else "not known",
        median_and_range([memory.proportional for memory in memories], 1) if memories else "not known",
    ]
