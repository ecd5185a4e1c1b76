"""Results and stream events. Oddities: JSON-RPC sends them bare, told apart by `kind`, HTTP+JSON in a wrapper as 1.0 does;
`final` ends a 0.3 stream, where 1.0 closes it: it is true exactly on a terminal or interrupted state.
"""

from __future__ import annotations

from typing import Any

from a2a_hub.a2a.compat.v0_3.dialect import Dialect, as_object, copied, member, without_absent
from a2a_hub.a2a.compat.v0_3.message import to_compat_message, to_core_message
from a2a_hub.a2a.compat.v0_3.task import (
    to_compat_artifact,
    to_compat_status,
    to_compat_task,
    to_core_artifact,
    to_core_status,
    to_core_task,
)
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.model import Event, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent

_RESULT = "result"
_WRAPPERS = {
    "task": "task",
    "message": "message",
    "statusUpdate": "status-update",
    "artifactUpdate": "artifact-update",
}


def to_core_status_update(value: Any, path: str) -> dict[str, Any]:
    """A 0.3 status update as 1.0 JSON."""
    event = as_object(value, _RESULT)
    core = copied(event, "taskId", "contextId", "metadata")
    return core | {"status": to_core_status(event.get("status"), f"{path}.status")}


def to_core_artifact_update(value: Any, path: str) -> dict[str, Any]:
    """A 0.3 artifact update as 1.0 JSON."""
    event = as_object(value, _RESULT)
    core = copied(event, "taskId", "contextId", "append", "lastChunk", "metadata")
    return core | {"artifact": to_core_artifact(event.get("artifact"), f"{path}.artifact")}


_TO_CORE = {
    "task": ("task", to_core_task),
    "message": ("message", to_core_message),
    "status-update": ("statusUpdate", to_core_status_update),
    "artifact-update": ("artifactUpdate", to_core_artifact_update),
}


def to_core_event(value: Any) -> dict[str, Any]:
    """A 0.3 result or stream event, bare or wrapped, as 1.0's StreamResponse JSON."""
    event = as_object(value, _RESULT)
    kind = event.get("kind")
    if kind is None:
        for wrapper, inner in _WRAPPERS.items():
            if (wrapped := member(event, wrapper)) is not None:
                name, to_core = _TO_CORE[inner]
                return {name: to_core(wrapped, f"{_RESULT}.{wrapper}")}
    if not isinstance(kind, str) or kind not in _TO_CORE:
        raise invalid_field(f"{_RESULT}.kind", f"must be one of {', '.join(_TO_CORE)}")
    name, to_core = _TO_CORE[kind]
    return {name: to_core(event, _RESULT)}


def to_compat_event(event: Event, dialect: Dialect) -> dict[str, Any]:
    """A 1.0 result or stream event in 0.3's JSON."""
    rest = dialect is Dialect.REST
    match event:
        case Task():
            body = to_compat_task(event, dialect)
            return {"task": body} if rest else body
        case Message():
            body = to_compat_message(event, dialect)
            return {"message": body} if rest else body
        case TaskStatusUpdateEvent():
            body = {
                "kind": "status-update",
                "taskId": event.task_id,
                "contextId": event.context_id,
                "status": to_compat_status(event.status, dialect),
                "final": event.status.state.settled,
            }
            wrapper = "statusUpdate"
        case TaskArtifactUpdateEvent():
            body = {
                "kind": "artifact-update",
                "taskId": event.task_id,
                "contextId": event.context_id,
                "artifact": to_compat_artifact(event.artifact, dialect),
                "append": event.append,
                "lastChunk": event.last_chunk,
            }
            wrapper = "artifactUpdate"
    if event.metadata is not None:
        body["metadata"] = event.metadata
    return {wrapper: without_absent(body | {"kind": None})} if rest else body
