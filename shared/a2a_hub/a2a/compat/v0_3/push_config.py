"""Push notification configs. Oddities: 0.3 nests them, names several `schemes` where 1.0 has one `scheme`, and its HTTP+JSON
form names the resource (`tasks/T/pushNotificationConfigs/C`) instead of the ids.
"""

from __future__ import annotations

import re
from typing import Any

from a2a_hub.a2a.compat.v0_3.dialect import (
    Dialect,
    as_list,
    as_object,
    as_string,
    copied,
    member,
    without_absent,
)
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.model import TaskPushNotificationConfig

_RESOURCE = r"tasks/(?P<task>[^/]+)/pushNotificationConfigs/(?P<id>[^/]*)"


def to_core_push_config(value: Any, path: str) -> dict[str, Any]:
    """0.3's inner `pushNotificationConfig` as 1.0's flat TaskPushNotificationConfig JSON, without a task id."""
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
    """0.3's `{taskId, pushNotificationConfig}`, or HTTP+JSON's `{config: {name, pushNotificationConfig}}`, as 1.0 JSON."""
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
    """The inner `pushNotificationConfig` of 0.3."""
    authentication = None
    if config.authentication is not None:
        authentication = without_absent(
            {"schemes": [config.authentication.scheme], "credentials": config.authentication.credentials}
        )
    return without_absent(
        {"id": config.id, "url": config.url, "token": config.token, "authentication": authentication}
    )


def to_compat_task_push_config(config: TaskPushNotificationConfig, dialect: Dialect) -> dict[str, Any]:
    """0.3's TaskPushNotificationConfig."""
    inner = to_compat_push_config(config)
    if dialect is Dialect.REST:
        name = f"tasks/{config.task_id}/pushNotificationConfigs/{config.id or ''}"
        return {"name": name, "pushNotificationConfig": inner}
    return {"taskId": config.task_id or "", "pushNotificationConfig": inner}
