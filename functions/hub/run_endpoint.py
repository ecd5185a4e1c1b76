"""POST /internal/tasks:run: the `tasks` function has an abandoned stored task run here."""

from __future__ import annotations

from typing import Any

import msgspec

from a2a_hub.a2a import errors, protojson
from a2a_hub.a2a.error_response import problem, read_body
from a2a_hub.a2a.errors import A2AError, invalid_field
from a2a_hub.a2a.model import TaskState
from a2a_hub.http.messages import JSON, Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import TASKS_FUNCTION
from a2a_hub.task_store.store import LeaseLost, TaskEnded, Unavailable
from a2a_hub.tasks.runner import Runner
from a2a_hub.telemetry.log import Record

PATH = "/internal/tasks:run"
_MOST_BYTES = 10_000


class RunEndpoint:
    """The endpoint at `PATH`, for the `tasks` function alone; for everybody else there is nothing there."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def handle(self, request: Request, caller: Caller, record: Record) -> Response | None:
        """Run the task of the body's `taskId` to the end of its turn: `{"state"}`, null where there was nothing to run."""
        if caller.principal is None or caller.principal.subject != TASKS_FUNCTION:
            return None
        try:
            if request.method != "POST":
                raise A2AError(errors.METHOD_NOT_ALLOWED, headers={"allow": "POST"})
            task_id = _task_id(request)
            record["taskId"] = task_id
            state = self._run(task_id, record)
            record.setdefault("outcome", "ok")
            return Response(headers={"content-type": JSON}, body=msgspec.json.encode({"state": state}))
        except A2AError as error:
            refusal = error
        except Unavailable:
            refusal = A2AError(errors.UNAVAILABLE, "Tasks cannot be reached at the moment")
        record["outcome"] = refusal.kind.reason
        return problem(refusal, record)

    def _run(self, task_id: str, record: Record) -> TaskState | None:
        try:
            return self._runner.run_again(task_id, request_id=record["requestId"], record=record)
        except (LeaseLost, TaskEnded):
            return None


def _task_id(request: Request) -> str:
    body = read_body(request, _MOST_BYTES)
    value: Any = protojson.decode(body) if body else None
    task_id = value.get("taskId") if isinstance(value, dict) else None
    if not isinstance(task_id, str) or not task_id:
        raise invalid_field("taskId", "must be a string")
    return task_id
