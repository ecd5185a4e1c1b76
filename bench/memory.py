"""What a server's processes hold, as Linux counts it; None on other systems."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


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
    folders = [folder for folder in _PROC.glob("[0-9]*") if _session(folder) == session]
    statuses = [(folder / "status").read_text() for folder in folders]
    rollups = [(folder / "smaps_rollup").read_text() for folder in folders]
    return Memory(
        peak=max(_megabytes(status, "VmHWM") for status in statuses),
        resident=max(_megabytes(status, "VmRSS") for status in statuses),
        proportional=sum(_megabytes(rollup, "Pss") for rollup in rollups),
    )


def _session(folder: Path) -> int | None:
    try:
        # After the program's name, which may hold anything: state, parent, group, session.
        return int((folder / "stat").read_text().rpartition(")")[2].split()[3])
    except OSError:
        return None


def _megabytes(text: str, name: str) -> float:
    found = re.search(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)
    assert found, f"no {name} among the kernel's figures"
    return int(found[1]) * 1024 / 1e6
