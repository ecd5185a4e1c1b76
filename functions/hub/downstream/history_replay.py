"""Replays a task's history as the updates it was first sent as, for the time when nobody was subscribed.

Agents with the `development-tool` extension put everything into updates. They may have executed a command before the hub first
fetches its task, and continue while a connection is lost.
"""

from collections.abc import Generator, Iterator, Sequence

import msgspec

from a2a_hub.a2a import model
from a2a_hub.a2a.extensions import development_tool
from a2a_hub.a2a.reply import artifact_update

_Kind = development_tool.DevelopmentToolEventKind


def replayed(events: Iterator[model.Event], *, since: str | None = None) -> Generator[model.Event]:
    """Yield the events, with the new updates of each whole task in its place.

    With `since`, the id of the message that they answer, a first task passes through unchanged, and of later ones only what
    follows that message is new.
    """
    seen: set[bytes] = set()
    artifacts: dict[str, model.Artifact] = {}
    status: model.TaskStatus | None = None
    begun = since is None
    for event in events:
        match event:
            case model.Task() if not begun:
                seen.update(map(_key, event.history))
                artifacts.update({each.artifact_id: each for each in event.artifacts})
                status = event.status
                yield event
            case model.Task():
                for message in event.history if since is None else _after(event.history, since):
                    if message.role is model.Role.AGENT and _key(message) not in seen:
                        seen.add(_key(message))
                        yield update_of(event, model.TaskStatus(state=model.TaskState.WORKING, message=message))
                for artifact in event.artifacts:
                    if artifacts.get(artifact.artifact_id) != artifact:
                        artifacts[artifact.artifact_id] = artifact
                        yield artifact_update(event, artifact)
                # A working task has been submitted before: its state never goes back.
                if event.status != status and event.status.state is not model.TaskState.SUBMITTED:
                    yield update_of(event, event.status)
                status = event.status
            case model.TaskStatusUpdateEvent():
                status = event.status
                yield event
            case _:
                yield event
        begun = True
        if status is not None and status.message is not None:
            seen.add(_key(status.message))


def _after(history: Sequence[model.Message], message_id: str) -> Sequence[model.Message]:
    """Return the history after the message; none if the agent does not store the message."""
    for place in range(len(history), 0, -1):
        if history[place - 1].message_id == message_id:
            return history[place:]
    return ()


def update_of(
    task: model.Task, status: model.TaskStatus, kind: development_tool.DevelopmentToolEventKind | None = None
) -> model.TaskStatusUpdateEvent:
    """Return an update of the extension; without `kind`, its message's parts decide."""
    return model.TaskStatusUpdateEvent(
        task_id=task.id,
        context_id=task.context_id or "",
        status=status,
        metadata=development_tool.metadata_of(
            development_tool.DevelopmentToolEvent(kind=kind or _kind(status)), development_tool.Spelling.SNAKE
        ),
    )


def _kind(status: model.TaskStatus) -> development_tool.DevelopmentToolEventKind:
    """Return the kind of a message's event, by its parts: a history has no events."""
    if status.message is None or status.state is not model.TaskState.WORKING:
        return _Kind.STATE_CHANGE
    for part in status.message.parts:
        if isinstance(part.data, dict):
            return _Kind.THOUGHT if "subject" in part.data else _Kind.TOOL_CALL_UPDATE
    return _Kind.TEXT_CONTENT


def _key(message: model.Message) -> bytes:
    return msgspec.json.encode((message.message_id, message.parts))
