"""What a task store is, as plainly as it can be said: a list of tasks, one process, no files."""

import builtins
from collections.abc import Callable, Sequence

from a2a_hub.a2a.model import Event, Message, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent
from a2a_hub.a2a.protojson import seconds_of
from a2a_hub.task_store.store import (
    AlreadyRunning,
    Entry,
    Lease,
    LeaseLost,
    NewTask,
    Page,
    Position,
    PushConfig,
    StoredTask,
    TaskEnded,
    TaskExists,
    TaskQuery,
    TooLarge,
    Usage,
    WrongVersion,
)
from a2a_hub.task_store.task_log import apply_events, event_bytes
from tests.contract.task_store.model_based.model_push import ModelTask, PushModel

_ENDING_BYTES = 64_000
_TO_RUN = (TaskState.SUBMITTED, TaskState.WORKING)


class Model(PushModel):
    """Does what `TaskStore` and `PushStore` say. `new_token` and `new_number` are set to what the store under
    test gave out.
    """

    def __init__(self, clock: Callable[[], float], max_task_bytes: int) -> None:
        super().__init__(clock)
        self._most = max_task_bytes
        self.new_token = ""
        self.new_number = 0
        self._numbers: set[tuple[str, int]] = set()

    def create(self, new: NewTask) -> StoredTask:
        if len(event_bytes(new.task)) > self._most:
            raise TooLarge(new.task.id)
        running = self.running(new.owner, new.request_key)
        if running:
            raise AlreadyRunning(running)
        if self.find(new.task.id):
            raise TaskExists(new.task.id)
        now, status = self.clock(), new.task.status
        assert (new.owner, self.new_number) not in self._numbers
        self._numbers.add((new.owner, self.new_number))
        one = ModelTask(
            id=new.task.id,
            owner=new.owner,
            number=self.new_number,
            role=new.role,
            payload=new.payload,
            request_key=new.request_key,
            created_at=now,
            updated_at=seconds_of(status.timestamp) if status.timestamp else now,
            settled_at=now if status.state.settled else 0.0,
            task=new.task,
            log=[new.task],
        )
        if new.lease:
            one.token, one.lease_until, one.attempt = new.lease, now + new.lease_seconds, 1
        self.kept.append(one)
        if new.push:
            self.put(one, new.push, delivered=0)
        return one.stored()

    def get(self, task_id: str, *, owner: str | None) -> StoredTask | None:
        one = self.find(task_id)
        return one.stored() if one and owner in (None, one.owner) else None

    def numbered(self, owner: str, number: int) -> StoredTask | None:
        found = [one for one in self.kept if (one.owner, one.number) == (owner, number)]
        return found[0].stored() if found else None

    def running(self, owner: str, request_key: str) -> StoredTask | None:
        found = [one for one in self.kept if (one.owner, one.request_key) == (owner, request_key) and request_key]
        in_flight = [one for one in found if one.state in _TO_RUN]
        repeatable = [one for one in found if one.repeat_until > self.clock()]
        joined = [*repeatable, *in_flight]
        return joined[-1].stored() if joined else None

    def waiting(self, owner: str, context_id: str) -> StoredTask | None:
        states = (TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED)
        found = self._newest(owner, TaskQuery(context_id=context_id, states=states))
        return found[0].stored() if found else None

    def append(
        self,
        task_id: str,
        events: Sequence[Event],
        *,
        lease: str | None = None,
        expected_version: int | None = None,
        payload: bytes | None = None,
        request_key: str = "",
        push: PushConfig | None = None,
        repeat_until: float = 0.0,
    ) -> StoredTask:
        one, now = self.known(task_id), self.clock()
        if expected_version not in (None, len(one.log)):
            raise WrongVersion(task_id)
        if one.state.terminal or any(map(_ends, events[:-1])):
            raise TaskEnded(task_id)
        if one.lease_until > now if lease is None else not one.is_held_by(lease, now):
            raise LeaseLost(task_id)
        added = sum(len(event_bytes(event)) for event in events)
        ends = bool(events) and _ends(events[-1])
        if one.size + added > self._most + (_ENDING_BYTES if ends else 0):
            raise TooLarge(task_id)
        waited, before = one.state.interrupted, len(one.log)
        one.log += events
        one.task = apply_events(None, one.log)
        status = one.task.status
        one.updated_at = seconds_of(status.timestamp) if status.timestamp else now if events else one.updated_at
        if waited and not status.state.settled:
            one.attempt = 0
        one.settled_at = now if status.state.settled else 0.0
        one.repeat_until = (repeat_until or one.repeat_until) if status.state.settled else 0.0
        if status.state.settled:
            one.let_go()
            one.not_before = 0.0
        one.payload = one.payload if payload is None else payload
        one.request_key = request_key or one.request_key
        if push:
            self.put(one, push, delivered=before)
        return one.stored()

    def entries(self, task_id: str, *, after: int, limit: int = 1000) -> list[Entry]:
        one = self.find(task_id)
        log = enumerate(one.log, start=1) if one else ()
        return [Entry(sequence, event) for sequence, event in log if sequence > after][:limit]

    def wait(self, task_id: str, *, after: int, timeout_seconds: float) -> bool:  # noqa: ARG002 - the protocol's
        one = self.find(task_id)
        return (len(one.log) if one else 0) > after

    def list(self, owner: str, query: TaskQuery, *, size: int, after: Position | None) -> Page:
        found = self._newest(owner, query)
        rest = [one for one in found if not after or (one.updated_at, one.id) < (after.updated_at, after.task_id)]
        shown = rest[:size]
        last = Position(shown[-1].updated_at, shown[-1].id) if len(rest) > size else None
        return Page(tasks=tuple(one.stored() for one in shown), next=last, total=len(found))

    def lease(
        self,
        holder: str,  # noqa: ARG002 - the protocol's
        *,
        seconds: float,
        roles: Sequence[str],
        task_id: str | None = None,
    ) -> Lease | None:
        found = [one for one in self._due(roles) if task_id in (None, one.id)]
        if not found:
            return None
        one = found[0]
        one.attempt += 1
        one.not_before = 0.0
        one.token, one.lease_until = self.new_token, self.clock() + seconds
        return Lease(stored=one.stored(), token=one.token)

    def due(self, roles: Sequence[str] | None, *, limit: int) -> builtins.list[str]:
        return [one.id for one in self._due(roles)][:limit]

    def renew(self, task_id: str, lease: str, *, seconds: float) -> StoredTask:
        one, now = self.known(task_id), self.clock()
        if not one.is_held_by(lease, now):
            raise LeaseLost(task_id)
        one.lease_until = now + seconds
        return one.stored()

    def next_due(self, roles: Sequence[str] | None) -> float | None:
        times = [one.due_at for one in self.kept if (roles is None or one.role in roles) and one.state in _TO_RUN]
        return max(min(times), self.clock()) if times else None

    def release(self, task_id: str, lease: str, *, due_at: float | None = None) -> None:
        one = self.find(task_id)
        if one and one.token == lease:
            one.let_go()
            if due_at is not None:
                one.attempt, one.not_before = max(0, one.attempt - 1), due_at

    def request_cancel(self, task_id: str) -> StoredTask:
        one = self.known(task_id)
        if one.state.terminal:
            raise TaskEnded(task_id)
        one.cancel_requested, one.not_before = True, 0.0
        return one.stored()

    def purge(self, *, ended_before: float, limit: int) -> int:
        old = [one for one in self.kept if 0 < one.settled_at < ended_before]
        gone = sorted(old, key=lambda one: one.settled_at)[:limit]
        self.kept = [one for one in self.kept if one not in gone]
        return len(gone)

    def usage(self, owner: str) -> Usage:
        of_owner = [one for one in self.kept if one.owner == owner]
        active = sum(one.state in _TO_RUN for one in of_owner)
        return Usage(tasks=len(of_owner), size_bytes=sum(one.size for one in of_owner), active=active)

    def _newest(self, owner: str, query: TaskQuery) -> builtins.list[ModelTask]:
        found = [
            one
            for one in self.kept
            if one.owner == owner
            and query.context_id in (None, one.task.context_id or "")
            and (not query.states or one.state in query.states)
            and (query.updated_since is None or one.updated_at >= query.updated_since)
        ]
        return sorted(found, key=lambda one: (one.updated_at, one.id), reverse=True)

    def _due(self, roles: Sequence[str] | None) -> builtins.list[ModelTask]:
        now = self.clock()
        found = [
            one
            for one in self.kept
            if (roles is None or one.role in roles) and one.state in _TO_RUN and one.due_at <= now
        ]
        return sorted(found, key=lambda one: one.due_at)


def _ends(event: Event) -> bool:
    match event:
        case Task(status=status) | TaskStatusUpdateEvent(status=status):
            return status.state.terminal
        case Message() | TaskArtifactUpdateEvent():
            return False
