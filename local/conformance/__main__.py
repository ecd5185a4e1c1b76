"""`python -m local.conformance [--port N]`: the hub over the conformance agent, anonymous, until it is interrupted.

Beside it runs the tasks function, which delivers push notifications.
"""

import argparse
import os
import secrets
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from local.functions import ROOT, LocalFunction
from local.parent_watch import ParentWatch
from local.ports import LOOPBACK, free_ports, why_not_free
from local.processes import Program, StopSignal, running
from local.readiness import NotReady, Probe, ProcessEnded, answers_ok, raise_if_ended, wait_until_ready
from local.run import function_command

_FOLDER = Path(__file__).resolve().parent
_AGENT = LocalFunction(name="conformance", source=_FOLDER / "main.py", threads=64, python_path=ROOT)
_HUB, _TASKS = (
    LocalFunction(name=name, source=ROOT / "functions" / name / "main.py", threads=64, python_path=ROOT)
    for name in ("hub", "tasks")
)


def main() -> int:
    """Return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m local.conformance", description=__doc__)
    parser.add_argument("--port", type=int, default=9999, help="the hub's port; 0 takes a free one")
    parser.add_argument("--kit", choices=("1.0", "0.3"), default="1.0", help="whose card the hub shows")
    arguments = parser.parse_args()
    if reason := why_not_free(arguments.port):
        parser.error(f"port {arguments.port} cannot be used ({reason}): choose another with --port")
    stopping = StopSignal.of_signals()
    with tempfile.TemporaryDirectory() as folder, ParentWatch() as parent_watch:
        agent_port, tasks_port, free = free_ports(3)
        port = arguments.port or free
        ports = {_AGENT.name: agent_port, _HUB.name: port, _TASKS.name: tasks_port}
        programs = _programs(Path(folder), ports, kit=arguments.kit)
        try:
            with running(programs, parent_watch=parent_watch) as processes:
                probes = [Probe(name, at, "/health") for name, at in ports.items()]
                wait_until_ready(probes, processes, stopping=stopping, timeout_seconds=60.0, answers=answers_ok)
                print(f"ready http://{LOOPBACK}:{port}", flush=True)
                while not stopping.wait(0.2):
                    raise_if_ended(processes)
        except (NotReady, ProcessEnded) as problem:
            print(f"stopped: {problem}", file=sys.stderr)
            return 1
    return 0


def _programs(folder: Path, ports: Mapping[str, int], *, kit: str) -> list[Program]:
    urls = {name: f"http://{LOOPBACK}:{port}" for name, port in ports.items()}
    common = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "THREADS": "64"}
    of_both = {
        "CONFORMANCE_URL": urls[_AGENT.name],
        "GATE_SIGNING_KEY": secrets.token_urlsafe(32),
        "HUB_PUBLIC_URL": urls[_HUB.name],
        "IAM_CREDENTIALS": "none",
        "ROUTES_FILE": str(_FOLDER / "routes.toml"),
        "TASK_STORE": f"sqlite:{folder}/tasks.db",
        # Where the kits receive notifications.
        "WEBHOOK_ALLOWED_HOSTS": f"{LOOPBACK},localhost",
    }
    of_hub = {
        "ALLOW_ANONYMOUS": "true",
        "ANONYMOUS_SUBJECT": "conformance-kit",
        "CARD_UNNAMED_VERSION": kit,
        "UI_CONTRACT": "off",
        "WAKEUPS": f"local:{urls[_TASKS.name]}/wakeups",
    }
    environments: tuple[tuple[LocalFunction, dict[str, str]], ...] = (
        (_AGENT, {}),
        (_HUB, of_both | of_hub),
        (_TASKS, of_both | {"HUB_URL": urls[_HUB.name]}),
    )
    return [
        Program(
            name=function.name,
            command=function_command(function, port=ports[function.name]),
            environment=common | environment,
            log=folder / f"{function.name}.log",
        )
        for function, environment in environments
    ]


if __name__ == "__main__":
    sys.exit(main())
