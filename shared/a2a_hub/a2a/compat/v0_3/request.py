"""Requests and push notification configs. Oddities: `historyLength` 0 means all, not none; an unset `blocking` waits, as 1.0's
unset `returnImmediately` does, but in a configuration over HTTP+JSON it is false: ProtoJSON leaves false out, and so do the
official clients.

Push notification configs are nested, name several `schemes` where 1.0 has one `scheme`, and over HTTP+JSON name the resource
(`tasks/T/pushNotificationConfigs/C`) instead of the ids.

`params.text` is no part of 0.3, yet some clients send nothing else: it stands in where no message has text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from a2a_hub.a2a import operations as op
from a2a_hub.a2a.compat.v0_3.fields import as_list, as_object, as_string, copied, member, without_absent
from a2a_hub.a2a.compat.v0_3.message import to_compat_message, to_core_message
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.model import (
    Binding,
    SendMessageConfiguration,
    SendMessageRequest,
    TaskPushNotificationConfig,
)

_RESOURCE = r"tasks/(?P<task>[^/]+)/pushNotificationConfigs/(?P<id>[^/]*)"


def to_core_send(value: Any, binding: Binding = Binding.JSONRPC) -> dict[str, Any]:
    """Return 0.3's MessageSendParams as 1.0's SendMessageRequest JSON."""
    params = as_object(value, "params")
    core = copied(params, "metadata")
    # `message` is `request` in 0.3's proto, and the official 1.x client writes it so when it speaks 0.3 over HTTP+JSON.
    message = next((params[name] for name in ("message", "request") if params.get(name) is not None), None)
    if message is not None:
        core["message"] = to_core_message(message, "message")
    if params.get("configuration") is not None:
        core["configuration"] = to_core_configuration(params["configuration"], "configuration", binding)
    return core


def to_core_configuration(value: Any, path: str, binding: Binding) -> dict[str, Any]:
    """Return 0.3's MessageSendConfiguration as 1.0 JSON."""
    configuration = as_object(value, path)
    core = _without_unlimited(copied(configuration, "acceptedOutputModes", "historyLength"))
    blocking = configuration.get("blocking", False if binding is Binding.HTTP_JSON else None)
    if blocking is not None:
        if not isinstance(blocking, bool):
            raise invalid_field(f"{path}.blocking", "must be a boolean")
        core["returnImmediately"] = not blocking
    for name in ("pushNotificationConfig", "pushNotification"):
        if (config := member(configuration, name)) is not None:
            core["taskPushNotificationConfig"] = to_core_push_config(config, f"{path}.{name}")
    return core


def _without_unlimited(core: dict[str, Any]) -> dict[str, Any]:
    length = core.get("historyLength")
    if length == "0" or (length == 0 and not isinstance(length, bool)):
        del core["historyLength"]
    return core


def to_compat_send(request: SendMessageRequest, binding: Binding) -> dict[str, Any]:
    """Return a 1.0 SendMessageRequest as 0.3's MessageSendParams, for a downstream agent that speaks 0.3."""
    compat: dict[str, Any] = {"message": to_compat_message(request.message, binding)}
    if request.configuration is not None:
        compat["configuration"] = to_compat_configuration(request.configuration, binding)
    if request.metadata is not None:
        compat["metadata"] = request.metadata
    return compat


def to_compat_configuration(configuration: SendMessageConfiguration, binding: Binding) -> dict[str, Any]:
    """Return a 1.0 send configuration in 0.3's JSON."""
    compat: dict[str, Any] = {
        "acceptedOutputModes": configuration.accepted_output_modes,
        "blocking": not configuration.return_immediately,
    }
    if configuration.history_length:
        compat["historyLength"] = configuration.history_length
    if configuration.task_push_notification_config is not None:
        name = "pushNotification" if binding is Binding.HTTP_JSON else "pushNotificationConfig"
        compat[name] = to_compat_push_config(configuration.task_push_notification_config)
    return compat


def _to_core_task_query(value: Any) -> dict[str, Any]:
    return _without_unlimited(copied(as_object(value, "params"), "id", "historyLength", "metadata"))


def _to_core_push_query(value: Any) -> dict[str, Any]:
    """Return the ids of a task and a config. 0.3's params have `id` and an optional `pushNotificationConfigId`; paths name them
    as 1.0.
    """
    params = as_object(value, "params")
    if "task_id" in params:
        return copied(params, "task_id", "id")
    if params.get("id") is None:
        raise invalid_field("id", "is required")
    return {
        "taskId": as_string(params["id"], "id"),
        "id": as_string(params.get("pushNotificationConfigId") or "", "pushNotificationConfigId"),
    }


def _to_core_push_delete(value: Any) -> dict[str, Any]:
    core = _to_core_push_query(value)
    if not core.get("id"):
        raise invalid_field("pushNotificationConfigId", "is required")
    return core


def _to_core_push_create(value: Any) -> dict[str, Any]:
    core = to_core_task_push_config(value, "")
    if isinstance(value, dict) and "task_id" in value:
        core["taskId"] = value["task_id"]
    return core


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
        core["authentication"] = _to_core_authentication(config["authentication"], f"{path}.authentication")
    return core


def _to_core_authentication(value: Any, path: str) -> dict[str, Any]:
    authentication = as_object(value, path)
    schemes = as_list(authentication.get("schemes"), f"{path}.schemes")
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


def to_compat_push_config(config: TaskPushNotificationConfig) -> dict[str, Any]:
    """Return the inner `pushNotificationConfig` of 0.3."""
    authentication = None
    if config.authentication is not None:
        authentication = without_absent(
            {"schemes": [config.authentication.scheme], "credentials": config.authentication.credentials}
        )
    return without_absent(
        {"id": config.id, "url": config.url, "token": config.token, "authentication": authentication}
    )


def to_compat_task_push_config(config: TaskPushNotificationConfig, binding: Binding) -> dict[str, Any]:
    """Return 0.3's TaskPushNotificationConfig."""
    inner = to_compat_push_config(config)
    if binding is Binding.HTTP_JSON:
        name = f"tasks/{config.task_id}/pushNotificationConfigs/{config.id or ''}"
        return {"name": name, "pushNotificationConfig": inner}
    return {"taskId": config.task_id or "", "pushNotificationConfig": inner}


_PARAMS: dict[str, Callable[[Any], dict[str, Any]]] = {
    op.GET_TASK.name: _to_core_task_query,
    op.CREATE_PUSH_CONFIG.name: _to_core_push_create,
    op.GET_PUSH_CONFIG.name: _to_core_push_query,
    op.LIST_PUSH_CONFIGS.name: _to_core_push_query,
    op.DELETE_PUSH_CONFIG.name: _to_core_push_delete,
}


def to_core_params(operation: op.Operation, value: Any, binding: Binding) -> dict[str, Any]:
    """Return 0.3's params of any operation as 1.0 JSON."""
    if operation.request is SendMessageRequest:
        return to_core_send(value, binding)
    translate = _PARAMS.get(operation.name)
    return translate(value) if translate else as_object(value, "params")
