"""Contestants under the same load, in turn, and the printed report: the machine, tables, targets beside measurements."""

import os
import platform
import statistics
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.load import Load, measured_load
from bench.servers import OLDER_HUB, Contestant, Settings, processor_seconds_of

_MIN_OF_OLDER = 0.97
_HEAD = ("", "req/s", "p50 ms", "p99 ms", "CPU µs/req", "req/s ratio", "generator busy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target, and how it was met."""

    wanted: str
    measured: str
    met: bool

    def __str__(self) -> str:
        return f"  {self.wanted:66} {self.measured:>12}   {'met' if self.met else 'NOT MET'}"


def at_most(wanted: str, value: float, limit: float, *, shown: str) -> Target:
    """Return the target for a value up to the limit; `shown` is the format of the value."""
    return Target(wanted=wanted, measured=shown.format(value), met=value <= limit)


def at_least(wanted: str, value: float, limit: float, *, shown: str) -> Target:
    """Return the target for a value from the limit on; `shown` is the format of the value."""
    return Target(wanted=wanted, measured=shown.format(value), met=value >= limit)


def machine() -> str:
    """Return the machine in one line, as far as it says what it is, and how busy others keep it."""
    processor, memory = platform.machine(), ""
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        processor = models[0] if models else processor
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
        memory = f", {total:.0f} GB"
    optimised = "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")
    interpreter = platform.python_version() + ("" if optimised else " (built without profile-guided optimisation)")
    system = f"{platform.system()} {platform.release()}, Python {interpreter}"
    busy = f"load average {os.getloadavg()[0]:.1f} at the start"
    return f"{processor}, {os.cpu_count()} processors{memory}, {system}, {busy}"


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print `rows` below `head`, the first column to the left and the others to the right."""
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    print(f"\n{title}")
    for row in (head, *rows):
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        print("  " + "   ".join(cells))


def median_and_range(values: Sequence[float], digits: int) -> str:
    """Return the median, and the least and the most in brackets."""
    low, middle, high = (f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low}-{high})"


@dataclass(frozen=True, slots=True)
class Measured:
    """One contestant in one round. `processor_us` is what the server itself used for one request; None where nobody counts it."""

    load: Load
    processor_us: float | None


Measurements = dict[str, list[Measured]]


def contest(
    title: str, contestants: Sequence[Contestant], settings: Settings, *, reference: str, connections: int = 1
) -> Measurements:
    """Measure each contestant once a round, after one measurement that does not count, and print the table.

    The order is reversed with every round.
    """
    measurements: Measurements = {one.server.name: [] for one in contestants}
    for one in contestants:
        _measured(one, connections=connections, seconds=1.0)
    for number in range(settings.rounds):
        for one in contestants if number % 2 else reversed(contestants):
            measured = _measured(one, connections=connections, seconds=settings.seconds)
            measurements[one.server.name].append(measured)
    noun = "connection" if connections == 1 else "connections"
    table(f"{title}, {connections} {noun}", _HEAD, _rows(measurements, reference))
    return measurements


def _rows(measurements: Measurements, reference: str) -> list[list[str]]:
    return [
        [
            name,
            median_and_range([one.load.requests_per_second for one in mine], 0),
            f"{statistics.median(one.load.p50_ms for one in mine):.2f}",
            f"{statistics.median(one.load.p99_ms for one in mine):.2f}",
            _processor_us(mine),
            f"{throughput_ratio(mine, measurements[reference]):.2f}",
            f"{statistics.median(one.load.generator_busy for one in mine):.0%}",
        ]
        for name, mine in measurements.items()
    ]


def beside_older(measurements: Measurements, *, hub: str) -> list[Target]:
    """Return the ratios of the hub to that of the older checkout, where it took part."""
    older = measurements.get(OLDER_HUB)
    if older is None:
        return []
    ratios = {
        "throughput": throughput_ratio(measurements[hub], older),
        "1/p50": paired(measurements[hub], older, lambda mine, other: other.p50_ms / mine.p50_ms),
    }
    wanted = f"hub ≥ {_MIN_OF_OLDER:.2f} x that of the older checkout"
    return [at_least(f"{wanted}, {what}", ratio, _MIN_OF_OLDER, shown="{:.2f} x") for what, ratio in ratios.items()]


def throughput_ratio(mine: Sequence[Measured], others: Sequence[Measured]) -> float:
    """Return the median of the rounds' ratios."""
    return paired(mine, others, lambda a, b: a.requests_per_second / b.requests_per_second)


def paired(mine: Sequence[Measured], others: Sequence[Measured], compare: Callable[[Load, Load], float]) -> float:
    """Return the median of a comparison that is made within each round."""
    return statistics.median(compare(a.load, b.load) for a, b in zip(mine, others, strict=True))


def adds_at_most(what: str, limit_ms: float, measurements: Measurements, *, mine: str, reference: str) -> Target:
    """Return the target for what a contestant adds to the reference's p50."""
    added = paired(measurements[mine], measurements[reference], lambda one, other: one.p50_ms - other.p50_ms)
    return at_most(f"{what.format(f'≤ {limit_ms:.1f} ms')}, 1 connection", added, limit_ms, shown="{:.2f} ms")


def _measured(contestant: Contestant, *, connections: int, seconds: float) -> Measured:
    server, session = contestant.server, contestant.process.popen.pid
    before = processor_seconds_of(session)
    load = measured_load(server.port, server.question, connections=connections, seconds=seconds)
    after = processor_seconds_of(session)
    used = None if before is None or after is None else (after - before) * 1e6 / load.requests
    return Measured(load, used)


def _processor_us(measurements: Sequence[Measured]) -> str:
    known = [one.processor_us for one in measurements if one.processor_us is not None]
    return f"{statistics.median(known):.0f}" if known else "not known"
