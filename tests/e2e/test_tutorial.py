"""The tutorial: every command of it is run, in its order, and shows what the page promises."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

from local.ports import free_ports
from local.processes import Probe, Process, answers_ok, wait_until_ready
from tests.e2e.hubs import ROOT

_BLOCK = re.compile(r"```(sh|python)\n(.*?)```", re.DOTALL)
_RUN = re.compile(r"^(?:\w+=\S+ )*make run\b", re.MULTILINE)
# Part of a command, and of what it shows.
_SHOWN = {
    "Mount Fuji": "3,776",
    'ask "What does a parking': "A parking space costs 40 euros a month.",
    "--write": "tried: the agent accepts requests",
    'ask "Book a trip': "Where to? You said: Book a trip to Osaka",
    "hubctl evaluate": "2 of 2 right",
}


@contextlib.contextmanager
def serving(name: str, block: str, port: int, folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """A terminal that runs `block` until Ctrl-C."""
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        popen = subprocess.Popen(
            ["bash", "-c", block], cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        path = "/health" if name == "hub" else "/.well-known/agent-card.json"
        processes = [Process(name=name, popen=popen, log=log)]
        wait_until_ready(
            [Probe(name, port, path)], processes, stopping=threading.Event(), timeout_seconds=90, answers=answers_ok
        )
        yield
    finally:
        os.killpg(popen.pid, signal.SIGINT)
        popen.wait()


def routes(port: int) -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/routes", headers={"Authorization": "Bearer dev"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        body: bytes = answer.read()
    return body.decode()


def test_every_command_of_the_tutorial_does_what_it_promises(tmp_path: Path) -> None:
    hub, agent = free_ports(2)
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    blocks = _BLOCK.findall(page.replace("8080", str(hub)).replace("8090", str(agent)))
    for entry in ROOT.iterdir():
        if entry.name not in ("my", ".run"):
            (tmp_path / entry.name).symlink_to(entry)
    # `make run` without the installation, which test_install.py has.
    make = tmp_path / "programs" / "make"
    make.parent.mkdir()
    make.write_text(f"#!/bin/sh\nexec {sys.executable} -m local.run\n")
    make.chmod(0o700)
    path = f"{make.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HUB_PORT": str(hub), "HUB_DEV_TOKEN": "dev", "PYTHONPATH": ""}
    environment["ROUTES_SECONDS"] = "0.1"
    running = ""
    unseen = dict(_SHOWN)
    with contextlib.ExitStack() as agents, contextlib.ExitStack() as hubs:
        for language, block in blocks:
            if language == "python":
                (tmp_path / "my/travel/main.py").write_text(block, encoding="utf-8")
            elif _RUN.search(block):
                if block == running:
                    # Instead of starting again: requests have the table read again in the background.
                    assert any("travel-desk" in routes(hub) for _ in range(10_000))
                    continue
                running = block
                hubs.close()
                hubs.enter_context(serving("hub", block, hub, tmp_path, environment))
            elif "functions-framework" in block:
                agents.enter_context(serving("travel", block, agent, tmp_path, environment))
            else:
                command = ["bash", "-e", "-c", block]
                done = subprocess.run(
                    command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
                )
                assert done.returncode == 0, done.stdout + done.stderr
                for part in [part for part in unseen if part in block]:
                    assert unseen.pop(part) in done.stdout
    assert unseen == {}


def test_the_japanese_tutorial_has_the_same_commands() -> None:
    def commands(page: str) -> list[str]:
        text = (ROOT / page).read_text(encoding="utf-8")
        # Without remarks, documents, and texts in quotes.
        return [
            re.sub(r" +#.*|<<'END'.*?\nEND|(['\"]).*?\1", "", block, flags=re.DOTALL if "END" in block else 0)
            for _, block in _BLOCK.findall(text)
        ]

    assert commands("docs/ja/tutorial.md") == commands("docs/tutorial.md")
