"""The contestants: programs that listen on ports of their own, and the memory and processor time of their processes."""

import contextlib
import http.client
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.load import Generator
from bench.question import ANSWER, SEND_0_3, TOKEN, Question
from local.functions import ROOT
from local.parent_watch import ParentWatch
from local.ports import LOOPBACK
from local.processes import Process, Program, running

_PROC = Path("/proc")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
SUBJECTS = Path(__file__).parent / "subjects"
# Cloud Run's own number of requests per instance, and so of threads.
THREADS = 80
_SDK = Path(__file__).parent / "sdk"
_SDK_VENV = ROOT / ".run" / "bench-sdk"
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """In MB (10⁶ bytes). `peak` is the highest resident size of the largest process (VmHWM).

    `resident` is that process's size now, `proportional` what all processes hold together, shared pages counted once (PSS).
    """

    peak: float
    resident: float
    proportional: float


def memory_of(session: int) -> Memory | None:
    """Return the memory of the processes of one session: a server's, since each is started in a session of its own."""
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
    """Return the processor time that the session's processes have used so far, in steps of 10 ms; of the kernel too."""
    if not (_PROC / "self" / "stat").exists():
        return None
    return sum(int(fields[11]) + int(fields[12]) for _, fields in _processes(session)) / _TICKS_PER_SECOND


def _processes(session: int) -> Iterator[tuple[Path, list[str]]]:
    """Return the session's processes, each with what its `stat` says from the state on (proc(5)): state, parent, group,
    session.
    """
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                yield folder, fields


def _megabytes(text: str, name: str) -> float:
    found = re.search(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)
    assert found, f"no {name} among the kernel's figures"
    return int(found[1]) * 1024 / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A program to be started; it is ready when it has answered `question`."""

    name: str
    port: int
    command: Sequence[str]
    environment: Mapping[str, str]
    question: Question = SEND_0_3


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`rounds` measurements of `seconds` each for every contestant; logs go to `folder` while they are needed."""

    rounds: int
    seconds: float
    generator: Generator
    folder: Path
    parent_watch: ParentWatch
    against: Path | None = None
    """An older checkout, whose hub takes part beside this one."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A server that runs."""

    server: Server
    process: Process


class NotServing(Exception):
    """A server did not come up, or answered wrongly."""


def function(name: str, source: Path, *, target: str, port: int, **environment: str) -> Server:
    """Return a function under functions-framework, from the source tree; a hub gets the bench's token."""
    program = Path(sys.executable).with_name("functions-framework")
    own = {
        "PYTHONPATH": python_path(ROOT),
        "PYTHONUNBUFFERED": "1",
        "THREADS": str(THREADS),
        "HUB_DEV_TOKEN": TOKEN,
        "HUB_PUBLIC_URL": f"http://{LOOPBACK}:{port}",
        "PUBLIC_URL": f"http://{LOOPBACK}:{port}",
        "IAM_CREDENTIALS": "none",
    }
    command = [str(program), f"--target={target}", f"--source={source}", f"--host={LOOPBACK}", f"--port={port}"]
    return Server(name=name, port=port, command=command, environment=_inherited() | own | environment)


def python_path(checkout: Path) -> str:
    """Return the folders of a checkout's packages; before `a2a_hub` there was one named `shared`."""
    package = checkout / "shared" / "a2a_hub"
    return f"{checkout}{os.pathsep}{package.parent}" if package.is_dir() else str(checkout)


def sdk(name: str, *, port: int, question: Question) -> Server:
    """Return the official SDK's server, from an environment of its own, which is made when it is not there."""
    install = [ROOT / "local" / "install.py", _SDK_VENV, _SDK / "requirements.txt"]
    if subprocess.run([sys.executable, *install]).returncode:
        raise NotServing("the official SDK could not be installed")
    command = [str(_SDK_VENV / "bin" / "python"), str(_SDK / "server.py"), str(port)]
    return Server(name=name, port=port, command=command, environment=_inherited(), question=question)


def sdk_version() -> str:
    """Return the release of the official SDK that is measured."""
    pin = re.search(r"^a2a-sdk\S*==(\S+)", (_SDK / "requirements.txt").read_text(), re.MULTILINE)
    return pin[1] if pin else "of unknown version"


@contextlib.contextmanager
def serving(servers: Sequence[Server], settings: Settings) -> Iterator[list[Contestant]]:
    """Run all servers until each has answered once; afterwards none of their processes and logs is left. Raises NotServing."""
    with contextlib.ExitStack() as stack:
        contestants = [Contestant(server, stack.enter_context(started(server, settings))) for server in servers]
        for one in contestants:
            first_answer(one.server, one.process)
        yield contestants


@contextlib.contextmanager
def started(server: Server, settings: Settings) -> Iterator[Process]:
    """Start the server; afterwards neither its processes nor its log are left."""
    log = settings.folder / f"{server.port}.log"
    program = Program(name=server.name, command=server.command, environment=server.environment, log=log)
    try:
        with running([program], parent_watch=settings.parent_watch) as (process,):
            yield process
    finally:
        log.unlink(missing_ok=True)


def first_answer(server: Server, process: Process, *, poll_seconds: float = 0.01) -> None:
    """Wait until the server has answered its question rightly. Raises NotServing."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        try:
            answer = ask(server)
        except OSError:
            if process.ended():
                raise NotServing(f"{server.name} ended at its start:\n{process.last_lines()}") from None
            time.sleep(poll_seconds)
            continue
        if ANSWER not in answer:
            raise NotServing(f"{server.name} answered wrongly: {answer[:300]!r}\n{process.last_lines()}")
        return
    raise NotServing(f"{server.name} did not answer in {_START_SECONDS:.0f} s:\n{process.last_lines()}")


def ask(server: Server) -> bytes:
    """Return the body of one answer, over a connection of its own. Raises OSError."""
    with contextlib.closing(http.client.HTTPConnection(LOOPBACK, server.port, timeout=10.0)) as connection:
        connection.request("POST", "/", server.question.body("first"), dict(server.question.headers))
        return connection.getresponse().read()


def _inherited() -> dict[str, str]:
    """Return the environment without what would change how a Python program runs."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
