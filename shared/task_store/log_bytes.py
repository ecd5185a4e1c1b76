"""Events of a task's log as core-1.0 JSON, and a log's fold in one go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from shared.a2a import fold
from shared.a2a.model import Event, Part, StreamResponse, Task, TaskArtifactUpdateEvent
from shared.a2a.wrap import unwrapped, wrapped

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
    """The task after the events; without one, the first event is the task. In time linear in a long run of chunks."""
    for event in _chunks_joined(events):
        if task is None:
            assert isinstance(event, Task), "a log begins with its task"
            task = event
        else:
            task = fold.after(task, event)
    assert task is not None, "a log has a first entry"
    return task


def _chunks_joined(events: Iterable[Event]) -> Iterator[Event]:
    """Events that fold to the same; chunks of one artifact that follow each other are one, since each append copies the parts."""
    held: TaskArtifactUpdateEvent | None = None
    parts: list[Part] = []
    for event in events:
        update = event if isinstance(event, TaskArtifactUpdateEvent) else None
        if held and update and update.append and update.artifact.artifact_id == held.artifact.artifact_id:
            parts += update.artifact.parts
            continue
        if held:
            yield _with_parts(held, parts)
        held, parts = update, list(update.artifact.parts) if update else []
        if update is None:
            yield event
    if held:
        yield _with_parts(held, parts)


def _with_parts(update: TaskArtifactUpdateEvent, parts: list[Part]) -> TaskArtifactUpdateEvent:
    if len(parts) == len(update.artifact.parts):
        return update
    artifact = msgspec.structs.replace(update.artifact, parts=tuple(parts))
    return msgspec.structs.replace(update, artifact=artifact)
