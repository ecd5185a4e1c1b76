"""Google's own emulators of Firestore and Pub/Sub, started by the tests that need them: where they cannot start, those fail."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from local.ports import LOOPBACK, free_ports

PROJECT = "emulated"
_START_SECONDS = 90.0
_STOP_SECONDS = 60.0
_SUPERVISOR = Path(__file__).with_name("emulator_supervisor.py")
_ATTEMPTS = 3


class EmulatorFailed(Exception):
    """The emulator did not start; the text ends with what it wrote."""


@contextlib.contextmanager
def firestore() -> Iterator[str]:
    """The address of a Firestore emulator, for FIRESTORE_EMULATOR_HOST."""
    with _emulator("emulators", "firestore", "start") as address:
        _commit_something(address)
        yield address


@contextlib.contextmanager
def pubsub() -> Iterator[str]:
    """The address of a Pub/Sub emulator, for PUBSUB_EMULATOR_HOST."""
    with (
        tempfile.TemporaryDirectory(prefix="pubsub-") as folder,
        _emulator("beta", "emulators", "pubsub", "start", f"--project={PROJECT}", f"--data-dir={folder}") as address,
    ):
        yield address


@contextlib.contextmanager
def standing_still(address: str) -> Iterator[None]:
    """The emulator at this address, which this process has started, neither answers nor ends meanwhile."""
    processes = _serving(address.rpartition(":")[2])
    assert processes, "an emulator runs"
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


def _serving(port: str) -> list[int]:
    """The programs that were told to serve at this port."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if words[0].endswith("java") and any(
                word.endswith((f"={port}", f":{port}")) or word == port for word in words
            ):
                found.append(int(folder.name))
    return found


@contextlib.contextmanager
def _emulator(*command: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="emulator-") as folder:
        for _ in range(_ATTEMPTS):
            # Another program may take the port before the emulator does.
            address = f"{LOOPBACK}:{free_ports(1)[0]}"
            process = _started([*command, f"--host-port={address}"], Path(folder) / "log")
            try:
                if _answers(address, process):
                    yield address
                    return
                ended_by_itself = process.poll() is not None
            finally:
                _stop(process)
            if not ended_by_itself:
                break
        output = (Path(folder) / "log").read_text(errors="replace")
        raise EmulatorFailed(f"gcloud {' '.join(command)} did not start:\n{output}")


def _commit_something(address: str) -> None:
    """The first commit takes a Firestore emulator so long, on a busy machine, that a store would give it up."""
    documents = f"projects/{PROJECT}/databases/first/documents"
    writes = {"writes": [{"update": {"name": f"{documents}/first/first", "fields": {}}}]}
    connection = http.client.HTTPConnection(address, timeout=_START_SECONDS)
    with contextlib.closing(connection):
        connection.request("POST", f"/v1/{documents}:commit", json.dumps(writes))
        if connection.getresponse().status != HTTPStatus.OK:
            raise EmulatorFailed("the Firestore emulator takes no commit")


def _started(command: list[str], log: Path) -> "subprocess.Popen[bytes]":
    environment = {
        **os.environ,
        "CLOUDSDK_CONFIG": str(log.parent / "gcloud"),
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
    }
    if shutil.which("gcloud") is None:
        raise EmulatorFailed("gcloud is not installed: the emulators of Firestore and Pub/Sub come with it")
    # In a session of its own: Ctrl+C in the terminal reaches the tests, which then close the pipe.
    return subprocess.Popen(
        [sys.executable, str(_SUPERVISOR), str(log), "gcloud", *command],
        env=environment,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


def _answers(address: str, process: "subprocess.Popen[bytes]") -> bool:
    """Return True if it answers in time, as long as it runs."""
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        connection = http.client.HTTPConnection(address, timeout=5)
        with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/")
            connection.getresponse()
            return True
        time.sleep(0.05)
    return False


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """The emulator, and everything that it started, has ended."""
    assert process.stdin is not None
    process.stdin.close()
    process.wait(_STOP_SECONDS)
