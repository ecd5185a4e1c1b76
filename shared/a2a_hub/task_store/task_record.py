"""A task's record: everything about it except its log and snapshot, and the rules of its changes, for every store."""

from collections.abc import Iterator, Sequence

from msgspec import Struct, json
from msgspec.structs import replace

from a2a_hub.a2a.model import Event, Message, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent
from a2a_hub.a2a.protojson import seconds_of
from a2a_hub.task_store.store import (
    LeaseLost,
    NewTask,
    Page,
    Position,
    PushConfig,
    StoredTask,
    TaskEnded,
    TooLarge,
    UnfinishedTask,
    WrongVersion,
)

DEFAULT_TASK_BYTES = 20_000_000
# A task that has grown to its limit can still be ended, with a status that says why.
_ENDING_BYTES = 64_000
_MIN_TAIL_BYTES = 8_000
_PAGE_BYTES = 20_000_000
LEASABLE = (TaskState.SUBMITTED, TaskState.WORKING)


class TaskRecord(Struct, frozen=True, kw_only=True):
    """A task's record. `size` is the log in bytes; the snapshot covers `snapshot_version` entries, `snapshot_size` bytes.

    `token` is empty and `lease_until` 0 without a lease; `ended_at` is the end of the last turn, 0 during one.
    `not_before` is the time until which its release deferred the task, or 0.
    """

    id: str
    owner: str
    number: int
    context_id: str
    state: TaskState
    version: int
    size: int
    snapshot_version: int = 0
    snapshot_size: int = 0
    role: str
    request_key: str
    attempt: int = 0
    holder: str = ""
    token: str = ""
    lease_until: float = 0.0
    cancel_requested: bool = False
    created_at: float
    updated_at: float
    ended_at: float
    not_before: float = 0.0
    repeat_until: float = 0.0

    @property
    def leasable(self) -> bool:
        """True if the task is submitted or working, leased or not."""
        return self.state in LEASABLE

    @property
    def due_at(self) -> float | None:
        """The time from which the task may be leased; None if it is neither submitted nor working.

        An expired lease moves its task behind older ones, so that a task that kills its runner does not block the others.
        """
        return (self.not_before or self.lease_until or self.created_at) if self.leasable else None

    def joinable(self, request_key: str, *, now: float) -> bool:
        """Return True if an identical request joins the task instead of starting another."""
        return self.request_key == request_key and (self.leasable or self.repeat_until > now)


# msgspec analyses a type at its first use, and crashes if two threads do that at once.
json.Decoder(TaskRecord)
_PUBLIC = set(StoredTask.__struct_fields__) & set(TaskRecord.__struct_fields__)


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
        role=new.role,
        request_key=new.request_key,
        attempt=1 if new.lease else 0,
        token=new.lease,
        lease_until=now + new.lease_seconds if new.lease else 0.0,
        created_at=now,
        updated_at=_status_time(new.task, otherwise=now),
        ended_at=now if state.settled else 0.0,
    )


class Addition(Struct, frozen=True):
    """The arguments of `TaskStore.append`, and the bodies of its events."""

    events: Sequence[Event]
    bodies: Sequence[bytes]
    lease: str | None
    expected_version: int | None
    payload: bytes | None
    request_key: str
    push: PushConfig | None
    repeat_until: float
    reopens: bool

    @property
    def size(self) -> int:
        """The size of the bodies."""
        return sum(map(len, self.bodies))


def check_append(record: TaskRecord, added: Addition, *, now: float, max_bytes: int) -> None:
    """Raise the errors of `TaskStore.append`."""
    events, expected_version = added.events, added.expected_version
    if expected_version is not None and expected_version != record.version:
        raise WrongVersion(record.id)
    if (record.state.terminal and not added.reopens) or any(_ends(event) for event in events[:-1]):
        raise TaskEnded(record.id)
    check_lease(record, added.lease, now=now)
    for event in events:
        if _task_id(event) not in (None, record.id):
            raise ValueError("an event of another task")
    ends = bool(events) and _ends(events[-1])
    if record.size + added.size > max_bytes + (_ENDING_BYTES if ends else 0):
        raise TooLarge(record.id)


def check_lease(record: TaskRecord, lease: str | None, *, now: float) -> None:
    """Raise LeaseLost unless `lease` is the valid one, or None without a valid one."""
    leased = record.lease_until > now
    if leased if lease is None else not (leased and record.token == lease):
        raise LeaseLost(record.id)


def record_after(record: TaskRecord, task: Task, added: Addition, *, now: float) -> TaskRecord:
    """Return the record after the addition, with which the log folds to `task`."""
    state = task.status.state
    changed = replace(
        record,
        context_id=task.context_id or "",
        state=state,
        version=record.version + len(added.events),
        size=record.size + added.size,
        request_key=added.request_key or record.request_key,
        updated_at=_status_time(task, otherwise=now if added.events else record.updated_at),
        # The client's answer is new work: earlier attempts do not count against it.
        attempt=0 if record.state.settled and not state.settled else record.attempt,
        ended_at=now if state.settled else 0.0,
        not_before=0.0 if state.settled else record.not_before,
        repeat_until=(added.repeat_until or record.repeat_until) if state.settled else 0.0,
    )
    return without_lease(changed) if state.settled else changed


def with_lease(record: TaskRecord, *, holder: str, token: str, until: float) -> TaskRecord:
    """Return the record with its next lease."""
    return replace(record, attempt=record.attempt + 1, holder=holder, token=token, lease_until=until, not_before=0.0)


def without_lease(record: TaskRecord, *, due_at: float | None = None) -> TaskRecord:
    """Return the record without a lease; with `due_at`, the lease was no attempt, and the task is due then."""
    released = replace(record, holder="", token="", lease_until=0.0)
    return released if due_at is None else replace(released, attempt=max(0, record.attempt - 1), not_before=due_at)


def with_cancel_request(record: TaskRecord) -> TaskRecord:
    """Return the record with the request, due at once unless leased. Raise TaskEnded."""
    if record.state.terminal:
        raise TaskEnded(record.id)
    return replace(record, cancel_requested=True, not_before=0.0)


def snapshot_due(record: TaskRecord) -> bool:
    """Return True if a snapshot is due: at the end, and when the log's tail is half as long as the last snapshot.

    The snapshots of a log take at most four times its own size.
    """
    tail = record.size - record.snapshot_size
    return record.state.terminal or tail > max(_MIN_TAIL_BYTES, record.snapshot_size // 2)


def page(records: Sequence[TaskRecord], stored: Iterator[StoredTask], *, size: int, total: int) -> Page:
    """Return a page of the first tasks: at most `size`, and, but for the first one, what fits into memory."""
    tasks: list[StoredTask] = []
    read = 0
    for record in records[:size]:
        read += record.size
        if tasks and read > _PAGE_BYTES:
            break
        tasks.append(next(stored))
    last = records[len(tasks) - 1] if len(tasks) < len(records) else None
    return Page(tasks=tuple(tasks), next=Position(last.updated_at, last.id) if last else None, total=total)


def stored_task(record: TaskRecord, task: Task, payload: bytes) -> StoredTask:
    """Return the task as the store's callers see it."""
    return StoredTask(task=task, payload=payload, **{name: getattr(record, name) for name in _PUBLIC})


def unfinished_task(record: TaskRecord) -> UnfinishedTask:
    """Return what operators see of a task."""
    return UnfinishedTask(**{name: getattr(record, name) for name in UnfinishedTask.__struct_fields__})


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
