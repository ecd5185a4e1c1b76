"""A turn that executes a slash command: what its task's notes say of it, and its events where the agent has done it already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from a2a_hub.a2a.model import Event, Part, Task, TaskState, TaskStatus, TaskStatusUpdateEvent
from a2a_hub.a2a.reply import MessageFactory
from functions.hub.turn import EXECUTES, RUNNING

if TYPE_CHECKING:
    from a2a_hub.routing.routes import Route
    from functions.hub.downstream.interface import ExecutionReply


def notes_of(route: Route, executed: ExecutionReply) -> dict[str, Any]:
    """The notes with which the turn begins."""
    if executed.task_id:
        return {EXECUTES: {}, RUNNING: {"route": route.id, "task": executed.task_id}}
    return {EXECUTES: {"said": executed.said}}


def said_at_once(
    notes: Mapping[str, Any], *, task_id: str, context_id: str, message_factory: MessageFactory
) -> Iterator[Event]:
    """The events of a command whose result is there: the extension tells everything in status updates."""
    from a2a_hub.a2a.extensions.development_tool import (
        DevelopmentToolEvent,
        DevelopmentToolEventKind,
        Spelling,
        metadata_of,
    )

    said = notes[EXECUTES]["said"]
    part = Part(text=said) if isinstance(said, str) else Part(data=said, media_type="application/json")

    def status(state: TaskState, kind: DevelopmentToolEventKind, *parts: Part) -> TaskStatusUpdateEvent:
        message = message_factory.message(*parts, context_id=context_id, task_id=task_id) if parts else None
        return TaskStatusUpdateEvent(
            task_id=task_id,
            context_id=context_id,
            status=TaskStatus(state=state, message=message, timestamp=message_factory.timestamp()),
            metadata=metadata_of(DevelopmentToolEvent(kind=kind), Spelling.SNAKE),
        )

    submitted = TaskStatus(state=TaskState.SUBMITTED, timestamp=message_factory.timestamp())
    yield Task(id=task_id, context_id=context_id, status=submitted)
    yield status(TaskState.WORKING, DevelopmentToolEventKind.TEXT_CONTENT, part)
    yield status(TaskState.COMPLETED, DevelopmentToolEventKind.STATE_CHANGE)
