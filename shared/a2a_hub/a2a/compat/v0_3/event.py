"""Tasks, stream events and results. Oddities: 0.3 requires a task's `contextId`; JSON-RPC sends results bare, told apart by
`kind`, HTTP+JSON in a wrapper as 1.0 does; `final` ends a 0.3 stream, where 1.0 closes it: it is true exactly on a terminal or
interrupted state.

Push notification configs are nested, name several `schemes` where 1.0 has one `scheme`, and over HTTP+JSON name the resource
(`tasks/T/pushNotificationConfigs/C`) instead of the ids.
"""

import re
from typing import Any

from msgspec import Struct

from a2a_hub.a2a import model
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.compat.v0_3.card import to_compat_card, to_compat_rest_card
from a2a_hub.a2a.compat.v0_3.message import (
    expect_kind,
    to_compat_message,
    to_compat_part,
    to_core_message,
    to_core_part,
)
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.protojson import as_enum, as_list, as_object, as_string, copied, member, written

_NAMES = {state: state.name.lower().replace("_", "-") for state in model.TaskState} | {
    model.TaskState.UNSPECIFIED: "unknown"
}
_REST_NAMES = {state: state.value for state in model.TaskState} | {model.TaskState.CANCELED: "TASK_STATE_CANCELLED"}
_WRITE_STATE: dict[model.Binding, dict[model.TaskState, str]] = {
    model.Binding.JSONRPC: _NAMES,
    model.Binding.HTTP_JSON: _REST_NAMES,
}
_READ_STATE: dict[str | int, str] = {
    spelling: state.value
    for number, state in enumerate(model.TaskState)
    for spelling in (number, state.value, _NAMES[state], _REST_NAMES[state])
}
_STATE_EXPECTED = f"must be one of {', '.join(_NAMES.values())}"
_RESOURCE = r"tasks/(?P<task>[^/]+)/pushNotificationConfigs/(?P<id>(?s:.*))"
_RESULT = "result"


def to_core_status(value: Any, path: str) -> dict[str, Any]:
    status = as_object(value, path)
    core = copied(status, "timestamp")
    core["state"] = as_enum(status.get("state"), _READ_STATE, f"{path}.state", _STATE_EXPECTED)
    if status.get("message") is not None:
        core["message"] = to_core_message(status["message"], f"{path}.message")
    return core


def to_compat_status(status: model.TaskStatus, binding: model.Binding) -> dict[str, Any]:
    message = to_compat_message(status.message, binding) if status.message else None
    return written(status, state=_WRITE_STATE[binding][status.state], message=message)


def to_core_artifact(value: Any, path: str) -> dict[str, Any]:
    artifact = as_object(value, path)
    core = copied(artifact, "artifactId", "name", "description", "metadata", "extensions")
    parts = as_list(artifact.get("parts", []), f"{path}.parts")
    core["parts"] = [to_core_part(part, f"{path}.parts[{index}]") for index, part in enumerate(parts)]
    return core


def to_compat_artifact(artifact: model.Artifact, binding: model.Binding) -> dict[str, Any]:
    return written(artifact, parts=[to_compat_part(part, binding) for part in artifact.parts])


def to_core_task(value: Any, path: str) -> dict[str, Any]:
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


def to_compat_task(task: model.Task, binding: model.Binding) -> dict[str, Any]:
    return written(
        task,
        kind=None if binding is model.Binding.HTTP_JSON else "task",
        contextId=task.context_id or "",
        status=to_compat_status(task.status, binding),
        artifacts=[to_compat_artifact(item, binding) for item in task.artifacts] or None,
        history=[to_compat_message(item, binding) for item in task.history] or None,
    )


def to_core_status_update(value: Any, path: str) -> dict[str, Any]:
    event = as_object(value, _RESULT)
    core = copied(event, "taskId", "contextId", "metadata")
    return core | {"status": to_core_status(event.get("status"), f"{path}.status")}


def to_core_artifact_update(value: Any, path: str) -> dict[str, Any]:
    event = as_object(value, _RESULT)
    core = copied(event, "taskId", "contextId", "append", "lastChunk", "metadata")
    return core | {"artifact": to_core_artifact(event.get("artifact"), f"{path}.artifact")}


_TO_CORE = {
    "task": ("task", to_core_task),
    "message": ("message", to_core_message),
    "status-update": ("statusUpdate", to_core_status_update),
    "artifact-update": ("artifactUpdate", to_core_artifact_update),
}
# Members that tell the kinds apart where `kind` is missing, as in the tasks of VoltAgent.
_MEMBERS = (("artifact", "artifact-update"), ("parts", "message"), ("taskId", "status-update"), ("status", "task"))


def knows_kind_of(event: dict[str, Any]) -> bool:
    """Return False for an event whose kind is a word that 0.3 does not have, or that has nothing to tell its kind."""
    kind = event.get("kind")
    if kind is None:
        return any(name in event for name, _ in _MEMBERS) or any(member(event, name) for name, _ in _TO_CORE.values())
    return not isinstance(kind, str) or kind in _TO_CORE


