"""Child processes: their start and logs, when they are ready, and what ends them."""

from __future__ import annotations

import contextlib
import http.client
import math
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from a2a_hub.runtime.process_guard import guard_on
from local.ports import LOOPBACK

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LAST_LINES = 15
_LOOK_SECONDS = 0.05
# The beginning of an error message for the operator.
_OPERATOR_ERROR = re.compile(r"^(?:[\w.]+\.WrongFile: |(?=The settings are wrong:$))", re.MULTILINE)


class StopSignal:
    """Set by a signal, or by `set`, and from then on for good."""

    def __init__(self) -> None:
        self._is_set = False

    @classmethod
    def of_signals(cls) -> StopSignal:
        """Set by SIGINT, SIGTERM and SIGHUP; not by a SIGHUP that is ignored: a run under nohup is to outlive its terminal."""
        stopping = cls()
        for number in SIGNALS:
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda *_: stopping.set())
        return stopping

    def set(self) -> None:
        """Set it for good."""
        self._is_set = True

    def is_set(self) -> bool:
        """Return True if it is set."""
        return self._is_set

    def wait(self, timeout_seconds: float = math.inf) -> bool:
        """Wait until it is set; return False on a timeout."""
        deadline = time.monotonic() + timeout_seconds
        # A handler runs in the middle of a sleep, and could not take the lock of an event that is waited for.
        while not self._is_set and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, _LOOK_SECONDS))
        return self._is_set


@dataclass(frozen=True, kw_only=True)
class Process:
    """A started program; its output is in `log`."""

    name: str
    popen: subprocess.Popen[bytes]
    log: Path

    def ended(self) -> bool:
        """Return True if the program has ended."""
        return self.popen.poll() is not None

    def output(self) -> str:
        """Return its output so far."""
        return self.log.read_text(errors="replace")

    def last_lines(self) -> str:
        """Return the end of its output, indented, for a report; of an error meant for the operator all of it, without the
        stack.
        """
        output = self.output()
        starts = [found.end() for found in _OPERATOR_ERROR.finditer(output)]
        lines = output[starts[-1] :].splitlines() if starts else output.splitlines()[-_LAST_LINES:]
        return "\n".join(f"    {line}" for line in lines) or "    (it wrote nothing)"


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program to start."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path


@contextlib.contextmanager
def running(programs: Iterable[Program], *, grace_seconds: float = 2.0) -> Iterator[list[Process]]:
    """Run all programs, each in a process group of its own; on leaving, no process of these groups is left.

    They get SIGTERM first, and SIGKILL after `grace_seconds`; at once when this process is killed.
    """
    processes: list[Process] = []
    guards = []
    try:
        for program in programs:
            processes.append(_start(program))
            guards.append(guard_on(processes[-1].popen.pid))
        yield processes
    finally:
        _stop(processes, grace_seconds=grace_seconds)
        for guard in guards:
            guard.communicate(b"\n")


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


def _stop(processes: Sequence[Process], *, grace_seconds: float) -> None:
    for process in processes:
        _signal_group(process, signal.SIGTERM)
    deadline = time.monotonic() + grace_seconds
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.popen.wait(max(0.0, deadline - time.monotonic()))
        # A group can outlive its leader: a worker with an open stream waits for it to end.
        _signal_group(process, signal.SIGKILL)
        process.popen.wait()


def _signal_group(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.popen.pid, number)


class ProcessEnded(Exception):
    """A program ended unexpectedly."""

    def __init__(self, process: Process) -> None:
        status = process.popen.returncode
        how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        super().__init__(f"{process.name} ended {how}; the end of {process.log}:\n{process.last_lines()}")


class PortLost(Exception):
    """Another program took the port of this one before it could listen there."""


class NotReady(Exception):
    """Some programs still did not answer when the time was over."""


@dataclass(frozen=True)
class Probe:
    """A program that is ready when `GET path` on `port` answers 200; without a path, when it takes a connection."""

    name: str
    port: int
    path: str


def answers_ok(probe: Probe) -> bool:
    """Return True if the program answers 200 within a second."""
    connection = http.client.HTTPConnection(LOOPBACK, probe.port, timeout=1.0)
    try:
        connection.connect()
        if not probe.path:
            return True
        connection.request("GET", probe.path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def wait_until_ready(
    probes: Iterable[Probe],
    processes: Sequence[Process],
    *,
    stopping: StopSignal | threading.Event,
    timeout_seconds: float,
    answers: Callable[[Probe], bool] = answers_ok,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Wait until every probe has succeeded once, or `stopping` is set.

    Raises PortLost, ProcessEnded or NotReady.
    """
    deadline = clock() + timeout_seconds
    waiting = list(probes)
    while not stopping.is_set():
        waiting = [probe for probe in waiting if not answers(probe)]
        # Asked after the probes: a neighbour that holds the port may have answered in the program's place.
        for process in processes:
            # As gunicorn and as Envoy say it.
            if any(words in process.output() for words in ("Connection in use:", "Address already in use")):
                raise PortLost(process.name)
        raise_if_ended(processes)
        if not waiting:
            return
        if clock() > deadline:
            missing = ", ".join(sorted({probe.name for probe in waiting}))
            raise NotReady(f"after {timeout_seconds:.0f} s these still do not answer: {missing}")
        stopping.wait(0.05)


def raise_if_ended(processes: Sequence[Process]) -> None:
    """Raise ProcessEnded for the first program that has ended."""
    for process in processes:
        if process.ended():
            raise ProcessEnded(process)
