"""Folds the events of one turn into the one result of SendMessage (A2A 1.0.1 §3.1.1)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from shared.a2a.errors import INVALID_AGENT_RESPONSE, A2AError
from shared.a2a.model import Artifact, Event, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent


def after(task: Task, event: Event) -> Task:
    """The task after an entry of its log: `apply`, and besides a whole task replaces it, and a message joins its history."""
    match event:
        case Task():
            return event
        case Message():
            return msgspec.structs.replace(task, history=(*task.history, event))
        case _:
            return apply(task, event)


def apply(task: Task, event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent) -> Task:
    """The task after the event. An appended artifact's parts follow those that are there (§4.2.2).

    What the agent said with a status stays in the history when another status follows.
    """
    if isinstance(event, TaskStatusUpdateEvent):
        said = task.status.message
        history = task.history if said is None else (*task.history, said)
        return msgspec.structs.replace(task, status=event.status, history=history)
    artifacts = list(task.artifacts)
    for index, artifact in enumerate(artifacts):
        if artifact.artifact_id == event.artifact.artifact_id:
            artifacts[index] = _appended(artifact, event.artifact) if event.append else event.artifact
            break
    else:
        artifacts.append(event.artifact)
    return msgspec.structs.replace(task, artifacts=tuple(artifacts))


def _appended(artifact: Artifact, more: Artifact) -> Artifact:
    return msgspec.structs.replace(artifact, parts=artifact.parts + more.parts)


def fold(events: Iterable[Event]) -> Task | Message:
    """The Message, or the task in its last state. Raises INVALID_AGENT_RESPONSE for events in no order that §3.1.2 knows."""
    task: Task | None = None
    for event in events:
        match event:
            case Message() if task is None:
                return event
            case Task() if task is None or task.id == event.id:
                task = event
            case TaskStatusUpdateEvent() | TaskArtifactUpdateEvent() if task and task.id == event.task_id:
                task = apply(task, event)
            case _:
                raise A2AError(
                    INVALID_AGENT_RESPONSE, "The agent sent an event that does not belong to its task"
                )
    if task is None:
        raise A2AError(INVALID_AGENT_RESPONSE, "The agent sent no result")
    return task
