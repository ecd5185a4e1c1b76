"""Runs every function of the hub on one machine, behind Envoy and the gate, at one address."""

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from local import envoy
from local.cloud import gcloud
from local.cloud.faults import PATH as FAULTS
from local.cloud.wiring import CLOUD_FILE, STAND_INS, StandIn, own_settings
from local.envoy import Route, local_routes
from local.functions import ROOT, WORKSPACE, LocalFunction, environment_of, functions
from local.parent_watch import ParentWatch
from local.ports import LOOPBACK, free_ports
from local.processes import Process, Program, StopSignal, running
from local.readiness import (
    NotReady,
    PortLost,
    Probe,
    ProcessEnded,
    answers_ok,
    raise_if_ended,
    wait_until_ready,
)
from local.settings import NotStartable, Settings, require_free, settings_from

_SAMPLE = ROOT / "local" / "workspace"
_STARTS = 5
_LEAST_ROOM_BYTES = 4_000_000
_CARD = "/.well-known/agent-card.json"
_GATE, _TASKS = "gate", "tasks"
_QUESTION = "What is the deadline for notifying the infrastructure team for a P-1 incident?"


def laid_out(folder: Path) -> None:
    """Make `folder` with the sample files, unless it exists."""
    if not folder.exists():
        shutil.copytree(_SAMPLE, folder)


def main() -> int:
    """Run until stopped by a signal (0), or until a failure, which is printed (1)."""
    try:
        settings = settings_from(os.environ, runs=ROOT / ".run")
        inherited = {"COMMIT_SHA": _commit(), **os.environ}
        table = functions(bundled="--bundles" in sys.argv[1:])
        run(table, settings, inherited=inherited, stand_ins=STAND_INS if settings.has_cloud else ())
    except (NotStartable, NotReady, ProcessEnded) as problem:
        print(f"stopped: {problem}", file=sys.stderr)
        return 1
    return 0


def run(
    table: Sequence[LocalFunction],
    settings: Settings,
    *,
    inherited: Mapping[str, str],
    routes: Sequence[Route] | None = None,
    stand_ins: Sequence[StandIn] = (),
    choose_ports: Callable[[int], list[int]] = free_ports,
) -> None:
    """Run `table` behind the gateway, with `routes` instead of gateway/openapi.yaml's, over the local cloud of `stand_ins`,
    until
    SIGINT, SIGTERM or SIGHUP; then all of it has ended.

    Raises NotStartable, NotReady, or ProcessEnded when a program ends by itself; then, too, nothing is left.
    """
    stopping = StopSignal.of_signals()
    _require_room(settings.folder)
    if any(function.works_on_files for function in table):
        laid_out(settings.folder / WORKSPACE)
    with ParentWatch() as parent_watch:
        for _ in range(_STARTS):
            require_free(settings.port)
            names = [*(function.name for function in table), *(one.name for one in stand_ins)]
            ports = dict(zip(names, choose_ports(len(names)), strict=True))
            if not settings.has_gateway:
                ports[_GATE] = settings.port
            programs = _cloud(stand_ins, settings, ports=ports, inherited=inherited)
            programs += _programs(table, settings, stand_ins, ports=ports, inherited=inherited)
            if settings.has_gateway:
                programs.append(_gateway(settings, routes or local_routes(), ports=ports, inherited=inherited))
            try:
                with contextlib.ExitStack() as stack:
                    processes: list[Process] = []
                    for stage, probes in _stages(programs, settings, stand_ins, ports=ports):
                        processes += stack.enter_context(running(stage, parent_watch=parent_watch))
                        wait_until_ready(
                            probes,
                            processes,
                            stopping=stopping,
                            timeout_seconds=settings.start_timeout_seconds,
                            answers=answers_ok,
                        )
                        if stopping.is_set():
                            return
                    _welcome(settings, stand_ins, ports=ports)
                    while not stopping.wait(0.2):
                        raise_if_ended(processes)
                    return
            except PortLost as loss:
                print(f"{loss} found its port taken; starting again on others", file=sys.stderr)
    raise NotStartable(f"other programs took the functions' ports {_STARTS} times")


def _require_room(folder: Path) -> None:
    """Make the folder and check that it has room for the files of this run. Raises NotStartable."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(_LEAST_ROOM_BYTES))
    except OSError as refusal:
        raise NotStartable(
            f"{folder} cannot be written ({refusal.strerror}): make room, or clone this into a folder of your own"
        ) from None


def _commit() -> str:
    """Return the commit of the source tree, "" without its history."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip()


def _url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"


