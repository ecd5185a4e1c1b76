"""Messages. Oddity: HTTP+JSON calls the parts `content` and knows no `referenceTaskIds`."""

from __future__ import annotations

from typing import Any

from a2a_hub.a2a.compat.v0_3.dialect import (
    Dialect,
    as_list,
    as_object,
    copied,
    expect_kind,
    to_compat_role,
    to_core_role,
    without_absent,
)
from a2a_hub.a2a.compat.v0_3.part import to_compat_part, to_core_part
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.model import Message

_ALIKE = ("messageId", "contextId", "taskId", "metadata", "extensions", "referenceTaskIds")


def to_core_message(value: Any, path: str) -> dict[str, Any]:
    """A 0.3 message of either JSON form as 1.0 JSON."""
    message = as_object(value, path)
    expect_kind(message, "message", path)
    core = copied(message, *_ALIKE)
    if message.get("role") is not None:
        core["role"] = to_core_role(message["role"], f"{path}.role")
    name = "content" if message.get("content") is not None and message.get("parts") is None else "parts"
    if message.get(name) is None:
        raise invalid_field(f"{path}.parts", "is required")
    parts = as_list(message[name], f"{path}.{name}")
    core["parts"] = [to_core_part(part, f"{path}.{name}[{index}]") for index, part in enumerate(parts)]
    return core


def to_compat_message(message: Message, dialect: Dialect) -> dict[str, Any]:
    """A 1.0 message in 0.3's JSON."""
    rest = dialect is Dialect.REST
    parts = [to_compat_part(part, dialect) for part in message.parts]
    return without_absent(
        {
            "kind": None if rest else "message",
            "messageId": message.message_id,
            "role": to_compat_role(message.role, dialect),
            "content" if rest else "parts": parts,
            "contextId": message.context_id,
            "taskId": message.task_id,
            "metadata": message.metadata,
            "extensions": message.extensions,
            "referenceTaskIds": () if rest else message.reference_task_ids,
        }
    )
