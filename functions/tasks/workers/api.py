"""The workers' API: POST /v1/tasks:lease, and POST /v1/tasks/{id}:{renew,progress,complete,fail,requireInput,release}."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from a2a_hub.a2a import protojson
from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import METHOD_NOT_ALLOWED, A2AError, invalid_field
from a2a_hub.a2a.model import Wire
from a2a_hub.http.messages import JSON, Request, Response
from a2a_hub.task_store.store import Lease
from a2a_hub.telemetry.log import Record
from functions.tasks.workers import leasing, wire
from functions.tasks.workers.identity import Worker
from functions.tasks.workers.lease_operations import LeaseOperations
from functions.tasks.workers.leasing import Leasing
from functions.tasks.workers.wire import worker_status

S = TypeVar("S", bound=Wire)
Write = Callable[[LeaseOperations, Worker, str, Any], wire.WriteResult]
_MAX_WAIT_SECONDS = 60
_MAX_LEASE_SECONDS = 600
_MAX_ROLES = 100
_LEASE = "/v1/tasks:lease"
_PATH = re.compile(r"/v1/tasks/([^/:]{1,200}):([A-Za-z]+)")
_WRITES: Mapping[str, tuple[type[Wire], Write]] = {
    "renew": (wire.Renew, LeaseOperations.renew),
    "progress": (wire.Progress, LeaseOperations.progress),
    "complete": (wire.Complete, LeaseOperations.complete),
    "fail": (wire.Fail, LeaseOperations.fail),
    "requireInput": (wire.RequireInput, LeaseOperations.require_input),
    "release": (wire.LeasedRequest, LeaseOperations.release),
}


class WorkersApi(Struct, frozen=True):
    """The HTTP endpoint of workers. `roles` returns the roles of the route table."""

    leasing: Leasing
    operations: LeaseOperations
    roles: Callable[[], Collection[str]]
    max_body_bytes: int

    def handle(self, request: Request, worker: Worker, record: Record) -> Response | None:
        """Return the response; None for another path. Raise A2AError."""
        if request.path == _LEASE:
            return self._lease(request, self._read(request, wire.LeaseRequest), worker, record)
        found = _PATH.fullmatch(request.path)
        if found is None or found[2] not in _WRITES:
            return None
        task_id, (form, write) = found[1], _WRITES[found[2]]
        record["taskId"] = task_id
        sent = self._read(request, form)
        if isinstance(sent, wire.Renew):
            _within("leaseSeconds", sent.lease_seconds, 1, _MAX_LEASE_SECONDS)
            _within("waitSeconds", sent.wait_seconds, 0, min(_MAX_WAIT_SECONDS, sent.lease_seconds))
        result = write(self.operations, worker, task_id, sent)
        record["result"] = result.status
        return _json(result)

    def _lease(self, request: Request, sent: wire.LeaseRequest, worker: Worker, record: Record) -> Response:
        _within("waitSeconds", sent.wait_seconds, 0, _MAX_WAIT_SECONDS)
        _within("leaseSeconds", sent.lease_seconds, 1, _MAX_LEASE_SECONDS)
        if len(sent.roles) > _MAX_ROLES:
            raise invalid_field("roles", f"must be at maximum {_MAX_ROLES}")
        roles = worker.roles_for(sent.roles, self.roles())
        lease = self.leasing.lease(
            worker.name,
            roles,
            seconds=sent.lease_seconds,
            wait_seconds=sent.wait_seconds,
            task_id=sent.task_id or None,
            is_connected=request.client_is_there,
        )
        if lease is None:
            record["result"] = "nothing_due"
            return Response(status=204)
        record |= {"result": "leased", "taskId": lease.stored.task.id, "attempt": lease.stored.attempt}
        return _json(_leased(lease, sent.lease_seconds))

    def _read(self, request: Request, form: type[S]) -> S:
        if request.method != "POST":
            raise A2AError(METHOD_NOT_ALLOWED, headers={"allow": "POST"})
        body = read_body(request, self.max_body_bytes)
        return protojson.read(form, protojson.decode(body or b"{}"))


def _leased(lease: Lease, seconds: int) -> wire.LeasedTask:
    stored, task = lease.stored, lease.stored.task
    return wire.LeasedTask(
        task_id=task.id,
        context_id=task.context_id or "",
        role=stored.role,
        status=worker_status(task.status.state),
        attempt=stored.attempt,
        lease=lease.token,
        lease_seconds=seconds,
        version=stored.version,
        text=leasing.last_user_text(task),
        history=task.history,
        artifacts=task.artifacts,
    )


def _within(name: str, value: int, minimum: int, maximum: int) -> None:
    if not minimum <= value <= maximum:
        raise invalid_field(name, f"must be from {minimum} to {maximum}")


def _json(value: Wire) -> Response:
    return Response(headers={"content-type": JSON}, body=protojson.encode(value))
