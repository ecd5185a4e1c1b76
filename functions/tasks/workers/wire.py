"""The workers' requests, responses and statuses: JSON in camelCase, with the messages, artifacts and parts of A2A 1.0."""

from enum import StrEnum

from a2a_hub.a2a.model import Artifact, Message, TaskState, Wire


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


def state_after(now: TaskState, status: Status) -> TaskState:
    """Return the state after a worker's report on a task in state `now`; started work does not return to submitted."""
    state = STATES[status]
    return now if state is TaskState.SUBMITTED else state


def worker_status(state: TaskState, *, leased: bool = True) -> str:
    """Return the worker's term for a state; a submitted task without a lease is `created`."""
    if state is TaskState.SUBMITTED and not leased:
        return Status.CREATED
    return _STATUSES[state]
