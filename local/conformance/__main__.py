"""`python -m local.conformance [--port N]`: the hub over the conformance agent, anonymous, until it is interrupted."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path

from local.functions import ROOT, LocalFunction
from local.lifeline import Lifeline
from local.ports import LOOPBACK, free_ports
from local.processes import Program, running
from local.readiness import NotReady, Probe, ProcessEnded, answers_ok, raise_if_ended, wait_until_ready
from local.run import function_command

_FOLDER = Path(__file__).resolve().parent
_AGENT = LocalFunction(name="conformance", source=_FOLDER / "main.py", threads=64, python_path=ROOT)
_HUB = LocalFunction(name="hub", source=ROOT / "functions" / "hub" / "main.py", threads=64, python_path=ROOT)


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m local.conformance", description=__doc__)
    parser.add_argument("--port", type=int, default=9999, help="the hub's port; 0 takes a free one")
    parser.add_argument("--kit", choices=("1.0", "0.3"), default="1.0", help="whose card the hub shows")
    arguments = parser.parse_args()
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stopping.set())
    with tempfile.TemporaryDirectory() as folder, Lifeline() as lifeline:
        agent_port, free = free_ports(2)
        port = arguments.port or free
        programs = _programs(Path(folder), agent_port=agent_port, port=port, kit=arguments.kit)
        try:
            with running(programs, lifeline=lifeline) as processes:
                probes = [Probe("conformance", agent_port, "/health"), Probe("hub", port, "/health")]
                wait_until_ready(
                    probes, processes, stopping=stopping, timeout_seconds=60.0, answers=answers_ok
                )
                print(f"ready http://{LOOPBACK}:{port}", flush=True)
                while not stopping.wait(0.2):
                    raise_if_ended(processes)
        except (NotReady, ProcessEnded) as problem:
            print(f"stopped: {problem}", file=sys.stderr)
            return 1
    return 0


def _programs(folder: Path, *, agent_port: int, port: int, kit: str) -> list[Program]:
    common = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "THREADS": "64"}
    of_hub = {
        "ALLOW_ANONYMOUS": "true",
        "ANONYMOUS_SUBJECT": "conformance-kit",
        "CARD_UNNAMED_VERSION": kit,
        "CONFORMANCE_URL": f"http://{LOOPBACK}:{agent_port}",
        "HUB_PUBLIC_URL": f"http://{LOOPBACK}:{port}",
        "IAM_CREDENTIALS": "none",
        "ROUTES_FILE": str(_FOLDER / "routes.toml"),
        "TASK_STORE": f"sqlite:{folder}/tasks.db",
        "UI_CONTRACT": "off",
        "WEBHOOK_ALLOWED_HOSTS": f"{LOOPBACK},localhost",
    }
    return [
        Program(
            name=function.name,
            command=function_command(function, port=at),
            environment=common | environment,
            log=folder / f"{function.name}.log",
        )
        for function, at, environment in ((_AGENT, agent_port, {}), (_HUB, port, of_hub))
    ]


if __name__ == "__main__":
    sys.exit(main())
