"""Gemini CLI's own A2A server as `gemini_cli/package-lock.json` pins it, with a stand-in for the Gemini API."""

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from local.npm import installed
from local.ports import free_ports
from tests.deploy.tools import program
from tests.fakes.gemini_api import GeminiApi

_PACKAGES = Path(__file__).parent / "gemini_cli"
_START_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class GeminiCli:
    """The running server, and the folder that it works in."""

    url: str
    workspace: Path


@contextlib.contextmanager
def gemini_cli(folder: Path) -> Iterator[GeminiCli]:
    """The server; it has ended afterwards."""
    modules = installed(program("npm"), _PACKAGES)
    server = modules / "@google" / "gemini-cli-a2a-server" / "dist" / "a2a-server.mjs"
    workspace, home = folder / "workspace", folder / "home"
    workspace.mkdir()
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = test\n\temail = test@example.com\n")
    (port,) = free_ports(1)
    with GeminiApi() as api, (folder / "gemini-cli.log").open("wb") as log:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": api.url,
            "CODER_AGENT_PORT": str(port),
            "CODER_AGENT_WORKSPACE_PATH": str(workspace),
        }
        command = [program("node"), str(server)]
        popen = subprocess.Popen(command, cwd=workspace, env=environment, stdout=log, stderr=log)
        try:
            cli = GeminiCli(url=f"http://127.0.0.1:{port}", workspace=workspace)
            _wait_for(f"{cli.url}/.well-known/agent-card.json", popen)
            yield cli
        finally:
            popen.kill()
            popen.wait()


def _wait_for(url: str, popen: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        assert popen.poll() is None, "the server ended"
        with contextlib.suppress(OSError), urlopen(url, timeout=5) as answer:
            answer.read()
            return
        time.sleep(0.05)
    raise AssertionError("the server did not start")
