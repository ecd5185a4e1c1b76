"""A task's log: its entries and snapshots as core-1.0 JSON, their replay, and a cache of recent snapshots."""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from itertools import chain

import msgspec
from msgspec import UNSET

from a2a_hub.a2a.fold import TaskAccumulator
from a2a_hub.a2a.model import Event, StreamResponse, Task, unwrapped, wrapped
from a2a_hub.task_store.task_record import TaskRecord

_encoder = msgspec.json.Encoder()
_events = msgspec.json.Decoder(StreamResponse)
_tasks = msgspec.json.Decoder(Task)
_MAX_BYTES = 32_000_000
_PART_BYTES = 250
"""The memory that a part takes beside its text."""
_DATA_SHARE = 24
"""The memory that JSON takes at most, as a multiple of its encoding."""


def event_bytes(event: Event) -> bytes:
    """Return the event in the envelope that names its kind."""
    return _encoder.encode(wrapped(event))


def read_event(body: bytes) -> Event:
    """Return the event that `event_bytes` encoded."""
    return unwrapped(_events.decode(body))


def task_bytes(task: Task) -> bytes:
    """Return a snapshot as bytes."""
    return _encoder.encode(task)


def read_task(body: bytes) -> Task:
    """Return the task that `task_bytes` encoded."""
    return _tasks.decode(body)


def apply_events(task: Task | None, events: Iterable[Event]) -> Task:
    """Return the task after the events; without a task, the first event is the task."""
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
    """An LRU cache of recent snapshots within 32 MB of memory, so that an append does not read the whole log. Thread-safe.

    An id may stand for a second task after a purge, at another time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._snapshots: OrderedDict[tuple[str, float], tuple[int, int, Task]] = OrderedDict()
        self._bytes = 0

    def nearest(self, record: TaskRecord) -> tuple[int, Task | None]:
        """Return a cached snapshot and its version, at most the record's; (0, None) if there is none."""
        with self._lock:
            version, _, task = self._snapshots.get((record.id, record.created_at), (0, 0, None))
        # The reader's transaction may be older than another thread's snapshot.
        return (version, task) if version <= record.version else (0, None)

    def put(self, record: TaskRecord, task: Task) -> None:
        """Cache the snapshot of a stored version; a terminal task, which is rarely read again, is dropped."""
        key, size = (record.id, record.created_at), _bytes_in_memory(record, task)
        with self._lock:
            self._remove(key)
            if record.state.terminal:
                return
            self._snapshots[key] = (record.version, size, task)
            self._bytes += size
            while self._bytes > _MAX_BYTES:
                self._remove(next(iter(self._snapshots)))

    def remove(self, record: TaskRecord) -> None:
        """Drop the snapshot of a deleted task."""
        with self._lock:
            self._remove((record.id, record.created_at))

    def _remove(self, key: tuple[str, float]) -> None:
        if key in self._snapshots:
            self._bytes -= self._snapshots.pop(key)[1]


def _bytes_in_memory(record: TaskRecord, task: Task) -> int:
    """Return about how much memory the snapshot takes: ten times its size, where an agent sends its answer word by word."""
    messages = (*task.history, *filter(None, (task.status.message,)))
    parts = [*chain(*(each.parts for each in task.artifacts), *(each.parts for each in messages))]
    has_data = any(part.data is not UNSET for part in parts)
    return record.size * (_DATA_SHARE if has_data else 1) + _PART_BYTES * (len(parts) + len(messages))
