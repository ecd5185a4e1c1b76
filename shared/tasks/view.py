"""A stored task as its client asked to see it (A2A 1.0.1 §3.2.4, §3.1.4)."""

from __future__ import annotations

import msgspec

from shared.a2a.model import Task


def with_history(task: Task, length: int | None) -> Task:
    """The task with its last `length` messages; None is all of them."""
    if length is None or length >= len(task.history):
        return task
    return msgspec.structs.replace(task, history=task.history[len(task.history) - length :])


def without_artifacts(task: Task) -> Task:
    """The task without its artifacts."""
    return msgspec.structs.replace(task, artifacts=()) if task.artifacts else task
