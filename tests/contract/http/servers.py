"""A function behind the server that Functions Framework starts for its adapter, and its client: bytes in, bytes out."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from local.ports import free_ports
from local.processes import Probe, Process, wait_until_ready

ROOT = Path(__file__).parents[3]

_SOURCES = {
    "asgi": """
from a2a_hub.http.asgi_adapter import entry_point
from a2a_hub.http.request_body import WaitLimits
from tests.contract.http.handlers import ADMISSION, handle

agent = entry_point("agent", handle, ADMISSION, wait_limits=WaitLimits(idle_seconds=IDLE_SECONDS, pause_seconds=0.2))
""",
    "flask": """
from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.http.request_body import WaitLimits
from tests.contract.http.handlers import ADMISSION, handle

agent = entry_point(handle, ADMISSION, wait_limits=WaitLimits(idle_seconds=IDLE_SECONDS, pause_seconds=0.2))
""",
}


@dataclass(frozen=True)
class Server:
    """A running function."""

    adapter: str
    port: int
    popen: subprocess.Popen[bytes]

    def connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port))
        connection.settimeout(30)
        return connection

    def send(self, data: bytes) -> bytes:
        """Everything that comes back until the server closes the connection."""
        with self.connect() as connection:
            connection.sendall(data)
            return rest_of(connection)

    def get(self, path: str, *headers: str, method: str = "GET", body: bytes = b"") -> "Answer":
        lines = [f"{method} {path} HTTP/1.1", "Host: a", "Connection: close", *headers]
        lines += [f"Content-Length: {len(body)}"] if body else []
        return Answer.of(self.send("\r\n".join([*lines, "", ""]).encode() + body))


@dataclass(frozen=True)
class Answer:
    """One answer; `rest` came after it on the same connection."""

    status: int
    headers: dict[str, str]
    body: bytes

    @classmethod
    def of(cls, data: bytes) -> "Answer":
        head, _, body = data.partition(b"\r\n\r\n")
        line, *fields = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        return cls(int(line.split()[1]), headers, body)

    @property
    def json(self) -> dict[str, object]:
        value: dict[str, object] = json.loads(self.body)
        return value


def rest_of(connection: socket.socket) -> bytes:
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            data += piece
    return data


def read_until(connection: socket.socket, end: bytes) -> bytes:
    data = b""
    while end not in data:
        piece = connection.recv(65536)
        assert piece, data
        data += piece
    return data


@contextlib.contextmanager
def running(adapter: str, folder: Path, *, idle_seconds: float = 1.0) -> Iterator[Server]:
    source = folder / "main.py"
    source.write_text(_SOURCES[adapter].replace("IDLE_SECONDS", str(idle_seconds)))
    (port,) = free_ports(1)
    program = Path(sys.executable).with_name("functions-framework")
    told = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'shared'}", "THREADS": "8"}
    log = folder / "log"
    with log.open("wb") as output:
        popen = subprocess.Popen(
            [program, "--target=agent", f"--source={source}", "--host=127.0.0.1", f"--port={port}"],
            env=told,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        process = Process(name="agent", popen=popen, log=log)
        probe = Probe("agent", port, "/health")
        wait_until_ready([probe], [process], stopping=threading.Event(), timeout_seconds=60.0)
        yield Server(adapter, port, popen)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(popen.pid, signal.SIGKILL)
        popen.wait()
