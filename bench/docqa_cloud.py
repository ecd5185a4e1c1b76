"""The cost of documents on Google Cloud: docqa's start, its first answer and the next ones, beside docqa over a folder.

The services are the stand-ins of `local.cloud`, on this machine: the libraries are Google's, the distance is not.
"""

import contextlib
import http.client
import json
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bench.report import Target, median_and_range, table
from bench.servers import NotServing, Server, Settings, function, memory_of, started
from local.cloud.wiring import STAND_INS, own_settings
from local.functions import ROOT
from local.ports import LOOPBACK, free_ports
from local.processes import Process, Program, running

FOLDER, AT_ONCE, WARMED = "folder", "cloud, asked at once", "cloud, asked after 3 s"
_NEEDED = ("metadata-docqa", "storage", "discovery-engine")
_QUESTION = "What is the deadline for notifying the infrastructure team for a P-1 incident?"
_ANSWER = b"within 15 minutes"
_STARTS, _ANSWERS = 7, 20
_WARM_SECONDS = 3.0
_DEADLINE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Run:
    listening: float
    first: float
    next: float
    peak: float


def run(settings: Settings) -> list[Target]:
    """Print the table; there are no targets."""
    runs: dict[str, list[_Run]] = {FOLDER: [], AT_ONCE: [], WARMED: []}
    with _cloud(settings) as stand_ins:
        source = ROOT / "functions" / "docqa" / "main.py"
        (port,) = free_ports(1)
        folder = function(FOLDER, source, target="docqa", port=port)
        cloud = replace(folder, environment={**folder.environment, **stand_ins})
        for number in range(_STARTS + 1):
            for name in runs:
                measured = _run(folder if name == FOLDER else cloud, settings, waits=name == WARMED)
                # The first start of each writes what Python compiled.
                runs[name] += [measured] if number else []
    columns = ("listening", "first", "next", "peak")
    rows = [
        [name, *(median_and_range([getattr(each, column) for each in mine], 0) for column in columns)]
        for name, mine in runs.items()
    ]
    head = ("docqa over", "listens after, ms", "first answer takes, ms", "next ones, ms", "peak, MB")
    table(f"Documents, {_STARTS} starts of each in turn", head, rows)
    return []


def _run(server: Server, settings: Settings, *, waits: bool) -> _Run:
    began = time.perf_counter()
    with started(server, settings) as process:
        _listens(server.port, process)
        listening = time.perf_counter() - began
        if waits:
            time.sleep(_WARM_SECONDS)
        first, *following = (_answered(server.port, process) for _ in range(_ANSWERS))
        memory = memory_of(process.popen.pid)
        peak = memory.peak if memory else float("nan")
        return _Run(listening * 1e3, first, statistics.median(following), peak)


def _listens(port: int, process: Process, *, path: str = "/health") -> None:
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while time.monotonic() < deadline and not process.ended():
        with contextlib.suppress(OSError):
            _request(port, "GET", path)
            return
        time.sleep(0.002)
    raise NotServing(process.last_lines())


def _answered(port: int, process: Process) -> float:
    """Return the milliseconds that the answer took."""
    message = {"messageId": str(time.monotonic_ns()), "role": "ROLE_USER", "parts": [{"text": _QUESTION}]}
    request = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    began = time.perf_counter()
    answer = _request(port, "POST", "/", json.dumps(request).encode())
    milliseconds = (time.perf_counter() - began) * 1e3
    if _ANSWER not in answer:
        raise NotServing(f"answered wrongly: {answer[:300]!r}\n{process.last_lines()}")
    return milliseconds


def _request(port: int, method: str, path: str, body: bytes | None = None) -> bytes:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=_DEADLINE_SECONDS)
    with contextlib.closing(connection):
        connection.request(method, path, body, {"content-type": "application/json", "a2a-version": "1.0"})
        return connection.getresponse().read()


@contextlib.contextmanager
def _cloud(settings: Settings) -> Iterator[Mapping[str, str]]:
    """Run the stand-ins and yield the settings with which docqa uses them."""
    names = [one.name for one in STAND_INS]
    functions = ["gate", "hub", "agent_card", "docqa", "general", "expense", "pm"]
    ports = dict(zip([*names, *functions], free_ports(len(names) + len(functions)), strict=True))
    urls = {name: f"http://{LOOPBACK}:{port}" for name, port in ports.items()}
    stand_ins = [one for one in STAND_INS if one.name in _NEEDED]
    programs = [
        Program(
            name=one.name,
            command=one.command(urls),
            environment={"PYTHONPATH": str(ROOT), "PATH": str(Path(sys.executable).parent)},
            log=settings.folder / f"{one.name}.log",
        )
        for one in stand_ins
    ]
    with running(programs, parent_watch=settings.parent_watch) as processes:
        for program, process in zip(programs, processes, strict=True):
            _listens(ports[program.name], process, path="/__faults")
        yield own_settings(stand_ins, urls, "docqa", inherited={})
