"""What a server's processes hold and use, as Linux counts it; None on other systems."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """In MB (10⁶ bytes). `peak` is the highest resident size of the largest process (VmHWM).

    `resident` is that process's size now, `proportional` what all processes hold together, shared pages counted once (PSS).
    """

    peak: float
    resident: float
    proportional: float


def memory_of(session: int) -> Memory | None:
    """The memory of the processes of one session: a server's, since each is started in a session of its own."""
    if not (_PROC / "self" / "smaps_rollup").exists():
        return None
    folders = [folder for folder, _ in _processes(session)]
    statuses = [(folder / "status").read_text() for folder in folders]
    rollups = [(folder / "smaps_rollup").read_text() for folder in folders]
    return Memory(
        peak=max(_megabytes(status, "VmHWM") for status in statuses),
        resident=max(_megabytes(status, "VmRSS") for status in statuses),
        proportional=sum(_megabytes(rollup, "Pss") for rollup in rollups),
    )


def processor_seconds_of(session: int) -> float | None:
    """The processor time that the session's processes have used so far, in steps of 10 ms; of the kernel too."""
    if not (_PROC / "self" / "stat").exists():
        return None
    return sum(int(fields[11]) + int(fields[12]) for _, fields in _processes(session)) / _TICKS_PER_SECOND


def _processes(session: int) -> Iterator[tuple[Path, list[str]]]:
    """The session's processes, each with what its `stat` says from the state on (proc(5)): state, parent, group, session."""
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                yield folder, fields


def _megabytes(text: str, name: str) -> float:
    found = re.search(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)
    assert found, f"no {name} among the kernel's figures"
    return int(found[1]) * 1024 / 1e6
