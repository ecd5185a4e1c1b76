"""Normalise an agent's events to the updates of its task's log."""

from collections.abc import Iterator
from typing import TypeGuard

from a2a_hub.a2a.agent import TryLater
from a2a_hub.a2a.fold import TaskAccumulator
from a2a_hub.a2a.model import (
    Artifact,
    Event,
    Message,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)
from a2a_hub.a2a.reply import Failure, agent_message, artifact_update, status_update
from a2a_hub.a2a.text_chunks import is_same_content
from a2a_hub.http.messages import Cancellation

Update = TaskStatusUpdateEvent | TaskArtifactUpdateEvent


def updates(
    source: Iterator[Event],
    task: Task,
    *,
    cancellation: Cancellation,
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
            for update in _as_updates(event, task, accumulator):
                yield update
                accumulator.add(update)
                if accumulator.status.state.terminal:
                    return
    except Exception as error:
        if not cancellation.cancelled:
            if isinstance(error, TryLater) and not started:
                yield task
            raise
    if not started:
        yield task
    if cancellation.cancelled:
        yield status_update(task, TaskState.CANCELED)


def answer_updates(answer: Message, task: Task) -> tuple[Update, Update]:
    """Return the updates that complete the task with this answer."""
    artifact = Artifact(artifact_id=answer.message_id, name="answer", parts=answer.parts)
    return artifact_update(task, artifact), status_update(task, TaskState.COMPLETED)


def settles(event: Event) -> TypeGuard[TaskStatusUpdateEvent]:
    """Return True for the update that ends a turn."""
    return isinstance(event, TaskStatusUpdateEvent) and event.status.state.settled


def failure(task: Task, text: str, *, reason: str, retryable: bool = False) -> TaskStatusUpdateEvent:
    """Return the event that fails the task, with a sentence for its owner."""
    metadata = Failure(text, reason, retryable).metadata
    message = agent_message(Part(text=text), context_id=task.context_id, task_id=task.id, metadata=metadata)
    return status_update(task, TaskState.FAILED, message)


def _as_updates(event: Event, task: Task, accumulator: TaskAccumulator) -> Iterator[Update]:
    match event:
        case Task():
            yield from _differences(event, task, accumulator)
        case Message():
            yield from answer_updates(event, task)
        case _:
            yield event


def _differences(new: Task, task: Task, accumulator: TaskAccumulator) -> Iterator[Update]:
    for artifact in new.artifacts:
        known = accumulator.artifact(artifact.artifact_id)
        if known is None or not is_same_content(known, artifact):
            yield artifact_update(task, artifact)
    old = accumulator.status
    changed = new.status.state is not old.state or new.status.message != old.message
    # A working task never returns to submitted.
    if changed and new.status.state is not TaskState.SUBMITTED:
        yield TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id or "", status=new.status)
