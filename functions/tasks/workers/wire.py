"""The workers' requests, responses and statuses (JSON in camelCase, with the messages, artifacts and parts of A2A 1.0), and the
events of the task's log that their reports become.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.model import Artifact, Event, Message, Part, Task, TaskState, TaskStatusUpdateEvent, Wire
from a2a_hub.a2a.reply import agent_message, artifact_update, status_update
from a2a_hub.task_store.store import StoredTask
from a2a_hub.tasks.resume_payload import decode_resume_payload


class LeaseRequest(Wire, frozen=True, kw_only=True):
    """A request for work. Without `roles`, all of the worker's count; `task_id` names one task, as a wake-up does."""

    roles: tuple[str, ...] = ()
    task_id: str | None = None
    wait_seconds: int = 0
    lease_seconds: int = 60


class LeasedTask(Wire, frozen=True, kw_only=True):
    """A task that is leased to the worker. `text` is the user's last message in `history`."""

    task_id: str
    context_id: str
    role: str
    status: str
    attempt: int
    lease: str
    lease_seconds: int
    version: int
    text: str
    history: tuple[Message, ...]
    artifacts: tuple[Artifact, ...] = ()


class WriteResult(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """The task after a write. `cancel_requested` is True if the user cancelled it; it then ended as `cancelled`."""

    task_id: str
    status: str
    version: int
    cancel_requested: bool


class LeasedRequest(Wire, frozen=True, kw_only=True):
    """A write under a lease. With `version`, the task's version as the worker knows it, a repeated request is written once."""

    lease: str
    version: int | None = None


class Renew(LeasedRequest, frozen=True, kw_only=True):
    """The extension of a lease to `lease_seconds` from now. The answer waits `wait_seconds` for a cancellation."""

    lease_seconds: int = 60
    wait_seconds: int = 0


class Update(Wire, frozen=True, kw_only=True):
    """Either an artifact, or progress: a `Status`, a text, or both."""

    status: str | None = None
    text: str | None = None
    artifact: Artifact | None = None
    append: bool = False
    last_chunk: bool = False


class Progress(LeasedRequest, frozen=True, kw_only=True):
    """Ordered updates, stored together or not at all."""

    updates: tuple[Update, ...]


class Complete(LeasedRequest, frozen=True, kw_only=True):
    """The result: a text, artifacts, or both."""

    text: str | None = None
    artifacts: tuple[Artifact, ...] = ()


class Fail(LeasedRequest, frozen=True, kw_only=True):
    """A failure, with the reason that the user reads."""

    reason: str


class RequireInput(LeasedRequest, frozen=True, kw_only=True):
    """A question to the user; with `auth`, a request for a credential. The task becomes due again with the answer."""

    text: str
    auth: bool = False


class Status(StrEnum):
    """The statuses that workers report and read."""

    CREATED = "created"
    ASSIGNED = "assigned"
    IN_PROGRESS = "in_progress"
    COMPLETE = "complete"
    BLOCKED = "blocked"
    FAILED = "failed"
    CANCELLED = "cancelled"


STATES: dict[Status, TaskState] = {
    Status.CREATED: TaskState.SUBMITTED,
    Status.ASSIGNED: TaskState.SUBMITTED,
    Status.IN_PROGRESS: TaskState.WORKING,
    Status.COMPLETE: TaskState.COMPLETED,
    Status.BLOCKED: TaskState.FAILED,
    Status.FAILED: TaskState.FAILED,
    Status.CANCELLED: TaskState.CANCELED,
}

_STATUSES: dict[TaskState, str] = {
    TaskState.SUBMITTED: Status.ASSIGNED,
    TaskState.WORKING: Status.IN_PROGRESS,
    TaskState.COMPLETED: Status.COMPLETE,
    TaskState.FAILED: Status.FAILED,
    TaskState.REJECTED: Status.FAILED,
    TaskState.CANCELED: Status.CANCELLED,
    # Workers do not report these two: `requireInput` does.
    TaskState.INPUT_REQUIRED: "input_required",
    TaskState.AUTH_REQUIRED: "auth_required",
}


def worker_status(state: TaskState, *, leased: bool = True) -> str:
    """Return the worker's term for a state; a submitted task without a lease is `created`."""
    if state is TaskState.SUBMITTED and not leased:
        return Status.CREATED
    return _STATUSES[state]


def status_event(task: Task, state: TaskState, text: str | None = None) -> TaskStatusUpdateEvent:
    """Return a new status of the task, with the worker's text."""
    said = agent_message(Part(text=text), context_id=task.context_id, task_id=task.id) if text else None
    return status_update(task, state, said)


def result_events(stored: StoredTask, text: str | None, artifacts: Sequence[Artifact]) -> list[Event]:
    """Return the artifacts of a worker's result and the completed status. Raise INVALID_PARAMS that names the field."""
    task = stored.task
    for index, artifact in enumerate(artifacts):
        _check(artifact, f"artifacts[{index}]")
    results = list(artifacts)
    if text:
        # The id is stable: repeated work replaces its artifact instead of adding another.
        turn = decode_resume_payload(stored.payload).turn if stored.payload else 1
        results.insert(0, Artifact(artifact_id=f"answer-{turn}", name="answer", parts=(Part(text=text),)))
    return [*(artifact_update(task, each) for each in results), status_event(task, TaskState.COMPLETED)]


def progress_events(task: Task, updates: Sequence[Update]) -> Iterator[Event]:
    """Yield a worker's updates as events. Raise INVALID_PARAMS that names the field."""
    state = task.status.state
    for index, update in enumerate(updates):
        place = f"updates[{index}]"
        if state.terminal:
            raise invalid_field(place, "comes after the task's end")
        if update.artifact is not None:
            if update.status is not None or update.text is not None:
                raise invalid_field(place, "has an artifact and a status or a text: they are two updates")
            _check(update.artifact, f"{place}.artifact")
            yield artifact_update(task, update.artifact, append=update.append, last_chunk=update.last_chunk)
            continue
        if update.status is None and not update.text:
            raise invalid_field(place, "must have a status, a text, or an artifact")
        status = Status.IN_PROGRESS if update.status is None else _status(update.status, place)
        reported = STATES[status]
        # Started work does not return to submitted.
        changed = state if reported is TaskState.SUBMITTED else reported
        if changed is not state or update.text:
            yield status_event(task, changed, update.text)
        state = changed


def _check(artifact: Artifact, place: str) -> None:
    """Raise INVALID_PARAMS unless the artifact has what A2A requires (1.0.1 §4.1.7)."""
    if not artifact.artifact_id:
        raise invalid_field(f"{place}.artifactId", "must not be empty")
    if not artifact.parts:
        raise invalid_field(f"{place}.parts", "must have at least one part")


def _status(word: str, place: str) -> Status:
    try:
        return Status(word)
    except ValueError:
        raise invalid_field(f"{place}.status", f"must be one of {', '.join(Status)}") from None
