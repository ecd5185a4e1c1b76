"""A hub and its tasks function, each in its own process, over the sample table of roles; and workers, in theirs."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.request import urlopen

from a2a_hub.identity.principal import digest
from local.functions import ROOT, functions
from local.ports import free_ports
from local.processes import Probe, Process, Program, running, wait_until_ready
from local.run import function_command
from local.settings import Settings, environment_of
from tests.e2e.callers import Answer, Caller
from tests.fakes.signatures import KEYS

USER, OTHER_USER = "token-of-a-user", "token-of-another-user"
WORKER, REVIEWER = "token-of-a-developer", "token-of-a-reviewer"
_NAMES = ("hub", "tasks")
_CLIENTS = f"""
[[clients]]
name = "user"
token_sha256 = "{digest(USER)}"
[[clients]]
name = "other-user"
token_sha256 = "{digest(OTHER_USER)}"
[[clients]]
name = "builder"
token_sha256 = "{digest(WORKER)}"
roles = ["developer"]
[[clients]]
name = "reviewer"
token_sha256 = "{digest(REVIEWER)}"
roles = ["reviewer"]
"""


@dataclass(kw_only=True)
class WorkedHub:
    """The run. `restart` puts another process in a function's place, at the same address."""

    folder: Path
    ports: dict[str, int]
    environments: dict[str, dict[str, str]]
    stacks: dict[str, contextlib.ExitStack] = field(default_factory=dict)
    processes: dict[str, Process] = field(default_factory=dict)

    @property
    def tasks_url(self) -> str:
        """Return where workers fetch tasks."""
        return f"http://127.0.0.1:{self.ports['tasks']}"

    def user(self, token: str = USER) -> Caller:
        """Somebody who asks the hub."""
        return Caller(port=self.ports["hub"], token=token)

    def worker(self, token: str = WORKER) -> Caller:
        """A worker whose every request the test makes itself."""
        return Caller(port=self.ports["tasks"], token=token)

    def start(self, names: Sequence[str] = _NAMES) -> None:
        """The functions answer."""
        for name in names:
            (function,) = (one for one in functions() if one.name == name)
            program = Program(
                name=name,
                command=function_command(function, port=self.ports[name]),
                environment=self.environments[name],
                log=self.folder / f"{name}.log",
            )
            stack = self.stacks[name] = contextlib.ExitStack()
            (self.processes[name],) = stack.enter_context(running([program]))
        wait_until_ready(
            [Probe(name, self.ports[name], "/health") for name in names],
            [self.processes[name] for name in names],
            stopping=threading.Event(),
            timeout_seconds=60,
        )

    def kill(self, name: str) -> None:
        """The function's processes have ended without a word."""
        os.killpg(self.processes[name].popen.pid, signal.SIGKILL)
        self.stacks[name].close()

    def send(self, text: str, *, token: str = USER, **options: Any) -> Any:
        """The result of a 1.0 SendMessage."""
        answer = self.user(token).post("/", request(text, **options), {"A2A-Version": "1.0"})
        value = answer.json
        assert "result" in value, value
        return value["result"]

    def operation(self, method: str, params: object, *, token: str = USER) -> Any:
        """The result of a 1.0 operation on a task."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        value = self.user(token).post("/", body, {"A2A-Version": "1.0"}).json
        assert "result" in value, value
        return value["result"]

    def lease(self, **fields: Any) -> Answer:
        """Return what a developer is given."""
        return self.worker().post("/v1/tasks:lease", {"roles": ["developer"], **fields})

    def write(self, leased: dict[str, Any], verb: str, **fields: Any) -> Answer:
        """A write under a lease."""
        path = f"/v1/tasks/{leased['taskId']}:{verb}"
        return self.worker().post(path, {"lease": leased["lease"], **fields})


class WorkerProcess:
    """A worker program; its output is in `log`. `python` may be another environment's, and `environ` what it is started with."""

    def __init__(
        self,
        hub: WorkedHub,
        *arguments: str,
        token: str = WORKER,
        python: Path = Path(sys.executable),
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._command = [str(python), *arguments]
        self._environment = {
            **environ,
            "PYTHONPATH": str(ROOT),
            "TASKS_URL": hub.tasks_url,
            "WORKER_TOKEN": token,
        }

    def __enter__(self) -> Self:
        self.popen = subprocess.Popen(self._command, env=self._environment, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.popen.kill()
        self.popen.communicate()
        # A function that has answered this has noticed that the worker's connection ended, and gives it no further task.
        with contextlib.suppress(OSError):
            urlopen(f"{self._environment['TASKS_URL']}/health", timeout=30).close()

    def line(self) -> str:
        """The next line that it writes."""
        assert self.popen.stdout is not None
        return self.popen.stdout.readline().rstrip("\n")

    def kill(self) -> None:
        """It has ended without a word."""
        self.popen.kill()
        self.popen.wait()


@contextlib.contextmanager
def worked_hub(folder: Path, **settings: str) -> Iterator[WorkedHub]:
    """The run with these settings; it has ended afterwards."""
    clients = folder / "clients.toml"
    clients.write_text(_CLIENTS)
    ports = dict(zip(_NAMES, free_ports(len(_NAMES)), strict=True))
    urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    unwanted = ("ALLOW_ANONYMOUS", "TASK_STORE", "GOOGLE_CLOUD_PROJECT")
    inherited = {name: value for name, value in os.environ.items() if name not in unwanted}
    common = {"CLIENTS_FILE": str(clients), "ROUTES_FILE": str(ROOT / "workers/routes.toml")}
    own = Settings(
        port=ports["hub"], dev_token="a-development-token", folder=folder, has_gateway=False, signing_keys=KEYS
    )
    environments = {
        function.name: environment_of(function, own, inherited=inherited | common | settings, urls=urls)
        for function in functions()
        if function.name in _NAMES
    }
    hub = WorkedHub(folder=folder, ports=ports, environments=environments)
    try:
        hub.start()
        yield hub
    finally:
        for stack in hub.stacks.values():
            stack.close()


# Whoever names nothing but text is taken for a user interface.
_MODES = ["text/plain", "application/json"]
_numbers = iter(range(1, 1_000_000))


def request(
    text: str,
    *,
    context_id: str | None = None,
    skill: str | None = None,
    at_once: bool = False,
    ui: bool = False,
    streaming: bool = False,
) -> dict[str, Any]:
    """A JSON-RPC request as a 1.0 client sends it, or with `ui` as Gemini Enterprise does (0.3)."""
    message: dict[str, Any] = {"messageId": f"message-{next(_numbers)}"}
    if context_id:
        message["contextId"] = context_id
    if skill:
        message["metadata"] = {"skill": skill}
    if ui:
        message |= {"kind": "message", "role": "user", "parts": [{"kind": "text", "text": text}]}
        method = "message/stream" if streaming else "message/send"
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
    message |= {"role": "ROLE_USER", "parts": [{"text": text}]}
    params = {
        "message": message,
        "configuration": {"returnImmediately": at_once, "acceptedOutputModes": _MODES},
    }
    method = "SendStreamingMessage" if streaming else "SendMessage"
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
