"""Enums, and access to the members of JSON objects. Oddity: HTTP+JSON spells CANCELLED with two l's, JSON-RPC with one."""

from __future__ import annotations

from functools import cache
from typing import Any

from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.model import Binding, Role, TaskState

_STATES: tuple[tuple[TaskState, str, str], ...] = (
    (TaskState.UNSPECIFIED, "unknown", "TASK_STATE_UNSPECIFIED"),
    (TaskState.SUBMITTED, "submitted", "TASK_STATE_SUBMITTED"),
    (TaskState.WORKING, "working", "TASK_STATE_WORKING"),
    (TaskState.COMPLETED, "completed", "TASK_STATE_COMPLETED"),
    (TaskState.FAILED, "failed", "TASK_STATE_FAILED"),
    (TaskState.CANCELED, "canceled", "TASK_STATE_CANCELLED"),
    (TaskState.INPUT_REQUIRED, "input-required", "TASK_STATE_INPUT_REQUIRED"),
    (TaskState.REJECTED, "rejected", "TASK_STATE_REJECTED"),
    (TaskState.AUTH_REQUIRED, "auth-required", "TASK_STATE_AUTH_REQUIRED"),
)
_ROLES: tuple[tuple[Role, str, str], ...] = (
    (Role.USER, "user", "ROLE_USER"),
    (Role.AGENT, "agent", "ROLE_AGENT"),
)
_READ_STATE: dict[str | int, TaskState] = {
    **{name: core for core, *names in _STATES for name in (*names, core.value)},
    **dict(enumerate(TaskState)),
}
_READ_ROLE: dict[str | int, Role] = {
    **{name: core for core, *names in _ROLES for name in names},
    **{number: role for number, role in enumerate(Role) if role is not Role.UNSPECIFIED},
}
_WRITE_STATE = {
    Binding.JSONRPC: {row[0]: row[1] for row in _STATES},
    Binding.HTTP_JSON: {row[0]: row[2] for row in _STATES},
}
_WRITE_ROLE = {
    Binding.JSONRPC: {row[0]: row[1] for row in _ROLES},
    Binding.HTTP_JSON: {row[0]: row[2] for row in _ROLES},
}


def to_core_state(value: Any, path: str) -> str:
    """Return the 1.0 name of a 0.3 task state."""
    if isinstance(value, str | int) and not isinstance(value, bool) and value in _READ_STATE:
        return _READ_STATE[value].value
    raise invalid_field(path, f"must be one of {', '.join(row[1] for row in _STATES)}")


def to_core_role(value: Any, path: str) -> str:
    """Return the 1.0 name of a 0.3 role."""
    if isinstance(value, str | int) and not isinstance(value, bool) and value in _READ_ROLE:
        return _READ_ROLE[value].value
    raise invalid_field(path, "must be user or agent")


def to_compat_state(state: TaskState, binding: Binding) -> str:
    """Return the 0.3 name of a task state."""
    return _WRITE_STATE[binding][state]


def to_compat_role(role: Role, binding: Binding) -> str:
    """Return the 0.3 name of a role. 0.3 has no "unspecified": an agent that left it out is an agent."""
    return _WRITE_ROLE[binding].get(role) or _WRITE_ROLE[binding][Role.AGENT]


def as_object(value: Any, path: str) -> dict[str, Any]:
    """Return `value`, which must be a JSON object."""
    if isinstance(value, dict):
        return value
    raise invalid_field(path, "must be an object")


def as_list(value: Any, path: str) -> list[Any]:
    """Return `value`, which must be a JSON array."""
    if isinstance(value, list):
        return value
    raise invalid_field(path, "must be an array")


def as_string(value: Any, path: str) -> str:
    """Return `value`, which must be a string. Checked here if 1.0 has another name for the field."""
    if isinstance(value, str):
        return value
    raise invalid_field(path, "must be a string")


def member(value: dict[str, Any], name: str) -> Any:
    """Return the member of a camelCase name or its snake_case form (ProtoJSON), None if it is absent."""
    found = value.get(name)
    return value.get(_snake_case(name)) if found is None else found


@cache
def _snake_case(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def expect_kind(value: dict[str, Any], kind: str, path: str) -> None:
    """Check `kind` if it is given; 0.3's HTTP+JSON form has none."""
    if value.get("kind") not in (None, kind):
        raise invalid_field(f"{path}.kind", f"must be {kind}")


def copied(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the members that both versions spell alike, by their camelCase names."""
    return {name: found for name in names if (found := member(value, name)) is not None}


def without_absent(value: dict[str, Any]) -> dict[str, Any]:
    """Return `value` without the members that are None or an empty tuple."""
    return {name: item for name, item in value.items() if item is not None and item != ()}
