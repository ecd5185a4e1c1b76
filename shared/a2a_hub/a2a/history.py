"""How much of a task's history an answer shows (A2A 1.0.1 §3.2.4)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from a2a_hub.a2a.model import Event, SendMessageRequest, Task

Write = Callable[[Event | msgspec.Struct | None], bytes]


def with_history(task: Task, length: int | None) -> Task:
    """The task with its last `length` messages; None is all of them."""
    if length is None or length >= len(task.history):
        return task
    return msgspec.structs.replace(task, history=task.history[len(task.history) - length :])


def as_asked(params: msgspec.Struct, write: Write) -> Write:
    """`write`, but of each task no more history than the message's configuration asks for, a stream's first event included."""
    configuration = params.configuration if isinstance(params, SendMessageRequest) else None
    if configuration is None or configuration.history_length is None:
        return write
    length = configuration.history_length
    return lambda value: write(with_history(value, length) if isinstance(value, Task) else value)
