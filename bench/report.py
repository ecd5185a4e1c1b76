"""The printed report: the machine, tables, and each target beside its measurement."""

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


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
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
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
