"""Waits until programs answer, and notices when one of them ends."""

import http.client
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from local.ports import LOOPBACK
from local.processes import Process, StopSignal


class ProcessEnded(Exception):
    """A program ended unexpectedly."""

    def __init__(self, process: Process) -> None:
        super().__init__(
            f"{process.name} ended {process.how_it_ended()}; the end of {process.log}:\n{process.last_lines()}"
        )


class PortLost(Exception):
    """Another program took the port of this one before it could listen there."""


class NotReady(Exception):
    """Some programs still did not answer when the time was over."""


@dataclass(frozen=True)
class Probe:
    """A program that is ready when `GET path` on `port` answers 200."""

    name: str
    port: int
    path: str


def wait_until_ready(
    probes: Iterable[Probe],
    processes: Sequence[Process],
    *,
    stopping: StopSignal | threading.Event,
    timeout_seconds: float,
    answers: Callable[[Probe], bool],
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
            if _port_was_taken(process):
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


def answers_ok(probe: Probe) -> bool:
    """Return True if the program answers 200 within a second."""
    connection = http.client.HTTPConnection(LOOPBACK, probe.port, timeout=1.0)
    try:
        connection.request("GET", probe.path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _port_was_taken(process: Process) -> bool:
    # As gunicorn and as Envoy say it.
    return any(words in process.output() for words in ("Connection in use:", "Address already in use"))
