"""What workers send and read, as JSON in camelCase; tasks, messages, artifacts and parts are those of A2A 1.0."""

from __future__ import annotations

from enum import StrEnum

from a2a_hub.a2a.model import Artifact, Message, Part, TaskState, Wire


class LeaseRequest(Wire, frozen=True, kw_only=True):
    """Asks for work. Without `roles`, it is for all that the worker has; `task_id` asks for one task, which a wake-up named."""

    roles: tuple[str, ...] = ()
    task_id: str | None = None
    wait_seconds: int = 0
    lease_seconds: int = 60


class LeasedTask(Wire, frozen=True, kw_only=True):
    """A task that the worker has until the lease runs out. `text` is what the user said last, of `history`."""

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


class Answer(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """What comes of a write. `cancel_requested`: the user wants no more of it; the task has ended as `cancelled` with this."""

    task_id: str
    status: str
    version: int
    cancel_requested: bool


class LeasedRequest(Wire, frozen=True, kw_only=True):
    """What every write has: the lease, and optionally the task's version as the worker knows it, so that what is sent again
    after a lost answer is not written twice.
    """

    lease: str
    version: int | None = None


class Renew(LeasedRequest, frozen=True, kw_only=True):
    """The lease is to last `lease_seconds` from now on."""

    lease_seconds: int = 60


class Update(Wire, frozen=True, kw_only=True):
    """Either an artifact, or how far the work is: a word of `statuses`, a text, or both."""

    status: str | None = None
    text: str | None = None
    artifact: Artifact | None = None
    append: bool = False
    last_chunk: bool = False


class Progress(LeasedRequest, frozen=True, kw_only=True):
    """Updates in their order; all of them are taken, or none."""

    updates: tuple[Update, ...]


class Complete(LeasedRequest, frozen=True, kw_only=True):
    """The result: a text, artifacts, or both."""

    text: str | None = None
    artifacts: tuple[Artifact, ...] = ()


class Fail(LeasedRequest, frozen=True, kw_only=True):
    """`reason` is read by the user."""

    reason: str


class RequireInput(LeasedRequest, frozen=True, kw_only=True):
    """`text` is put to the user; with `auth` it is a credential that is missing. The task comes back with the answer."""

    text: str
    auth: bool = False


def text_artifact(id_: str, text: str) -> Artifact:
    """The answer's text as an artifact."""
    return Artifact(artifact_id=id_, name="answer", parts=(Part(text=text),))


class Status(StrEnum):
    """What a worker says or reads."""

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

_WORDS: dict[TaskState, str] = {
    TaskState.SUBMITTED: Status.ASSIGNED,
    TaskState.WORKING: Status.IN_PROGRESS,
    TaskState.COMPLETED: Status.COMPLETE,
    TaskState.FAILED: Status.FAILED,
    TaskState.REJECTED: Status.FAILED,
    TaskState.CANCELED: Status.CANCELLED,
    # Nothing in the table waits for its client: these two have their own words.
    TaskState.INPUT_REQUIRED: "input_required",
    TaskState.AUTH_REQUIRED: "auth_required",
}


def state_after(now: TaskState, status: Status) -> TaskState:
    """The state of a task that is in `now` when its worker reports `status`: work that has begun does not go back."""
    state = STATES[status]
    return now if state is TaskState.SUBMITTED else state


def worker_status(state: TaskState, *, leased: bool = True) -> str:
    """How a worker reads the state; a task that waits for a worker is `created`."""
    if state is TaskState.SUBMITTED and not leased:
        return Status.CREATED
    return _WORDS[state]
