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
from dataclasses import dataclass
from pathlib import Path

from local import envoy, install
from local.cloud import gcloud, wiring
from local.cloud.program import PATH as FAULTS
from local.cloud.wiring import CLOUD_FILE, HEDERA, PERSON_TOKEN, STAND_INS, StandIn, own_settings
from local.cloud.workspace import OWNER
from local.functions import ROOT, LocalFunction, functions
from local.ports import LOOPBACK, free_ports
from local.processes import (
    NotReady,
    PortLost,
    Probe,
    Process,
    ProcessEnded,
    Program,
    StopSignal,
    raise_if_ended,
    running,
    wait_until_ready,
)
from local.settings import WORKSPACE, NotStartable, Settings, environment_of, require_free, settings_from

_SAMPLE = ROOT / "local" / "workspace"
_ROUTES = ROOT / "routes.toml"
_SAMPLE_POLICY = "expense"
_STARTS = 5
_MIN_ROOM_BYTES = 4_000_000
_CARD = "/.well-known/agent-card.json"
_GATE, _TASKS, _CONSOLE, _GRPC = "gate", "tasks", "console", "grpc"
_GRPC_SERVICE = ROOT / "services" / "grpc"
_QUESTION = "What is the deadline for notifying the infrastructure team for a P-1 incident?"


def has_own_documents(environment: Mapping[str, str]) -> bool:
    """Return True for a run with documents of one's own on the sample table, whose `expense` knows the sample company only."""
    chosen = any(environment.get(name) for name in ("ROUTES_FILE", "EXPENSE_URL", "PRIVATE"))
    return bool(environment.get("CORPUS_DIR")) and not chosen


def routes_without_sample_policy(folder: Path) -> Path:
    """Write the sample table whose route to `expense` is omitted as long as it has no address; return the file.

    Raises NotStartable.
    """
    _require_room(folder)
    url = 'url = "${EXPENSE_URL}"\n'
    file = folder / "routes.toml"
    file.write_text(_ROUTES.read_text("utf-8").replace(url, f"{url}optional = true\n"), "utf-8")
    return file


def laid_out(folder: Path) -> None:
    """Make `folder` with the sample files, unless it exists."""
    if not folder.exists():
        shutil.copytree(_SAMPLE, folder)


def main() -> int:
    """Run until stopped by a signal (0), or until a failure, which is printed (1)."""
    try:
        settings = settings_from(os.environ, runs=ROOT / ".run")
        inherited = {"COMMIT_SHA": _commit(), **os.environ}
        if settings.grpc_python:
            _install_grpc(settings.grpc_python)
        table = functions(bundled="--bundles" in sys.argv[1:])
        if has_own_documents(inherited):
            table = tuple(function for function in table if function.name != _SAMPLE_POLICY)
            inherited["ROUTES_FILE"] = str(routes_without_sample_policy(settings.folder))
        of_hcs = HEDERA if inherited.get("WAKEUPS", "").startswith("hcs") else ()
        run(table, settings, inherited=inherited, stand_ins=(*STAND_INS, *of_hcs) if settings.has_cloud else ())
    except (NotStartable, NotReady, ProcessEnded) as problem:
        print(f"stopped: {problem}", file=sys.stderr)
        return 1
    return 0


