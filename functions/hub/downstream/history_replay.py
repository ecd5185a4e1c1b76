"""What was said in a task while nobody followed it: a task's history, as the updates that it came in.

Agents with the `development-tool` extension say everything in updates. They may have executed a command before the hub has asked
for the task the first time, and may go on while a connection is lost.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

import msgspec

from a2a_hub.a2a.extensions.development_tool import (
    DevelopmentToolEvent,
    DevelopmentToolEventKind,
    Spelling,
    metadata_of,
)
from a2a_hub.a2a.model import (
    Artifact,
    Event,
    Message,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)

_Kind = DevelopmentToolEventKind


def caught_up(events: Iterator[Event], *, since: str | None = None) -> Generator[Event]:
    """The events, with updates in the place of each whole task: those that tell what is new in it.

    With `since`, the id of the message that they answer, a task with which they begin is passed on as it is, and of later ones
    counts what follows that message.
    """
    said: set[bytes] = set()
    artifacts: dict[str, Artifact] = {}
    status: TaskStatus | None = None
    begun = since is None
    for event in events:
        match event:
            case Task() if not begun:
                said.update(map(_key, event.history))
                artifacts.update({each.artifact_id: each for each in event.artifacts})
                status = event.status
                yield event
            case Task():
                for message in event.history if since is None else _after(event.history, since):
                    if message.role is Role.AGENT and _key(message) not in said:
                        said.add(_key(message))
                        yield _update(event, TaskStatus(state=TaskState.WORKING, message=message))
                for artifact in event.artifacts:
                    if artifacts.get(artifact.artifact_id) != artifact:
                        artifacts[artifact.artifact_id] = artifact
                        yield TaskArtifactUpdateEvent(
                            task_id=event.id, context_id=event.context_id or "", artifact=artifact
                        )
                # A task that works has been submitted: it never goes back.
                if event.status != status and event.status.state is not TaskState.SUBMITTED:
                    yield _update(event, event.status)
                status = event.status
            case TaskStatusUpdateEvent():
                status = event.status
                yield event
            case _:
                yield event
        begun = True
        if status is not None and status.message is not None:
            said.add(_key(status.message))


def _after(history: Sequence[Message], message_id: str) -> Sequence[Message]:
    """What follows the message; nothing where the agent does not keep it."""
    for place in range(len(history), 0, -1):
        if history[place - 1].message_id == message_id:
            return history[place:]
    return ()


def _update(task: Task, status: TaskStatus) -> TaskStatusUpdateEvent:
    return TaskStatusUpdateEvent(
        task_id=task.id,
        context_id=task.context_id or "",
        status=status,
        metadata=metadata_of(DevelopmentToolEvent(kind=_kind(status)), Spelling.SNAKE),
    )


def _kind(status: TaskStatus) -> DevelopmentToolEventKind:
    """A history has the words alone: what kind of event they came in is seen in them."""
    if status.message is None or status.state is not TaskState.WORKING:
        return _Kind.STATE_CHANGE
    for part in status.message.parts:
        if isinstance(part.data, dict):
            return _Kind.THOUGHT if "subject" in part.data else _Kind.TOOL_CALL_UPDATE
    return _Kind.TEXT_CONTENT


def _key(message: Message) -> bytes:
    return msgspec.json.encode((message.message_id, message.parts))
