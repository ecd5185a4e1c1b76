"""Tasks, stream events and results. Oddities: 0.3 requires a task's `contextId`; JSON-RPC sends results bare, told apart by
`kind`, HTTP+JSON in a wrapper as 1.0 does; `final` ends a 0.3 stream, where 1.0 closes it: it is true exactly on a terminal or
interrupted state.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.compat.v0_3.card import to_compat_card, to_compat_rest_card
from a2a_hub.a2a.compat.v0_3.fields import (
    as_list,
    as_object,
    copied,
    expect_kind,
    member,
    to_compat_state,
    to_core_state,
    without_absent,
)
from a2a_hub.a2a.compat.v0_3.message import to_compat_message, to_compat_part, to_core_message, to_core_part
from a2a_hub.a2a.compat.v0_3.request import to_compat_task_push_config
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.model import (
    Artifact,
    Binding,
    Event,
    ListTaskPushNotificationConfigsResponse,
    ListTasksResponse,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskPushNotificationConfig,
    TaskStatus,
    TaskStatusUpdateEvent,
)

_RESULT = "result"
_WRAPPERS = {
    "task": "task",
    "message": "message",
    "statusUpdate": "status-update",
    "artifactUpdate": "artifact-update",
}


def to_core_status(value: Any, path: str) -> dict[str, Any]:
    """Return a 0.3 task status as 1.0 JSON."""
    status = as_object(value, path)
    core = copied(status, "timestamp")
    core["state"] = to_core_state(status.get("state"), f"{path}.state")
    if status.get("message") is not None:
        core["message"] = to_core_message(status["message"], f"{path}.message")
    return core


def to_compat_status(status: TaskStatus, binding: Binding) -> dict[str, Any]:
    """Return a 1.0 task status in 0.3's JSON."""
    return without_absent(
        {
            "state": to_compat_state(status.state, binding),
            "message": to_compat_message(status.message, binding) if status.message else None,
            "timestamp": status.timestamp,
        }
    )


def to_core_artifact(value: Any, path: str) -> dict[str, Any]:
    """Return a 0.3 artifact as 1.0 JSON."""
    artifact = as_object(value, path)
    core = copied(artifact, "artifactId", "name", "description", "metadata", "extensions")
    parts = as_list(artifact.get("parts", []), f"{path}.parts")
    core["parts"] = [to_core_part(part, f"{path}.parts[{index}]") for index, part in enumerate(parts)]
    return core


def to_compat_artifact(artifact: Artifact, binding: Binding) -> dict[str, Any]:
    """Return a 1.0 artifact in 0.3's JSON."""
    return without_absent(
        {
            "artifactId": artifact.artifact_id,
            "name": artifact.name,
            "description": artifact.description,
            "parts": [to_compat_part(part, binding) for part in artifact.parts],
            "metadata": artifact.metadata,
            "extensions": artifact.extensions,
        }
    )


def to_core_task(value: Any, path: str) -> dict[str, Any]:
    """Return a 0.3 task as 1.0 JSON."""
    task = as_object(value, path)
    expect_kind(task, "task", path)
    core = copied(task, "id", "contextId", "metadata")
    if core.get("contextId") == "":
        del core["contextId"]
    core["status"] = to_core_status(task.get("status"), f"{path}.status")
    for name, to_core in (("artifacts", to_core_artifact), ("history", to_core_message)):
        if task.get(name) is not None:
            items = as_list(task[name], f"{path}.{name}")
            core[name] = [to_core(item, f"{path}.{name}[{index}]") for index, item in enumerate(items)]
    return core


def to_compat_task(task: Task, binding: Binding) -> dict[str, Any]:
    """Return a 1.0 task in 0.3's JSON."""
    return without_absent(
        {
            "kind": None if binding is Binding.HTTP_JSON else "task",
            "id": task.id,
            "contextId": task.context_id or "",
            "status": to_compat_status(task.status, binding),
            "artifacts": [to_compat_artifact(item, binding) for item in task.artifacts] or None,
            "history": [to_compat_message(item, binding) for item in task.history] or None,
            "metadata": task.metadata,
        }
    )


def to_core_status_update(value: Any, path: str) -> dict[str, Any]:
    """Return a 0.3 status update as 1.0 JSON."""
    event = as_object(value, _RESULT)
    core = copied(event, "taskId", "contextId", "metadata")
    return core | {"status": to_core_status(event.get("status"), f"{path}.status")}


def to_core_artifact_update(value: Any, path: str) -> dict[str, Any]:
    """Return a 0.3 artifact update as 1.0 JSON."""
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
    """Return a 0.3 result or stream event, bare or wrapped, as 1.0's StreamResponse JSON."""
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


def to_compat_event(event: Event, binding: Binding) -> dict[str, Any]:
    """Return a 1.0 result or stream event in 0.3's JSON."""
    rest = binding is Binding.HTTP_JSON
    match event:
        case Task():
            body = to_compat_task(event, binding)
            return {"task": body} if rest else body
        case Message():
            body = to_compat_message(event, binding)
            return {"message": body} if rest else body
        case TaskStatusUpdateEvent():
            body = {
                "kind": "status-update",
                "taskId": event.task_id,
                "contextId": event.context_id,
                "status": to_compat_status(event.status, binding),
                "final": event.status.state.settled,
            }
            wrapper = "statusUpdate"
        case TaskArtifactUpdateEvent():
            body = {
                "kind": "artifact-update",
                "taskId": event.task_id,
                "contextId": event.context_id,
                "artifact": to_compat_artifact(event.artifact, binding),
                "append": event.append,
                "lastChunk": event.last_chunk,
            }
            wrapper = "artifactUpdate"
    if event.metadata is not None:
        body["metadata"] = event.metadata
    return {wrapper: without_absent(body | {"kind": None})} if rest else body


def to_compat_result(value: Event | Struct | None, binding: Binding) -> Any:
    """Return any operation's result in 0.3's JSON. Raises TypeError for one that 0.3 does not have."""
    rest = binding is Binding.HTTP_JSON
    match value:
        case None:
            return None
        case Task() | Message() | TaskStatusUpdateEvent() | TaskArtifactUpdateEvent():
            return to_compat_event(value, binding)
        case ListTasksResponse() if rest:
            return {
                "tasks": [to_compat_task(task, binding) for task in value.tasks],
                "nextPageToken": value.next_page_token,
                "pageSize": value.page_size,
                "totalSize": value.total_size,
            }
        case TaskPushNotificationConfig():
            return to_compat_task_push_config(value, binding)
        case ListTaskPushNotificationConfigsResponse(configs=configs):
            listed = [to_compat_task_push_config(config, binding) for config in configs]
            return {"configs": listed, "nextPageToken": ""} if rest else listed
        case AgentCard():
            return to_compat_rest_card(value) if rest else to_compat_card(value)
        case _:
            raise TypeError(f"A2A 0.3 has no {type(value).__name__}")
