"""Hubs, the tasks function and workers, each in a process of its own over one task store; any of them can be killed."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from a2a_hub.a2a.model import TaskStatusUpdateEvent
from a2a_hub.identity.principal import digest
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.factory import open_store
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.task_store.sqlite_recovery import ignore
from a2a_hub.task_store.store import Store
from local.functions import ROOT, functions
from local.ports import free_ports
from local.processes import Probe, Process, Program, running, wait_until_ready
from local.run import function_command
from local.settings import Settings, environment_of
from tests.fakes.signatures import KEYS
from tests.fakes.tcp_proxy import TcpProxy

Json = dict[str, Any]
CALLER, WORKER = "token-of-a-caller", "token-of-a-worker"
OWNER = "client:caller"
_CLIENTS = f"""
[[clients]]
name = "caller"
token_sha256 = "{digest(CALLER)}"
[[clients]]
name = "worker"
token_sha256 = "{digest(WORKER)}"
roles = ["developer"]
"""
_ROUTES = """
[[routes]]
id = "agent"
name = "agent"
description = "For tests."
url = "{url}"
boundary = "public"
keywords = ["agent"]
priority = 1
default = true
[[routes]]
id = "mirror"
name = "mirror"
description = "For tests."
url = "{url}"
boundary = "public"
keywords = ["mirror"]
priority = 2
passes_tasks = true
[[routes]]
id = "work"
name = "work"
description = "For tests."
role = "developer"
keywords = ["work"]
priority = 3
"""
LEASE_SECONDS = 2
FRONT = "front"
_LONGEST_END_SECONDS = 10.0
_MODES = ["text/plain"]


@dataclass(kw_only=True)
class Machine:
    """The processes by name: `hub-1`, `hub-2`, `tasks`, `worker-1` … `front` is a round robin of the hubs."""

    programs: dict[str, Program]
    ports: dict[str, int]
    store: Store
    front: TcpProxy
    processes: dict[str, Process] = field(default_factory=dict)
    _stacks: dict[str, contextlib.ExitStack] = field(default_factory=dict)

    def start(self, *names: str) -> None:
        """They run, and answer if they are asked anything."""
        for name in names:
            stack = self._stacks[name] = contextlib.ExitStack()
            (self.processes[name],) = stack.enter_context(running([self.programs[name]]))
        asked = [name for name in names if name in self.ports]
        wait_until_ready(
            [Probe(name, self.ports[name], "/health") for name in asked],
            [self.processes[name] for name in asked],
            stopping=threading.Event(),
            timeout_seconds=60,
        )

    def kill(self, name: str) -> None:
        """The process has ended without a word."""
        self.signal(name, signal.SIGKILL)
        self._stacks.pop(name).close()

    def terminate(self, name: str) -> None:
        """The process has been told to end, and has ended, as Cloud Run ends an instance: killed after ten seconds."""
        process = self.processes[name].popen
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LONGEST_END_SECONDS)
        self._stacks.pop(name).close()

    def take_from_front(self, hub: str) -> None:
        """The round robin gives this hub no new connection."""
        self.front.leave_out(f"127.0.0.1:{self.ports[hub]}")

    def give_to_front(self, hub: str) -> None:
        """The round robin gives this hub its share again."""
        self.front.take_in(f"127.0.0.1:{self.ports[hub]}")

    def signal(self, name: str, number: signal.Signals) -> None:
        """All processes of this name get the signal."""
        os.killpg(self.processes[name].popen.pid, number)

    def stop(self) -> None:
        """Nothing runs any more."""
        while self._stacks:
            self._stacks.popitem()[1].close()
        self.store.close()

    def log(self, name: str) -> str:
        """Return what the process, and those before it in its place, have written."""
        return self.programs[name].log.read_text(errors="replace")

    def call(self, hub: str, method: str, params: Json) -> Any:
        """The result of a 1.0 operation. Raises OSError or HTTPException when nobody answers, KeyError for a refusal."""
        with self._asked(hub, method, params) as response:
            return json.loads(response.read())["result"]

    def events(self, hub: str, method: str, params: Json) -> Iterator[Json]:
        """The events of a stream, up to its end, or to where it broke off."""
        with (
            contextlib.suppress(OSError, http.client.HTTPException),
            self._asked(hub, method, params) as response,
        ):
            for line in response:
                if line.startswith(b"data: "):
                    yield json.loads(line.removeprefix(b"data: "))["result"]

    @contextlib.contextmanager
    def _asked(self, hub: str, method: str, params: Json) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[hub], timeout=60)
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {CALLER}",
            # Only methods of 0.3 have a slash.
            "A2A-Version": "0.3" if "/" in method else "1.0",
        }
        with contextlib.closing(connection):
            connection.request("POST", "/", body, headers)
            yield connection.getresponse()


def message(text: str, message_id: str, *, at_once: bool = False) -> Json:
    """Return what SendMessage is asked with."""
    said = {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": text}]}
    return {
        "message": said,
        "configuration": {"acceptedOutputModes": _MODES, "returnImmediately": at_once},
    }


def ui_message(text: str, message_id: str) -> Json:
    """Return what `message/send` of 0.3 is asked with by Gemini Enterprise: no output modes."""
    said = {"kind": "message", "messageId": message_id, "role": "user", "parts": [{"kind": "text", "text": text}]}
    return {"message": said, "configuration": {"acceptedOutputModes": []}}


def text_of(value: Any) -> str:
    """All text of a task's artifacts, or of a message."""
    holders = value.get("artifacts", []) if "status" in value else [value]
    return "".join(part["text"] for holder in holders for part in holder["parts"])