def run(
    table: Sequence[LocalFunction],
    settings: Settings,
    *,
    inherited: Mapping[str, str],
    stand_ins: Sequence[StandIn] = (),
    choose_ports: Callable[[int], list[int]] = free_ports,
) -> None:
    """Run `table` behind the gateway, over the local cloud of `stand_ins`, until SIGINT, SIGTERM or SIGHUP; then all of it has
    ended.

    Raises NotStartable, NotReady, or ProcessEnded when a program ends by itself; then, too, nothing is left.
    """
    stopping = StopSignal.of_signals()
    _require_room(settings.folder)
    if any(function.name == "devtool" for function in table):
        laid_out(settings.folder / WORKSPACE)
    for _ in range(_STARTS):
        require_free(settings.port)
        names = [*(function.name for function in table), *(one.name for one in stand_ins)]
        names += [_GRPC] if settings.grpc_python else []
        ports = dict(zip(names, choose_ports(len(names)), strict=True))
        if not settings.has_gateway:
            ports[_GATE] = settings.port
        start = _Start(table=table, settings=settings, inherited=inherited, stand_ins=stand_ins, ports=ports)
        try:
            with contextlib.ExitStack() as stack:
                processes: list[Process] = []
                for stage, probes in start.stages():
                    processes += stack.enter_context(running(stage))
                    seconds = settings.start_timeout_seconds
                    wait_until_ready(probes, processes, stopping=stopping, timeout_seconds=seconds)
                    if stopping.is_set():
                        return
                start.welcome()
                while not stopping.wait(0.2):
                    raise_if_ended(processes)
                return
        except PortLost as loss:
            print(f"{loss} found its port taken; starting again on others", file=sys.stderr)
    raise NotStartable(f"other programs took the functions' ports {_STARTS} times")


