"""A task's head: everything about it but the log and what that folds to; and what may happen to it, the same in every store."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a.model import Event, Message, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent
from a2a_hub.a2a.protojson import seconds_of
from a2a_hub.task_store.store import LeaseLost, NewTask, StoredTask, TaskEnded, TooLarge, WrongVersion

DEFAULT_TASK_BYTES = 20_000_000
# A task that has grown to its limit can still be ended, with a status that says why.
_ENDING_BYTES = 64_000
_LEAST_TAIL_BYTES = 8_000
_PAGE_BYTES = 20_000_000
LEASABLE = (TaskState.SUBMITTED, TaskState.WORKING)


class TaskRecord(Struct, frozen=True, kw_only=True):
    """`size` counts the bytes of the log; the snapshot is of the log up to `snapshot_version`, and `snapshot_size` bytes of it.

    `token` is empty and `lease_until` 0 without a lease; `ended_at` is when its last turn ended, 0 while one goes on.
    """

    id: str
    owner: str
    number: int
    context_id: str
    state: TaskState
    version: int
    size: int
    snapshot_version: int
    snapshot_size: int
    role: str
    request_key: str
    attempt: int
    holder: str
    token: str
    lease_until: float
    cancel_requested: bool
    created_at: float
    updated_at: float
    ended_at: float

    @property
    def leasable(self) -> bool:
        """Whether there is something to run, leased or not."""
        return self.state in LEASABLE

    @property
    def due_at(self) -> float | None:
        """Since when, or from when on, somebody may lease the task; None while there is nothing to run.

        A lease that ran out puts its task behind those that came before, so that one that kills its runner does not stop all.
        """
        return (self.lease_until or self.created_at) if self.leasable else None


def new_record(new: NewTask, *, number: int, size: int, now: float) -> TaskRecord:
    """The head of a task that is being made."""
    state = new.task.status.state
    return TaskRecord(
        id=new.task.id,
        owner=new.owner,
        number=number,
        context_id=new.task.context_id or "",
        state=state,
        version=1,
        size=size,
        snapshot_version=0,
        snapshot_size=0,
        role=new.role,
        request_key=new.request_key,
        attempt=1 if new.lease else 0,
        holder="",
        token=new.lease,
        lease_until=now + new.lease_seconds if new.lease else 0.0,
        cancel_requested=False,
        created_at=now,
        updated_at=_status_time(new.task, otherwise=now),
        ended_at=now if state.settled else 0.0,
    )


def check_append(
    record: TaskRecord,
    events: Sequence[Event],
    *,
    lease: str | None,
    expected_version: int | None,
    now: float,
) -> None:
    """Raises what `TaskStore.append` promises, for everything but the size."""
    if expected_version is not None and expected_version != record.version:
        raise WrongVersion(record.id)
    if record.state.terminal or any(_ends(event) for event in events[:-1]):
        raise TaskEnded(record.id)
    check_lease(record, lease, now=now)
    for event in events:
        if _task_id(event) not in (None, record.id):
            raise ValueError("an event of another task")


def check_lease(record: TaskRecord, lease: str | None, *, now: float) -> None:
    """Raises LeaseLost unless `lease` is the running one, or there is none and it is None."""
    running = record.lease_until > now
    if running if lease is None else not (running and record.token == lease):
        raise LeaseLost(record.id)


def check_size(record: TaskRecord, events: Sequence[Event], added: int, *, limit: int) -> None:
    """Raises TooLarge when the log would outgrow `limit`."""
    ends = bool(events) and _ends(events[-1])
    if record.size + added > limit + (_ENDING_BYTES if ends else 0):
        raise TooLarge(record.id)


def record_after(
    record: TaskRecord, task: Task, *, count: int, added: int, now: float, request_key: str = ""
) -> TaskRecord:
    """The head after `count` more entries of `added` bytes, which fold to `task`; of that request, if it is not empty."""
    state = task.status.state
    changed = replace(
        record,
        context_id=task.context_id or "",
        state=state,
        version=record.version + count,
        size=record.size + added,
        request_key=request_key or record.request_key,
        updated_at=_status_time(task, otherwise=now if count else record.updated_at),
        # The client's answer is new work: what was tried before it does not count against it.
        attempt=0 if record.state.interrupted and not state.interrupted else record.attempt,
        ended_at=now if state.settled else 0.0,
    )
    return without_lease(changed) if state.settled else changed


def with_lease(record: TaskRecord, *, holder: str, token: str, until: float) -> TaskRecord:
    """The head with its next lease."""
    return replace(record, attempt=record.attempt + 1, holder=holder, token=token, lease_until=until)


def without_lease(record: TaskRecord) -> TaskRecord:
    """The head with nobody writing."""
    return replace(record, holder="", token="", lease_until=0.0)


def snapshot_due(record: TaskRecord) -> bool:
    """Whether the fold is to be kept: at the end, and whenever the tail behind the last one is half as long as that.

    So the snapshots of a log, however long, take at most four times its own size.
    """
    tail = record.size - record.snapshot_size
    return record.state.terminal or tail > max(_LEAST_TAIL_BYTES, record.snapshot_size // 2)


def page_length(records: Sequence[TaskRecord], *, size: int) -> int:
    """How many of these tasks, one at least, make a page of at most `size` that is not too large to hold in memory."""
    most, total = 0, 0
    for record in records[:size]:
        total += record.size
        if most and total > _PAGE_BYTES:
            break
        most += 1
    return most


def stored(record: TaskRecord, task: Task, work: bytes) -> StoredTask:
    """What the store's callers see."""
    return StoredTask(
        task=task,
        owner=record.owner,
        number=record.number,
        version=record.version,
        role=record.role,
        work=work,
        attempt=record.attempt,
        lease_until=record.lease_until,
        cancel_requested=record.cancel_requested,
        created_at=record.created_at,
        updated_at=record.updated_at,
    )


def _status_time(task: Task, *, otherwise: float) -> float:
    """By which ListTasks sorts and filters (A2A 1.0.1 §3.1.4): what a task's clients see as the time of its status."""
    timestamp = task.status.timestamp
    return seconds_of(timestamp) if timestamp else otherwise


def _ends(event: Event) -> bool:
    return isinstance(event, Task | TaskStatusUpdateEvent) and event.status.state.terminal


def _task_id(event: Event) -> str | None:
    match event:
        case Task():
            return event.id
        case Message() | TaskStatusUpdateEvent() | TaskArtifactUpdateEvent():
            return event.task_id