def until(look: Any, *, seconds: float = 40.0) -> Any:
    """Return what `look` gives once it is something."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)
    return found


@contextlib.contextmanager
def machine(
    folder: Path,
    agent_url: str,
    *,
    hubs: int = 1,
    workers: int = 0,
    store: StoreSettings | None = None,
    settings: Mapping[str, str] | None = None,
    routes: str = "",
) -> Iterator[Machine]:
    """All of it, running; it has ended afterwards. `routes` takes the place of the table for one agent."""
    names = [*(f"hub-{number}" for number in range(1, hubs + 1)), "tasks"]
    ports = dict(zip(names, free_ports(len(names)), strict=True))
    urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    front = TcpProxy(*(f"127.0.0.1:{port}" for name, port in ports.items() if name != "tasks"))
    ports[FRONT] = int(front.address.rpartition(":")[2])
    urls["hub"] = f"http://{front.address}"
    (folder / "clients.toml").write_text(_CLIENTS)
    (folder / "routes.toml").write_text(routes or _ROUTES.format(url=agent_url))
    store = store or StoreSettings(file=folder / "tasks.sqlite3")
    environment = {
        "TASK_STORE": f"sqlite:{store.file}" if store.file else f"firestore:{store.database}",
        "GOOGLE_CLOUD_PROJECT": store.project,
        "CLIENTS_FILE": str(folder / "clients.toml"),
        "ROUTES_FILE": str(folder / "routes.toml"),
        "TASK_LEASE_SECONDS": str(LEASE_SECONDS),
        "TASK_CANCEL_POLL_SECONDS": "0.2",
        "TASK_STORE_AFTER_SECONDS": "0.3",
        "TASK_SWEEP_SECONDS": "0.2",
        "WORKER_POLL_SECONDS": "0.2",
        "TASK_MOST_ATTEMPTS": "50",
        **(settings or {}),
    }
    programs = [_function(name, folder, ports[name], urls, environment) for name in names]
    programs += [_worker(f"worker-{number}", folder, urls["tasks"]) for number in range(1, workers + 1)]
    with front:
        opened = open_store(store, now=time.time, new_id=new_id, report=ignore)
        made = Machine(
            programs={program.name: program for program in programs},
            ports=ports,
            store=opened,
            front=front,
        )
        try:
            made.start(*made.programs)
            yield made
        finally:
            made.stop()


def _function(name: str, folder: Path, port: int, urls: Mapping[str, str], environment: Mapping[str, str]) -> Program:
    (function,) = (one for one in functions() if one.name == name.partition("-")[0])
    unwanted = ("ALLOW_ANONYMOUS", "TASK_STORE", "GOOGLE_CLOUD_PROJECT", "HUB_DEV_TOKEN")
    inherited = {name: value for name, value in os.environ.items() if name not in unwanted}
    hub_port = int(urls["hub"].rpartition(":")[2])
    settings = Settings(
        port=hub_port, dev_token="a-development-token", folder=folder, has_gateway=False, signing_keys=KEYS
    )
    return Program(
        name=name,
        command=function_command(function, port=port),
        environment=environment_of(
            function,
            settings,
            inherited={**inherited, **environment},
            urls={"hub": urls["hub"], "tasks": urls["tasks"]},
        ),
        log=folder / f"{name}.log",
    )


def _worker(name: str, folder: Path, tasks_url: str) -> Program:
    return Program(
        name=name,
        command=[sys.executable, "-m", "tests.e2e.soak_worker"],
        environment={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "TASKS_URL": tasks_url,
            "WORKER_TOKEN": WORKER,
            "LEASE_SECONDS": str(LEASE_SECONDS),
        },
        log=folder / f"{name}.log",
    )


def ended(run: Machine, task_id: str, *, hub: str = "hub-1") -> Any:
    """The task once it has ended; its log is whole, and has one end."""

    def look() -> Any:
        with contextlib.suppress(OSError, http.client.HTTPException, KeyError):
            task = run.call(hub, "GetTask", {"id": task_id})
            return task if task["status"]["state"] == "TASK_STATE_COMPLETED" else None
        return None

    task = until(look)
    entries = run.store.entries(task_id, after=0)
    assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
    ends = [
        entry
        for entry in entries
        if isinstance(entry.event, TaskStatusUpdateEvent) and entry.event.status.state.terminal
    ]
    assert ends == entries[-1:]
    return task
