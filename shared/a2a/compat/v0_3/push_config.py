"""Push notification configs. Oddities: 0.3 nests them, names several `schemes` where 1.0 has one `scheme`, and its HTTP+JSON
form names the resource (`tasks/T/pushNotificationConfigs/C`) instead of the ids.
"""

from __future__ import annotations

from typing import Any

from shared.a2a.compat.v0_3.dialect import Dialect, as_object, copied, without_absent
from shared.a2a.model import TaskPushNotificationConfig


def to_core_push_config(value: Any, path: str) -> dict[str, Any]:
    """0.3's inner `pushNotificationConfig` as 1.0's flat TaskPushNotificationConfig JSON, without a task id."""
    config = as_object(value, path)
    core = copied(config, "id", "url", "token")
    if config.get("authentication") is not None:
        authentication = as_object(config["authentication"], f"{path}.authentication")
        schemes = authentication.get("schemes")
        first = schemes[0] if isinstance(schemes, list) and schemes else authentication.get("scheme")
        core["authentication"] = copied(authentication, "credentials") | ({"scheme": first} if first else {})
    return core


def to_core_task_push_config(value: Any, path: str) -> dict[str, Any]:
    """0.3's `{taskId, pushNotificationConfig}`, or HTTP+JSON's `{config: {name, pushNotificationConfig}}`, as 1.0 JSON."""
    outer = as_object(value, path)
    outer = as_object(outer.get("config", outer), path)
    core = to_core_push_config(
        outer.get("pushNotificationConfig"), f"{path}.pushNotificationConfig".lstrip(".")
    )
    if outer.get("taskId") is not None:
        core["taskId"] = outer["taskId"]
    return core


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
