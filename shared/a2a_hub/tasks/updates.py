"""Normalise an agent's events to the updates of its task's log."""

from collections.abc import Callable, Iterator

from a2a_hub.a2a.fold import TaskAccumulator
from a2a_hub.a2a.model import (
    Artifact,
    Event,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a_hub.http.messages import Cancellation

Update = TaskStatusUpdateEvent | TaskArtifactUpdateEvent


def updates(
    source: Iterator[Event],
    task: Task,
    *,
    cancellation: Cancellation,
    timestamp: Callable[[], str],
    allows_message: bool,
) -> Iterator[Event]:
    """Yield the task, then the changes that the agent's events make to it, up to a terminal state.

    Of a whole Task, only the differences are yielded. A Message that comes first is passed on as the whole result if
    `allows_message`, and is the task's answer otherwise. A cancelled call ends in CANCELED, whatever the agent's result.
    """
    started = False
    accumulator = TaskAccumulator(task)
    try:
        for event in source:
            if cancellation.cancelled:
                break
            if isinstance(event, Message) and not started and allows_message:
                yield event
                return
            if not started:
                yield task
                started = True
            for update in _as_updates(event, task, accumulator, timestamp):
                yield update
                accumulator.add(update)
                if accumulator.status.state.terminal:
                    return
    except Exception:
        if not cancellation.cancelled:
            raise
    if not started:
        yield task
    if cancellation.cancelled:
        yield status_update(task, TaskState.CANCELED, timestamp())


def status_update(
    task: Task, state: TaskState, timestamp: str, message: Message | None = None
) -> TaskStatusUpdateEvent:
    """Return a new status of the task."""
    status = TaskStatus(state=state, message=message, timestamp=timestamp)
    return TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id or "", status=status)


def _as_updates(
    event: Event, task: Task, accumulator: TaskAccumulator, timestamp: Callable[[], str]
) -> Iterator[Update]:
    match event:
        case Task():
            yield from _differences(event, task, accumulator)
        case Message():
            yield _artifact_update(task, Artifact(artifact_id=event.message_id, name="answer", parts=event.parts))
            yield status_update(task, TaskState.COMPLETED, timestamp())
        case _:
            yield event


def _differences(new: Task, task: Task, accumulator: TaskAccumulator) -> Iterator[Update]:
    for artifact in new.artifacts:
        if accumulator.artifact(artifact.artifact_id) != artifact:
            yield _artifact_update(task, artifact)
    old = accumulator.status
    changed = new.status.state is not old.state or new.status.message != old.message
    # A working task never returns to submitted.
    if changed and new.status.state is not TaskState.SUBMITTED:
        yield TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id or "", status=new.status)


def _artifact_update(task: Task, artifact: Artifact) -> TaskArtifactUpdateEvent:
    return TaskArtifactUpdateEvent(task_id=task.id, context_id=task.context_id or "", artifact=artifact)
