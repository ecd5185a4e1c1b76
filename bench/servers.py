"""The contestants: programs that listen on ports of their own, and the memory and processor time of their processes."""

import contextlib
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.load import ANSWER, SEND_0_3, SERVER_PROCESSOR, TOKEN, Question, pinned_to
from local import npm
from local.functions import ROOT
from local.ports import LOOPBACK, free_ports
from local.processes import Process, Program, running
from local.settings import WITHOUT_QUOTAS

_PROC = Path("/proc")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
OLDER_HUB = "hub of the older checkout"
SUBJECTS = Path(__file__).parent / "subjects"
# Cloud Run's own number of requests per instance, and so of threads.
THREADS = 80
_SDK = Path(__file__).parent / "sdk"
_JS = Path(__file__).parent / "js"
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

    @property
    def url(self) -> str:
        """The address, without a trailing slash."""
        return f"http://{LOOPBACK}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`rounds` measurements of `seconds` each for every contestant; logs go to `folder` while they are needed."""

    rounds: int
    seconds: float
    folder: Path
    against: Path | None = None
    """An older checkout, whose hub takes part beside this one."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A server that runs."""

    server: Server
    process: Process


class NotServing(Exception):
    """A server did not come up, or answered wrongly."""


def function(name: str, source: Path, *, target: str, **environment: str) -> Server:
    """Return a function under functions-framework, from the source tree; a hub gets the bench's token."""
    program = Path(sys.executable).with_name("functions-framework")
    (port,) = free_ports(1)
    own = {
        "PYTHONPATH": _python_path(ROOT),
        "PYTHONUNBUFFERED": "1",
        "THREADS": str(THREADS),
        "HUB_DEV_TOKEN": TOKEN,
        "HUB_PUBLIC_URL": f"http://{LOOPBACK}:{port}",
        "PUBLIC_URL": f"http://{LOOPBACK}:{port}",
        "IAM_CREDENTIALS": "none",
        # Counted as in a deployment, and never used up.
        **dict.fromkeys(WITHOUT_QUOTAS, "1000000"),
    }
    command = [str(program), f"--target={target}", f"--source={source}", f"--host={LOOPBACK}", f"--port={port}"]
    return Server(name=name, port=port, command=command, environment=_inherited() | own | environment)


def stores(folder: Path) -> dict[str, dict[str, str]]:
    """Return the settings of a hub with a task store, by the store's name: an SQLite file made anew in `folder`, and
    Firestore's emulator where FIRESTORE_EMULATOR_HOST names one.
    """
    for file in folder.glob("tasks.sqlite3*"):
        file.unlink()
    found = {"SQLite": {"TASK_STORE": f"sqlite:{folder / 'tasks.sqlite3'}"}}
    if "FIRESTORE_EMULATOR_HOST" in os.environ:
        found["Firestore's emulator"] = {"TASK_STORE": "firestore", "GOOGLE_CLOUD_PROJECT": "bench"}
    return found


def older_hub(settings: Settings, source: str, **environment: str) -> Iterator[Server]:
    """Yield the hub of an older checkout, which `source` starts, where there is one."""
    if settings.against:
        path = _python_path(settings.against)
        yield function(OLDER_HUB, settings.against / source, target="hub", PYTHONPATH=path, **environment)


def _python_path(checkout: Path) -> str:
    return f"{checkout}{os.pathsep}{checkout / 'shared'}"


def sdk(name: str, *, question: Question, **environment: str) -> Server:
    """Return the official SDK's server, from an environment of its own, which is made when it is not there."""
    install = [ROOT / "local" / "install.py", _SDK_VENV, _SDK / "requirements.txt"]
    if subprocess.run([sys.executable, *install]).returncode:
        raise NotServing("the official SDK could not be installed")
    (port,) = free_ports(1)
    command = [str(_SDK_VENV / "bin" / "python"), str(_SDK / "server.py"), str(port)]
    return Server(name=name, port=port, command=command, environment=_inherited() | environment, question=question)


def sdk_version() -> str:
    """Return the release of the official SDK that is measured."""
    pin = re.search(r"^a2a-sdk\S*==(\S+)", (_SDK / "requirements.txt").read_text(), re.MULTILINE)
    return pin[1] if pin else "of unknown version"


def javascript(name: str, *, question: Question) -> Server | None:
    """Return the official JavaScript SDK's server on Express; None without Node and npm."""
    node, npm_program = shutil.which("node"), shutil.which("npm")
    if node is None or npm_program is None:
        return None
    # Node finds packages beside the module.
    folder = npm.installed(npm_program, _JS).parent
    module = Path(shutil.copy(_JS / "server.mjs", folder))
    (port,) = free_ports(1)
    command = [node, str(module), str(port)]
    return Server(name=name, port=port, command=command, environment=_inherited(), question=question)


def javascript_version() -> str:
    """Return the release of the official JavaScript SDK that is measured."""
    version: str = json.loads((_JS / "package.json").read_text())["dependencies"]["@a2a-js/sdk"]
    return version


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
    command = [*pinned_to(SERVER_PROCESSOR), *server.command]
    program = Program(name=server.name, command=command, environment=server.environment, log=log)
    try:
        with running([program]) as (process,):
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
