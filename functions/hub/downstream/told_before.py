"""What an agent said of a task before somebody followed it stands in the task's history alone: it is told again, in updates.

A slash command that takes a moment has ended before it can be subscribed to, and in its extension everything is said in updates.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from shared.a2a.extensions.development_tool import DevelopmentToolEvent, DevelopmentToolEventKind
from shared.a2a.extensions.schema_json import Spelling, metadata_of
from shared.a2a.model import Event, Message, Role, Task, TaskState, TaskStatus, TaskStatusUpdateEvent

_Kind = DevelopmentToolEventKind


def told_before(events: Iterator[Event]) -> Iterator[Event]:
    """The events, and after each task what its history holds of the agent's and was not told yet; then its state."""
    told: set[str] = set()
    for event in events:
        match event:
            case Task():
                untold = [
                    said for said in event.history if said.role is Role.AGENT and said.message_id not in told
                ]
                if untold:
                    working = TaskStatus(state=TaskState.WORKING, timestamp=event.status.timestamp)
                    yield replace(event, status=working, history=())
                    for said in untold:
                        told.add(said.message_id)
                        yield _update(event, replace(working, message=said), _kind(said))
                    yield _update(event, event.status, _Kind.STATE_CHANGE)
                else:
                    yield event
            case TaskStatusUpdateEvent(status=TaskStatus(message=Message(message_id=message_id))):
                told.add(message_id)
                yield event
            case _:
                yield event


def _update(task: Task, status: TaskStatus, kind: DevelopmentToolEventKind) -> TaskStatusUpdateEvent:
    return TaskStatusUpdateEvent(
        task_id=task.id,
        context_id=task.context_id or "",
        status=status,
        metadata=metadata_of(DevelopmentToolEvent(kind=kind), Spelling.SNAKE),
    )


def _kind(said: Message) -> DevelopmentToolEventKind:
    """A message in a history has lost the metadata of its update; its data tells what it is."""
    names = {name for part in said.parts if isinstance(part.data, dict) for name in part.data}
    if names & {"tool_call_id", "toolCallId"}:
        return _Kind.TOOL_CALL_UPDATE
    return _Kind.THOUGHT if "subject" in names else _Kind.TEXT_CONTENT