def _cloud(
    stand_ins: Sequence[StandIn],
    settings: Settings,
    *,
    ports: Mapping[str, int],
    inherited: Mapping[str, str],
) -> list[Program]:
    urls = {name: _url(port) for name, port in ports.items()}
    return [
        Program(
            name=one.name,
            command=one.command(urls),
            environment={**inherited, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            log=settings.folder / f"{one.name}.log",
        )
        for one in stand_ins
    ]


def _programs(
    table: Sequence[LocalFunction],
    settings: Settings,
    stand_ins: Sequence[StandIn],
    *,
    ports: Mapping[str, int],
    inherited: Mapping[str, str],
) -> list[Program]:
    all_urls = {name: _url(port) for name, port in ports.items()}
    urls = {function.name: all_urls[function.name] for function in table}

    return [
        Program(
            name=function.name,
            command=function_command(function, port=ports[function.name]),
            environment=environment_of(
                function,
                inherited=inherited,
                urls=urls,
                public_url=settings.url,
                dev_token=settings.dev_token,
                signing_key=settings.signing_key,
                token_header="x-forwarded-authorization" if settings.has_gateway else "authorization",
                state_folder=settings.folder,
            )
            | own_settings(stand_ins, all_urls, function.name, inherited=inherited),
            log=settings.folder / f"{function.name}.log",
        )
        for function in table
    ]


def _gateway(
    settings: Settings, routes: Sequence[Route], *, ports: Mapping[str, int], inherited: Mapping[str, str]
) -> Program:
    config = settings.folder / "envoy.json"
    bootstrap = envoy.bootstrap(port=settings.port, routes=routes, upstream_ports=ports)
    config.write_text(json.dumps(bootstrap, indent=2))
    log = settings.folder / "envoy.log"
    return Program(name="envoy", command=envoy.command(config), environment=inherited, log=log)


def _stages(
    programs: Sequence[Program],
    settings: Settings,
    stand_ins: Sequence[StandIn],
    *,
    ports: Mapping[str, int],
) -> Iterator[tuple[list[Program], list[Probe]]]:
    """Yield the programs that start together, with their probes. The entrance comes last: until then nobody gets in."""
    entrance = "envoy" if settings.has_gateway else _GATE
    paths = {one.name: FAULTS for one in stand_ins}
    yield (
        [program for program in programs if program.name != entrance],
        [Probe(name, port, paths.get(name, "/health")) for name, port in ports.items() if name != entrance],
    )
    yield (
        [program for program in programs if program.name == entrance],
        [Probe(entrance, settings.port, path) for path in ("/health", _CARD)],
    )


def _welcome(settings: Settings, stand_ins: Sequence[StandIn], *, ports: Mapping[str, int]) -> None:
    """Print the addresses and a first question."""
    cloud = {one.name: _url(ports[one.name]) for one in stand_ins}
    if cloud:
        (settings.folder / CLOUD_FILE).write_text(json.dumps(cloud, indent=2))
        gcloud.write_program(settings.folder / "bin", settings.folder / CLOUD_FILE, root=ROOT)
    workers_url = _url(ports[_TASKS]) if _TASKS in ports else ""
    print(welcome(settings, cloud=cloud, workers_url=workers_url), flush=True)


def function_command(function: LocalFunction, *, port: int) -> list[str]:
    """Return the command that starts a function in a functions-framework process of its own."""
    program = Path(sys.executable).with_name("functions-framework")
    address = [f"--host={LOOPBACK}", f"--port={port}"]
    return [str(program), f"--target={function.name}", f"--source={function.source}", *address]


def welcome(settings: Settings, *, cloud: Mapping[str, str], workers_url: str = "") -> str:
    """Return the text with the addresses, tokens and folders of the run, and a question to paste into a shell."""
    message = {
        "kind": "message",
        "messageId": "first-question",
        "role": "user",
        "parts": [{"kind": "text", "text": _QUESTION}],
    }
    request = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    authorization = shlex.quote(f"Authorization: Bearer {settings.first_token}")
    headers = f"-H {authorization} -H 'Content-Type: application/json'"
    return "\n".join(
        [
            f"ready {settings.url}",
            f"development token{'s' if ',' in settings.dev_token else ''}: {settings.dev_token}",
            f"logs: {settings.folder}",
            *(f"local cloud: {name} {url} (its faults: curl {url}/__faults)" for name, url in cloud.items()),
            *(
                [f"its gcloud, for the commands of the doctor: PATH={shlex.quote(f'{settings.folder}/bin')}:$PATH"]
                if cloud
                else []
            ),
            *([f"for workers: TASKS_URL={workers_url}"] if workers_url else []),
            "ask it something:",
            f"  curl {settings.url}/ {headers} -d {shlex.quote(json.dumps(request))}",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
