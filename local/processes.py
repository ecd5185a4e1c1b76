"""Child processes, each with its name, its process group and its log file."""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from local.parent_watch import Lifeline

_LAST_LINES = 15
# Where a text begins that says what to do.
_TOLD_TO_THE_OPERATOR = re.compile(r"^(?:[\w.]+\.WrongFile: |(?=The settings are wrong:$))", re.MULTILINE)


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

    def last_lines(self) -> str:
        """The end of its output, indented, for a report; of an error meant for the operator all of it, without the stack."""
        output = self.output()
        told = [found.end() for found in _TOLD_TO_THE_OPERATOR.finditer(output)]
        lines = output[told[-1] :].splitlines() if told else output.splitlines()[-_LAST_LINES:]
        return "\n".join(f"    {line}" for line in lines) or "    (it wrote nothing)"


@dataclass(frozen=True, kw_only=True)
class Program:
    """What is to be started."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path


@contextlib.contextmanager
def running(
    programs: Iterable[Program], *, lifeline: Lifeline, grace_seconds: float = 2.0
) -> Iterator[list[Process]]:
    """All programs run, each in a process group of its own; on leaving, no process of these groups is left.

    They are asked to end at first, and killed after `grace_seconds`; at once when this process is killed.
    """
    processes: list[Process] = []
    try:
        for program in programs:
            processes.append(_start(program))
            lifeline.hold(processes[-1].popen.pid)
        yield processes
    finally:
        _stop(processes, lifeline=lifeline, grace_seconds=grace_seconds)


def _start(program: Program) -> Process:
    with program.log.open("wb") as output:
        popen = subprocess.Popen(
            program.command,
            env=dict(program.environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Process(name=program.name, popen=popen, log=program.log)


def _stop(processes: Sequence[Process], *, lifeline: Lifeline, grace_seconds: float) -> None:
    for process in processes:
        _signal_group(process, signal.SIGTERM)
    deadline = time.monotonic() + grace_seconds
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.popen.wait(max(0.0, deadline - time.monotonic()))
        # A group can outlive its leader: a worker with an open stream waits for it to end.
        _signal_group(process, signal.SIGKILL)
        process.popen.wait()
        lifeline.let_go(process.popen.pid)


def _signal_group(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.popen.pid, number)
