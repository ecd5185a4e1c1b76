"""Starts local runs of stub functions and talks to them."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
STUB = Path(__file__).with_name("stub_function.py")
BROKEN = Path(__file__).with_name("broken_function.py")


@dataclass(frozen=True)
class LocalRun:
    """A run that has said that it is ready."""

    popen: subprocess.Popen[str]
    port: int
    welcome: str

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Any]:
        """The status and the decoded JSON body of one request to the gateway."""
        with contextlib.closing(self.connection()) as connection:
            connection.request(method, path, body=body, headers=dict(headers or {}))
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"null")

    def connection(self) -> http.client.HTTPConnection:
        """A new connection to the gateway."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)


def start(folder: Path, *arguments: object, **environment: str) -> subprocess.Popen[str]:
    """A local run, just started; its settings are in `environment`."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("HUB_DEV_TOKEN", "GATEWAY")}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.integration.stub_run", str(folder), *map(str, arguments)],
        cwd=ROOT,
        env={**inherited, "HUB_PORT": "0", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextlib.contextmanager
def ready(folder: Path, *arguments: object, **environment: str) -> Iterator[LocalRun]:
    """A local run that is ready; it has ended afterwards."""
    popen = start(folder, *(arguments or [STUB]), **environment)
    assert popen.stdout is not None
    try:
        lines = [popen.stdout.readline()]
        if not lines[0].startswith("ready "):
            raise AssertionError(f"no ready line: {popen.communicate()}")
        while "curl " not in lines[-1]:
            lines.append(popen.stdout.readline())
        yield LocalRun(popen=popen, port=int(lines[0].rsplit(":", 1)[1]), welcome="".join(lines))
    finally:
        popen.send_signal(signal.SIGTERM)
        popen.communicate()
