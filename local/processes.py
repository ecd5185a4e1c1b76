"""Child processes, each with its name, its process group and its log file."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from local.lifeline import Lifeline


@dataclass(frozen=True, kw_only=True)
class Process:
    """A started program; its output is in `log`."""

    name: str
    popen: subprocess.Popen[bytes]
    log: Path

    def ended(self) -> bool:
        """Whether the program is no longer there."""
        return self.popen.poll() is not None

    def how_it_ended(self) -> str:
        """A signal's name or an exit status, in words."""
        status = self.popen.returncode
        return f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"

    def output(self) -> str:
        """Everything it has written so far."""
        return self.log.read_text(errors="replace")

    def last_lines(self, count: int = 15) -> str:
        """The end of its output, indented, for a report."""
        lines = self.output().splitlines()[-count:]
        return "\n".join(f"    {line}" for line in lines) or "    (it wrote nothing)"


def start(
    *, name: str, command: Sequence[str], environment: Mapping[str, str], log: Path, lifeline: Lifeline
) -> Process:
    """`command` runs in a process group of its own, which ends at the latest when this process does."""
    with log.open("wb") as output:
        popen = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    lifeline.hold(popen.pid)
    return Process(name=name, popen=popen, log=log)


def stop(
    processes: Iterable[Process],
    *,
    lifeline: Lifeline,
    grace_seconds: float = 3.0,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """No process of these groups is left: asked to end at first, killed after `grace_seconds`."""
    processes = list(processes)
    for process in processes:
        _signal_group(process, signal.SIGTERM)
    deadline = clock() + grace_seconds
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.popen.wait(max(0.0, deadline - clock()))
        # A group can outlive its leader: a worker with an open stream waits for it to end.
        _signal_group(process, signal.SIGKILL)
        process.popen.wait()
        lifeline.let_go(process.popen.pid)


def _signal_group(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.popen.pid, number)
