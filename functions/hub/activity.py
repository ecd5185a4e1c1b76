"""`GET /activity`: for operators, the work that is unfinished, with its leases, and the misses of the last days."""

from collections.abc import Collection

from a2a_hub.a2a import protojson
from a2a_hub.a2a.errors import UNAVAILABLE, A2AError
from a2a_hub.http.messages import JSON, Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.task_store.store import TaskStore, Unavailable, UnfinishedTask
from a2a_hub.telemetry import audit
from a2a_hub.telemetry.log import Record
from functions.hub import schemas
from functions.hub.doctor import require_operator
from functions.hub.misses import DAYS, Misses

PATH = "/activity"
_MOST_TASKS = 100


class Activity:
    """The endpoint at `PATH`. `store` is the task store, if there is one; `operators`: see `is_operator`."""

    def __init__(self, store: TaskStore | None, misses: Misses, *, operators: Collection[str]) -> None:
        self._store = store
        self._misses = misses
        self._operators = operators

    def handle(self, request: Request, caller: Caller, record: Record) -> Response:
        """Return the activity. Raises PERMISSION_DENIED, UNAVAILABLE."""
        require_operator(caller, self._operators)
        audit.record("read", caller.principal, page=request.path, request=record["requestId"])
        limit = caller.principal.routes if caller.principal else None
        try:
            tasks = self._store.unfinished(limit=_MOST_TASKS) if self._store and limit is None else ()
            found = list(self._misses.found())
        except Unavailable:
            raise A2AError(UNAVAILABLE, "Tasks cannot be reached at the moment") from None
        misses = [
            schemas.Miss(kind=miss.kind, route=miss.route, text=miss.text or None, count=count)
            for miss, count in found
            if limit is None or miss.route in limit
        ]
        body = protojson.encode(schemas.Activity(tasks=[_task(task) for task in tasks], misses=misses, days=DAYS))
        return Response(headers={"content-type": JSON}, body=body)


def _task(task: UnfinishedTask) -> schemas.UnfinishedTask:
    return schemas.UnfinishedTask(
        id=task.id,
        role=task.role or None,
        state=task.state.name,
        holder=task.holder or None,
        attempt=task.attempt,
        lease_until=task.lease_until or None,
        created_at=task.created_at,
    )
