"""The official SDKs in environments of their own, so that their pins don't mix with ours, and programs that run in them."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.hubs import ROOT, Hub

_HERE = Path(__file__).parent


def python_of(name: str) -> Path:
    """The interpreter of the environment that `NAME/requirements.txt` pins; made when it is not there as pinned."""
    venv = ROOT / ".run" / "e2e" / name
    install = [sys.executable, str(ROOT / "local" / "install.py"), str(venv)]
    subprocess.run([*install, str(_HERE / name / "requirements.txt")], check=True)
    return venv / "bin" / "python"


@dataclass(frozen=True, kw_only=True)
class SdkClient:
    """A client program that runs in an SDK's environment and knows the address and the token of one caller."""

    popen: subprocess.Popen[str]

    def ask(self, text: str, *, binding: str, streaming: bool, **more: str) -> dict[str, Any]:
        """Return what the SDK made of the answer to a person's message."""
        self.write(do="send", text=text, modes=[], binding=binding, streaming=streaming, **more)
        return self.read()

    def write(self, **asked: object) -> None:
        """Send a request to the program without waiting."""
        assert self.popen.stdin is not None
        self.popen.stdin.write(json.dumps(asked) + "\n")
        self.popen.stdin.flush()

    def read(self) -> dict[str, Any]:
        """Return the program's next line."""
        assert self.popen.stdout is not None
        told: dict[str, Any] = json.loads(self.popen.stdout.readline())
        return told


@contextlib.contextmanager
def client(name: str, hub: Hub) -> Iterator[SdkClient]:
    """Run the client `NAME/client.py`."""
    command = [str(python_of(name)), str(_HERE / name / "client.py"), hub.url, hub.tokens[0]]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as popen:
        yield SdkClient(popen=popen)
        popen.communicate(timeout=30)


@contextlib.contextmanager
def agents(name: str, program: str = "sdk_agents.py") -> Iterator[str]:
    """Run the program with the SDK `name`; yield the address below which its agents answer."""
    command = [str(python_of(name)), str(_HERE / program)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as popen:
        assert popen.stdout is not None
        address = popen.stdout.readline().strip()
        assert address.startswith("http://"), "the agents did not start"
        yield address
        popen.communicate(timeout=30)
