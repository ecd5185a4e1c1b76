"""The wrapper in which 1.0 sends results and events: a member name tells them apart (A2A 1.0.1 §3.2.3)."""

from __future__ import annotations

import msgspec

from a2a_hub.a2a.model import (
    Event,
    Message,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
)


def wrapped(value: Event | msgspec.Struct) -> msgspec.Struct:
    """An event in its StreamResponse; anything else (a list of tasks, a card) as it is."""
    match value:
        case Message():
            return StreamResponse(message=value)
        case Task():
            return StreamResponse(task=value)
        case TaskStatusUpdateEvent():
            return StreamResponse(status_update=value)
        case TaskArtifactUpdateEvent():
            return StreamResponse(artifact_update=value)
        case _:
            return value


def unwrapped(response: StreamResponse) -> Event:
    """The one event in a StreamResponse."""
    event = response.task or response.message or response.status_update or response.artifact_update
    assert event is not None, "protojson.read has checked that exactly one member is set"
    return event