def to_core_event(value: Any) -> dict[str, Any]:
    """Return a 0.3 result or stream event, bare or wrapped, as 1.0's StreamResponse JSON."""
    event = as_object(value, _RESULT)
    kind = event.get("kind")
    if kind is None:
        for name, to_core in _TO_CORE.values():
            if (wrapped := member(event, name)) is not None:
                return {name: to_core(wrapped, f"{_RESULT}.{name}")}
        kind = next((kind for name, kind in _MEMBERS if name in event), None)
    if not isinstance(kind, str) or kind not in _TO_CORE:
        raise invalid_field(f"{_RESULT}.kind", f"must be one of {', '.join(_TO_CORE)}")
    name, to_core = _TO_CORE[kind]
    return {name: to_core(event, _RESULT)}


def to_core_push_config(value: Any, path: str) -> dict[str, Any]:
    """Return 0.3's inner `pushNotificationConfig` as 1.0's flat TaskPushNotificationConfig JSON, without a task id."""
    config = as_object(value, path)
    core: dict[str, Any] = {
        name: as_string(config[name], f"{path}.{name}")
        for name in ("id", "url", "token")
        if config.get(name) is not None
    }
    if "url" not in core:
        raise invalid_field(f"{path}.url", "is required")
    if config.get("authentication") is not None:
        authentication = as_object(config["authentication"], f"{path}.authentication")
        # Empty in ProtoJSON means absent.
        if any(value not in (None, [], "") for value in authentication.values()):
            core["authentication"] = _to_core_authentication(authentication, f"{path}.authentication")
    return core


def _to_core_authentication(authentication: dict[str, Any], path: str) -> dict[str, Any]:
    schemes = as_list(authentication.get("schemes") or [], f"{path}.schemes")
    if not schemes:
        raise invalid_field(f"{path}.schemes", "must name a scheme")
    core = {"scheme": as_string(schemes[0], f"{path}.schemes[0]")}
    if (credentials := authentication.get("credentials")) is not None:
        core["credentials"] = as_string(credentials, f"{path}.credentials")
    return core


def to_core_task_push_config(value: Any, path: str) -> dict[str, Any]:
    """Return 0.3's `{taskId, pushNotificationConfig}`, or HTTP+JSON's `{config: {name, pushNotificationConfig}}`, as 1.0 JSON."""
    request = as_object(value, path or "params")
    outer = as_object(request.get("config", request), path or "params")
    inner = f"{path}.pushNotificationConfig".lstrip(".")
    core = to_core_push_config(member(outer, "pushNotificationConfig"), inner)
    named = re.fullmatch(_RESOURCE, name) if isinstance(name := outer.get("name"), str) else None
    if named:
        core["taskId"] = named["task"]
        if named["id"]:
            core["id"] = named["id"]
    if "id" not in core and (config_id := member(request, "configId")) is not None:
        core["id"] = as_string(config_id, "configId")
    return core | copied(outer, "taskId")


def to_compat_push_config(config: model.TaskPushNotificationConfig) -> dict[str, Any]:
    """Return the inner `pushNotificationConfig` of 0.3."""
    own = config.authentication
    authentication = written(own, scheme=None, schemes=[own.scheme]) if own else None
    return written(config, tenant=None, taskId=None, authentication=authentication)


def to_compat_task_push_config(config: model.TaskPushNotificationConfig, binding: model.Binding) -> dict[str, Any]:
    """Return 0.3's TaskPushNotificationConfig."""
    inner = to_compat_push_config(config)
    if binding is model.Binding.HTTP_JSON:
        name = f"tasks/{config.task_id}/pushNotificationConfigs/{config.id or ''}"
        return {"name": name, "pushNotificationConfig": inner}
    return {"taskId": config.task_id or "", "pushNotificationConfig": inner}


def to_compat_result(value: model.Event | Struct, binding: model.Binding) -> Any:
    """Return an event, or any operation's result, in 0.3's JSON. Raises TypeError for one that 0.3 does not have."""
    rest = binding is model.Binding.HTTP_JSON
    match value:
        case model.Message():
            name, body = "message", to_compat_message(value, binding)
        case model.Task():
            name, body = "task", to_compat_task(value, binding)
        case model.TaskStatusUpdateEvent():
            kind, status, final = "status-update", to_compat_status(value.status, binding), value.status.state.settled
            name, body = "statusUpdate", written(value, kind=None if rest else kind, status=status, final=final)
        case model.TaskArtifactUpdateEvent():
            kind, artifact = "artifact-update", to_compat_artifact(value.artifact, binding)
            name, body = "artifactUpdate", written(value, kind=None if rest else kind, artifact=artifact)
        case model.ListTasksResponse() if rest:
            return written(value, tasks=[to_compat_task(task, binding) for task in value.tasks])
        case model.TaskPushNotificationConfig():
            return to_compat_task_push_config(value, binding)
        case model.ListTaskPushNotificationConfigsResponse(configs=configs):
            listed = [to_compat_task_push_config(config, binding) for config in configs]
            return {"configs": listed, "nextPageToken": ""} if rest else listed
        case AgentCard():
            return to_compat_rest_card(value) if rest else to_compat_card(value)
        case _:
            raise TypeError(f"A2A 0.3 has no {type(value).__name__}")
    return {name: body} if rest else body
