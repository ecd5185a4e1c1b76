"""A task's record: everything about it except its log and snapshot, and the rules of its changes, for every store."""

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
    """A task's record. `size` is the log in bytes; the snapshot covers `snapshot_version` entries, `snapshot_size` bytes.

    `token` is empty and `lease_until` 0 without a lease; `ended_at` is the end of the last turn, 0 during one.
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
        """True if the task is submitted or working, leased or not."""
        return self.state in LEASABLE

    @property
    def due_at(self) -> float | None:
        """The time from which the task may be leased; None if it is neither submitted nor working.

        An expired lease moves its task behind older ones, so that a task that kills its runner does not block the others.
        """
        return (self.lease_until or self.created_at) if self.leasable else None


def new_record(new: NewTask, *, number: int, size: int, now: float) -> TaskRecord:
    """Return the record of a new task."""
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
    """Raise the errors of `TaskStore.append`, except that of the size."""
    if expected_version is not None and expected_version != record.version:
        raise WrongVersion(record.id)
    if record.state.terminal or any(_ends(event) for event in events[:-1]):
        raise TaskEnded(record.id)
    check_lease(record, lease, now=now)
    for event in events:
        if _task_id(event) not in (None, record.id):
            raise ValueError("an event of another task")


def check_lease(record: TaskRecord, lease: str | None, *, now: float) -> None:
    """Raise LeaseLost unless `lease` is the valid one, or None without a valid one."""
    leased = record.lease_until > now
    if leased if lease is None else not (leased and record.token == lease):
        raise LeaseLost(record.id)


def check_size(record: TaskRecord, events: Sequence[Event], added: int, *, limit: int) -> None:
    """Raise TooLarge if the log would outgrow `limit`."""
    ends = bool(events) and _ends(events[-1])
    if record.size + added > limit + (_ENDING_BYTES if ends else 0):
        raise TooLarge(record.id)


def record_after(
    record: TaskRecord, task: Task, *, count: int, added: int, now: float, request_key: str = ""
) -> TaskRecord:
    """Return the record after `count` more entries of `added` bytes, which fold to `task`, under a new `request_key` if given."""
    state = task.status.state
    changed = replace(
        record,
        context_id=task.context_id or "",
        state=state,
        version=record.version + count,
        size=record.size + added,
        request_key=request_key or record.request_key,
        updated_at=_status_time(task, otherwise=now if count else record.updated_at),
        # The client's answer is new work: earlier attempts do not count against it.
        attempt=0 if record.state.interrupted and not state.interrupted else record.attempt,
        ended_at=now if state.settled else 0.0,
    )
    return without_lease(changed) if state.settled else changed


def with_lease(record: TaskRecord, *, holder: str, token: str, until: float) -> TaskRecord:
    """Return the record with its next lease."""
    return replace(record, attempt=record.attempt + 1, holder=holder, token=token, lease_until=until)


def without_lease(record: TaskRecord) -> TaskRecord:
    """Return the record without a lease."""
    return replace(record, holder="", token="", lease_until=0.0)


def snapshot_due(record: TaskRecord) -> bool:
    """Return True if a snapshot is due: at the end, and when the log's tail is half as long as the last snapshot.

    The snapshots of a log take at most four times its own size.
    """
    tail = record.size - record.snapshot_size
    return record.state.terminal or tail > max(_LEAST_TAIL_BYTES, record.snapshot_size // 2)


def page_length(records: Sequence[TaskRecord], *, size: int) -> int:
    """Return the number of these tasks, at least one, that fit on a page of `size` and into memory."""
    count, total = 0, 0
    for record in records[:size]:
        total += record.size
        if count and total > _PAGE_BYTES:
            break
        count += 1
    return count


def stored_task(record: TaskRecord, task: Task, payload: bytes) -> StoredTask:
    """Return the task as the store's callers see it."""
    return StoredTask(
        task=task,
        owner=record.owner,
        number=record.number,
        version=record.version,
        role=record.role,
        payload=payload,
        attempt=record.attempt,
        lease_until=record.lease_until,
        cancel_requested=record.cancel_requested,
        created_at=record.created_at,
        updated_at=record.updated_at,
    )


def _status_time(task: Task, *, otherwise: float) -> float:
    """Return the timestamp of the status, by which ListTasks sorts and filters (A2A 1.0.1 §3.1.4)."""
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
