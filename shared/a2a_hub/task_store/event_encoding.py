"""Events of a task's log as core-1.0 JSON, and a log's fold in one go."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from a2a_hub.a2a.envelope import unwrapped, wrapped
from a2a_hub.a2a.fold import TaskAccumulator
from a2a_hub.a2a.model import Event, StreamResponse, Task

_encoder = msgspec.json.Encoder()
_events = msgspec.json.Decoder(StreamResponse)
_tasks = msgspec.json.Decoder(Task)


def event_bytes(event: Event) -> bytes:
    """The event in the wrapper that tells its kind."""
    return _encoder.encode(wrapped(event))


def read_event(body: bytes) -> Event:
    """What `event_bytes` wrote."""
    return unwrapped(_events.decode(body))


def task_bytes(task: Task) -> bytes:
    """A fold, to be kept."""
    return _encoder.encode(task)


def read_task(body: bytes) -> Task:
    """What `task_bytes` wrote."""
    return _tasks.decode(body)


def folded(task: Task | None, events: Iterable[Event]) -> Task:
    """The task after the events; without one, the first event is the task."""
    growing = TaskAccumulator(task) if task is not None else None
    for event in events:
        if growing is None:
            assert isinstance(event, Task), "a log begins with its task"
            growing = TaskAccumulator(event)
        else:
            growing.add(event)
    assert growing is not None, "a log has a first entry"
    return growing.task
