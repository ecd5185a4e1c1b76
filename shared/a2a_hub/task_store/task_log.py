"""A task's log: its entries and snapshots as core-1.0 JSON, their replay, and a cache of recent snapshots."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable

import msgspec

from a2a_hub.a2a.fold import TaskAccumulator
from a2a_hub.a2a.model import Event, StreamResponse, Task, unwrapped, wrapped
from a2a_hub.task_store.task_record import TaskRecord

_encoder = msgspec.json.Encoder()
_events = msgspec.json.Decoder(StreamResponse)
_tasks = msgspec.json.Decoder(Task)
_MOST_BYTES = 32_000_000


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


def apply_events(task: Task | None, events: Iterable[Event]) -> Task:
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


class SnapshotCache:
    """Keys are of one task each, for ever: an id alone is not, since it may come back after a purge."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._snapshots: OrderedDict[Hashable, tuple[int, int, Task]] = OrderedDict()
        self._bytes = 0

    def nearest(self, key: Hashable, record: TaskRecord) -> tuple[int, Task | None]:
        """A version up to the head's and its fold; (0, None) where none is remembered."""
        with self._lock:
            version, _, task = self._snapshots.get(key, (0, 0, None))
        # What this reader sees may be older than what another thread has remembered since.
        return (version, task) if version <= record.version else (0, None)

    def remember(self, key: Hashable, record: TaskRecord, task: Task) -> None:
        """Keeps a fold that is stored, until its task has ended: then it is hardly asked for again soon."""
        with self._lock:
            self._forget(key)
            if record.state.terminal:
                return
            self._snapshots[key] = (record.version, record.size, task)
            self._bytes += record.size
            while self._bytes > _MOST_BYTES:
                self._forget(next(iter(self._snapshots)))

    def forget(self, key: Hashable) -> None:
        """The task is gone."""
        with self._lock:
            self._forget(key)

    def _forget(self, key: Hashable) -> None:
        if key in self._snapshots:
            self._bytes -= self._snapshots.pop(key)[1]