@dataclass(frozen=True, kw_only=True)
class _Start:
    """One start of a run: its programs on the `ports` that were chosen for them."""

    table: Sequence[LocalFunction]
    settings: Settings
    inherited: Mapping[str, str]
    stand_ins: Sequence[StandIn]
    ports: Mapping[str, int]

    def stages(self) -> Iterator[tuple[list[Program], list[Probe]]]:
        """Yield the programs that start together, with their probes. The entrance comes last: until then nobody gets in."""
        gateway = [self._gateway()] if self.settings.has_gateway else []
        programs = [*self._cloud(), *self._functions(), *gateway]
        entrance = gateway[0].name if gateway else _GATE
        paths = {one.name: FAULTS if one.is_http else "" for one in self.stand_ins}
        yield (
            [program for program in programs if program.name != entrance],
            [
                Probe(name, port, paths.get(name, "/health"))
                for name, port in self.ports.items()
                if name not in (entrance, _GRPC)
            ],
        )
        yield (
            [program for program in programs if program.name == entrance],
            [Probe(entrance, self.settings.port, path) for path in ("/health", _CARD)],
        )
        if self.settings.grpc_python:
            yield [self._grpc(self.settings.grpc_python)], [Probe(_GRPC, self.ports[_GRPC], "")]

    def welcome(self) -> None:
        """Print the addresses and a first question."""
        folder, urls = self.settings.folder, self._urls()
        cloud = {one.name: urls[one.name] for one in self.stand_ins if one.is_http}
        if cloud:
            (folder / CLOUD_FILE).write_text(json.dumps(cloud, indent=2))
            gcloud.write_program(folder / "bin", folder / CLOUD_FILE, root=ROOT)
            wiring.write_worker_settings(folder, cloud, tasks_url=urls.get(_TASKS, ""), token=self.settings.first_token)
        print(
            welcome(self.settings, cloud=cloud, urls=urls, grpc_port=self.ports.get(_GRPC)),
            flush=True,
        )

    def _urls(self) -> dict[str, str]:
        return {name: f"http://{LOOPBACK}:{port}" for name, port in self.ports.items()}

    def _program(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> Program:
        log = self.settings.folder / f"{name}.log"
        return Program(name=name, command=command, environment=environment, log=log)

    def _cloud(self) -> Iterator[Program]:
        environment = {**self.inherited, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        if self.stand_ins:
            yield self._program("cloud", wiring.command(self._urls()), environment)

    def _functions(self) -> Iterator[Program]:
        all_urls = self._urls()
        for function in self.table:
            urls = {each.name: all_urls[each.name] for each in self.table}
            environment = environment_of(function, self.settings, inherited=self.inherited, urls=urls)
            if _GRPC in self.ports and function.reads_routes:
                environment["GRPC_URL"] = f"{LOOPBACK}:{self.ports[_GRPC]}"
            environment |= own_settings(self.stand_ins, all_urls, function.name, inherited=self.inherited)
            command = function_command(function, port=self.ports[function.name])
            yield self._program(function.name, command, environment)

    def _grpc(self, python: Path) -> Program:
        settings = {"HUB_URL": self.settings.url, "HOST": LOOPBACK, "PORT": str(self.ports[_GRPC])}
        environment = {**self.inherited, **settings, "PYTHONUNBUFFERED": "1"}
        return self._program(_GRPC, [str(python), str(_GRPC_SERVICE / "server.py")], environment)

    def _gateway(self) -> Program:
        config = self.settings.folder / "envoy.json"
        routes = envoy.local_routes()
        bootstrap = envoy.bootstrap(port=self.settings.port, routes=routes, upstream_ports=self.ports)
        config.write_text(json.dumps(bootstrap, indent=2))
        return self._program("envoy", envoy.command(config), self.inherited)


def _require_room(folder: Path) -> None:
    """Make the folder and check that it has room for the files of this run. Raises NotStartable."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(_MIN_ROOM_BYTES))
    except OSError as refusal:
        raise NotStartable(
            f"{folder} cannot be written ({refusal.strerror}): make room, or clone this into a folder of your own"
        ) from None


def _install_grpc(python: Path) -> None:
    """Make the environment of `services/grpc`, whose packages the functions do not need. Raises NotStartable."""
    if install.main([str(python.parent.parent), str(_GRPC_SERVICE / "requirements.txt")]):
        raise NotStartable("the packages of services/grpc could not be installed; GRPC=0 runs without it")


def _commit() -> str:
    """Return the commit of the source tree, "" without its history."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip()


def function_command(function: LocalFunction, *, port: int) -> list[str]:
    """Return the command that starts a function in a functions-framework process of its own."""
    program = Path(sys.executable).with_name("functions-framework")
    address = [f"--host={LOOPBACK}", f"--port={port}"]
    return [str(program), f"--target={function.name}", f"--source={function.source}", *address]


def welcome(
    settings: Settings, *, cloud: Mapping[str, str], urls: Mapping[str, str], grpc_port: int | None = None
) -> str:
    """Return the text with the addresses, tokens and folders of the run, and a question to paste into a shell.

    `urls` are the addresses of its programs by name.
    """
    parts = [{"kind": "text", "text": _QUESTION}]
    message = {"kind": "message", "messageId": "first-question", "role": "user", "parts": parts}
    request = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    authorization = shlex.quote(f"Authorization: Bearer {settings.first_token}")
    headers = f"-H {authorization} -H 'Content-Type: application/json'"
    lines = [
        f"ready {settings.url}",
        f"development token{'s' if ',' in settings.dev_token else ''}: {settings.dev_token}",
        f"logs: {settings.folder}",
        *(f"local cloud: {name} {url} (its faults: curl {url}/__faults)" for name, url in cloud.items()),
    ]
    if cloud:
        programs = shlex.quote(f"{settings.folder}/bin")
        lines.append(f"its gcloud, for the commands of the doctor: PATH={programs}:$PATH")
        lines.append(f"the Google token of {OWNER}: {PERSON_TOKEN}")
        lines.append(f"for the Workspace worker: . {shlex.quote(f'{settings.folder}/workspace.env')}")
    if grpc_port:
        lines.append(f"gRPC: {LOOPBACK}:{grpc_port}")
    if _TASKS in urls:
        lines.append(f"for workers: TASKS_URL={urls[_TASKS]}")
    if _SAMPLE_POLICY not in urls:
        lines.append(
            "expense is left out: it knows the sample company's policy, and CORPUS_DIR names documents of yours"
        )
    if _CONSOLE in urls:
        lines.append(
            f"console, by a link that signs in once: {urls[_CONSOLE]}/sign-in/link?code={settings.sign_in_code}"
        )
    question = shlex.quote(json.dumps(request))
    return "\n".join([*lines, "ask it something:", f"  curl {settings.url}/ {headers} -d {question}"])


if __name__ == "__main__":
    sys.exit(main())
