"""The words that workers have for how far a task is, and the protocol's states: one table."""

from __future__ import annotations

from enum import StrEnum

from a2a_hub.a2a.model import TaskState


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


def word_of(state: TaskState, *, leased: bool = True) -> str:
    """How a worker reads the state; a task that waits for a worker is `created`."""
    if state is TaskState.SUBMITTED and not leased:
        return Status.CREATED
    return _WORDS[state]
