"""Every function of the hub on one machine, behind Envoy, at one address (design §7)."""

import json
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from local import envoy
from local.functions import ROOT, LocalFunction, environment_of, functions
from local.gateway import LOCAL_ROUTES
from local.lifeline import Lifeline
from local.ports import LOOPBACK, free_ports
from local.processes import Process, start, stop
from local.readiness import (
    NotReady,
    PortLost,
    Probe,
    ProcessEnded,
    answers_ok,
    raise_if_ended,
    wait_until_ready,
)
from local.settings import NotStartable, Settings, settings_from
from local.welcome import welcome

_STARTS = 5


def main() -> int:
    """Runs until it is told to end (0), or until something goes wrong, which it names (1)."""
    try:
        settings = settings_from(os.environ, runs=ROOT / ".run")
    except NotStartable as problem:
        print(f"cannot start: {problem}", file=sys.stderr)
        return 1
    return run(functions(bundled="--bundles" in sys.argv[1:]), settings, inherited=os.environ)


def run(table: Sequence[LocalFunction], settings: Settings, *, inherited: Mapping[str, str]) -> int:
    """Starts `table` behind the gateway; all of it has ended when this returns.

    It ends on SIGINT, SIGTERM or SIGHUP (0), or when one of the programs does (1).
    """
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A run under nohup is to outlive its terminal.
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: stopping.set())
    settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with Lifeline() as lifeline:
        for _ in range(_STARTS):
            processes: list[Process] = []
            try:
                _run_once(
                    table,
                    settings,
                    inherited=inherited,
                    lifeline=lifeline,
                    stopping=stopping,
                    started=processes,
                )
                return 0
            except PortLost as loss:
                print(f"{loss} found its port taken; starting on other ports", file=sys.stderr)
            except (ProcessEnded, NotReady) as problem:
                print(f"stopped: {problem}\nall logs: {settings.folder}", file=sys.stderr)
                return 1
            finally:
                stop(processes, lifeline=lifeline)
    print(f"cannot start: other programs took the ports {_STARTS} times", file=sys.stderr)
    return 1


def _run_once(
    table: Sequence[LocalFunction],
    settings: Settings,
    *,
    inherited: Mapping[str, str],
    lifeline: Lifeline,
    stopping: threading.Event,
    started: list[Process],
) -> None:
    """Returns when `stopping` is set. Whatever happens, `started` holds the processes that were started."""
    ports = dict(zip((one.name for one in table), free_ports(len(table)), strict=True))
    urls = {name: f"http://{LOOPBACK}:{port}" for name, port in ports.items()}
    for one in table:
        environment = environment_of(
            one, inherited=inherited, urls=urls, public_url=settings.url, dev_token=settings.dev_token
        )
        log = settings.folder / f"{one.name}.log"
        command = _function_command(one, port=ports[one.name])
        started.append(
            start(name=one.name, command=command, environment=environment, log=log, lifeline=lifeline)
        )
    config = settings.folder / "envoy.json"
    config.write_text(
        json.dumps(envoy.bootstrap(port=settings.port, routes=LOCAL_ROUTES, upstream_ports=ports), indent=2)
    )
    log = settings.folder / "envoy.log"
    started.append(
        start(name="envoy", command=envoy.command(config), environment=inherited, log=log, lifeline=lifeline)
    )

    probes = [Probe(name, port, "/health") for name, port in ports.items()]
    probes += [Probe("envoy", settings.port, "/health"), Probe("envoy", settings.port, _CARD)]
    wait_until_ready(
        probes,
        started,
        stopping=stopping,
        timeout_seconds=settings.start_timeout_seconds,
        answers=answers_ok,
    )
    if not stopping.is_set():
        print(welcome(settings), flush=True)
    while not stopping.wait(0.2):
        raise_if_ended(started)


_CARD = "/.well-known/agent-card.json"


def _function_command(function: LocalFunction, *, port: int) -> list[str]:
    program = Path(sys.executable).with_name("functions-framework")
    address = [f"--host={LOOPBACK}", f"--port={port}"]
    return [str(program), f"--target={function.name}", f"--source={function.source}", *address]


if __name__ == "__main__":
    sys.exit(main())
