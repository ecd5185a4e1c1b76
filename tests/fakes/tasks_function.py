"""The tasks function as it is wired for production, called in this process, beside the store that it looks after."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from a2a_hub.a2a.model import Message, Part, Role, Task, TaskState, TaskStatus
from a2a_hub.http.messages import Request, Response, body_of
from a2a_hub.identity.principal import Principal, digest
from a2a_hub.identity.service_tokens import ServiceTokens
from a2a_hub.runtime.ids import new_id, timestamp
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import NewTask, StoredTask
from a2a_hub.telemetry.log import Log
from functions.tasks.app import build
from functions.tasks.config import read
from tests.fakes.signatures import TASKS_SETTINGS, signed

DEVELOPER, REVIEWER, ALL_ROLES, NO_ROLE = (
    "developers-token",
    "reviewers-token",
    "token-of-all-roles",
    "no-roles-token",
)
_CLIENTS = f"""
[[clients]]
name = "developer-1"
token_sha256 = "{digest(DEVELOPER)}"
roles = ["developer"]
[[clients]]
name = "reviewer-1"
token_sha256 = "{digest(REVIEWER)}"
roles = ["reviewer", "architect"]
[[clients]]
name = "reader"
token_sha256 = "{digest(NO_ROLE)}"
"""


class Tasks:
    """The function, over a store in `folder`."""

    def __init__(self, folder: Path, tokens: ServiceTokens | None = None, /, **settings: str) -> None:
        self.log_lines: list[bytes] = []
        clients = folder / "clients.toml"
        clients.write_text(_CLIENTS)
        self.file = folder / "tasks.sqlite3"
        self.store = SqliteTaskStore(self.file, clock=time.time, new_token=new_id)
        environment = {
            "CLIENTS_FILE": str(clients),
            "HUB_DEV_TOKEN": ALL_ROLES,
            "HUB_URL": "http://127.0.0.1:9",
            **TASKS_SETTINGS,
            "IAM_CREDENTIALS": "none",
            "TASK_STORE": f"sqlite:{self.file}",
            # What nobody is told of is not to be found by looking while a test runs.
            "TASK_SWEEP_SECONDS": "600",
            "WORKER_POLL_SECONDS": "60",
            **settings,
        }
        log = Log(self.log_lines.append, clock=time.monotonic, new_id=new_id, function="tasks")
        self._handle = build(read(environment), log=log, tokens=tokens)

    def request(
        self, path: str, body: bytes, *, token: str | None = None, method: str = "POST", **headers: str
    ) -> Response:
        """One request."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            named["authorization"] = f"Bearer {token}"
        return self._handle(Request(method=method, path=path, headers=named, read_body=body_of(body)))

    def ask(self, path: str, value: object, *, token: str | None = DEVELOPER) -> tuple[int, Any]:
        """The status and the decoded body of the answer to a worker's request."""
        response = self.request(path, json.dumps(value).encode(), token=token)
        assert isinstance(response.body, bytes)
        return response.status, json.loads(response.body) if response.body else None

    def lease(self, *, token: str = DEVELOPER, **fields: object) -> dict[str, Any]:
        """A task that is due."""
        status, leased = self.ask("/v1/tasks:lease", fields, token=token)
        assert status == 200, leased
        return cast("dict[str, Any]", leased)

    def write(self, leased: Mapping[str, Any], verb: str, **fields: object) -> tuple[int, Any]:
        """A write under a lease."""
        return self.ask(f"/v1/tasks/{leased['taskId']}:{verb}", {"lease": leased["lease"], **fields})

    def signed(self, function: str, *, path: str, body: bytes, audience: str = "tasks") -> dict[str, str]:
        """The header with which another function of the hub says who it is."""
        principal = Principal(subject=f"function:{function}")
        found = signed(principal, "POST", path, body, function=function, audience=audience)
        return {name.replace("-", "_"): value for name, value in found.items()}

    def add(self, text: str = "Fix the login page", *, role: str = "developer", metadata: Any = None) -> StoredTask:
        """A task of this role that nobody has."""
        task_id, context_id = new_id(), new_id()
        message = Message(
            message_id=new_id(),
            role=Role.USER,
            parts=(Part(text=text),),
            context_id=context_id,
            task_id=task_id,
            metadata=metadata,
        )
        status = TaskStatus(state=TaskState.SUBMITTED, timestamp=timestamp())
        task = Task(id=task_id, context_id=context_id, status=status, history=(message,))
        return self.store.create(NewTask(task=task, owner="client:somebody", role=role))

    def task(self, leased: Mapping[str, Any]) -> Task:
        """The task as it is in the store."""
        stored = self.store.get(leased["taskId"], owner=None)
        assert stored is not None
        return stored.task

    def close(self) -> None:
        """Gives the store back."""
        self.store.close()
