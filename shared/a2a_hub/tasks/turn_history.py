"""What a stored task was before the turn that it is in."""

from __future__ import annotations

from collections.abc import Iterator

from a2a_hub.a2a.model import Event, Message, Task
from a2a_hub.task_store.event_encoding import folded
from a2a_hub.task_store.store import StoredTask, TaskStore
from a2a_hub.tasks.resume_payload import read_work


def before_turn(store: TaskStore, stored: StoredTask) -> Task | None:
    """The task as it was when its client's last message came; None where that is what began it."""
    if read_work(stored.work).turn == 1:
        return None
    events = list(_log(store, stored))
    said = [place for place, event in enumerate(events) if isinstance(event, Message)]
    return folded(None, events[: said[-1]]) if said else None


def _log(store: TaskStore, stored: StoredTask) -> Iterator[Event]:
    position = 0
    while position < stored.version and (entries := store.entries(stored.task.id, after=position)):
        for entry in entries:
            position = entry.sequence
            yield entry.event
