"""Tasks, their status and artifacts. Oddity: 0.3 requires a task's `contextId`."""

from __future__ import annotations

from typing import Any

from a2a_hub.a2a.compat.v0_3.dialect import (
    Dialect,
    as_list,
    as_object,
    copied,
    expect_kind,
    to_compat_state,
    to_core_state,
    without_absent,
)
from a2a_hub.a2a.compat.v0_3.message import to_compat_message, to_core_message
from a2a_hub.a2a.compat.v0_3.part import to_compat_part, to_core_part
from a2a_hub.a2a.model import Artifact, Task, TaskStatus


def to_core_status(value: Any, path: str) -> dict[str, Any]:
    """A 0.3 task status as 1.0 JSON."""
    status = as_object(value, path)
    core = copied(status, "timestamp")
    core["state"] = to_core_state(status.get("state"), f"{path}.state")
    if status.get("message") is not None:
        core["message"] = to_core_message(status["message"], f"{path}.message")
    return core


def to_compat_status(status: TaskStatus, dialect: Dialect) -> dict[str, Any]:
    """A 1.0 task status in 0.3's JSON."""
    return without_absent(
        {
            "state": to_compat_state(status.state, dialect),
            "message": to_compat_message(status.message, dialect) if status.message else None,
            "timestamp": status.timestamp,
        }
    )


def to_core_artifact(value: Any, path: str) -> dict[str, Any]:
    """A 0.3 artifact as 1.0 JSON."""
    artifact = as_object(value, path)
    core = copied(artifact, "artifactId", "name", "description", "metadata", "extensions")
    parts = as_list(artifact.get("parts", []), f"{path}.parts")
    core["parts"] = [to_core_part(part, f"{path}.parts[{index}]") for index, part in enumerate(parts)]
    return core


def to_compat_artifact(artifact: Artifact, dialect: Dialect) -> dict[str, Any]:
    """A 1.0 artifact in 0.3's JSON."""
    return without_absent(
        {
            "artifactId": artifact.artifact_id,
            "name": artifact.name,
            "description": artifact.description,
            "parts": [to_compat_part(part, dialect) for part in artifact.parts],
            "metadata": artifact.metadata,
            "extensions": artifact.extensions,
        }
    )


def to_core_task(value: Any, path: str) -> dict[str, Any]:
    """A 0.3 task as 1.0 JSON."""
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


def to_compat_task(task: Task, dialect: Dialect) -> dict[str, Any]:
    """A 1.0 task in 0.3's JSON."""
    return without_absent(
        {
            "kind": None if dialect is Dialect.REST else "task",
            "id": task.id,
            "contextId": task.context_id or "",
            "status": to_compat_status(task.status, dialect),
            "artifacts": [to_compat_artifact(item, dialect) for item in task.artifacts] or None,
            "history": [to_compat_message(item, dialect) for item in task.history] or None,
            "metadata": task.metadata,
        }
    )
