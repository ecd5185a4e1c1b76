"""A task's log: its entries and snapshots as core-1.0 JSON, their replay, and a cache of recent snapshots."""

import threading
from collections import OrderedDict
from collections.abc import Iterable

import msgspec

from a2a_hub.a2a.fold import TaskAccumulator
from a2a_hub.a2a.model import Event, StreamResponse, Task, unwrapped, wrapped
from a2a_hub.task_store.task_record import TaskRecord

_encoder = msgspec.json.Encoder()
_events = msgspec.json.Decoder(StreamResponse)
_tasks = msgspec.json.Decoder(Task)
_MOST_BYTES = 32_000_000


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
    """An LRU cache of recent snapshots, so that an append does not read the whole log. Thread-safe.

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
        key = record.id, record.created_at
        with self._lock:
            self._remove(key)
            if record.state.terminal:
                return
            self._snapshots[key] = (record.version, record.size, task)
            self._bytes += record.size
            while self._bytes > _MOST_BYTES:
                self._remove(next(iter(self._snapshots)))

    def remove(self, record: TaskRecord) -> None:
        """Drop the snapshot of a deleted task."""
        with self._lock:
            self._remove((record.id, record.created_at))

    def _remove(self, key: tuple[str, float]) -> None:
        if key in self._snapshots:
            self._bytes -= self._snapshots.pop(key)[1]
