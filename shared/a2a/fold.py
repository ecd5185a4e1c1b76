"""Folds the events of one turn into the one result of SendMessage (A2A 1.0.1 §3.1.1)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from shared.a2a.errors import INVALID_AGENT_RESPONSE, A2AError
from shared.a2a.model import Artifact, Event, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent


def apply(task: Task, event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent) -> Task:
    """The task after the event. An appended artifact's parts follow those that are there (§4.2.2)."""
    if isinstance(event, TaskStatusUpdateEvent):
        return msgspec.structs.replace(task, status=event.status)
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
