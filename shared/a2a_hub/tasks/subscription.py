"""Follow a task in the store: wait for its turn to end, or subscribe to its events, whichever process runs it."""

import contextlib
import time
from collections.abc import Callable, Iterator

from a2a_hub.a2a.model import Event, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from a2a_hub.task_store.store import StoredTask, TaskStore, Unavailable


def settled(task: Task) -> bool:
    """Return True if the task is terminal or waits for its client."""
    return task.status.state.settled


def wait_until_settled(
    store: TaskStore, stored: StoredTask, *, seconds: float, clock: Callable[[], float] = time.monotonic
) -> StoredTask:
    """Return the task at the end of its turn, or as it is after `seconds`."""
    deadline = clock() + seconds
    while not settled(stored.task):
        remaining = deadline - clock()
        if remaining <= 0 or not store.wait(stored.task.id, after=stored.version, timeout_seconds=remaining):
            break
        # The work continues during an outage of the store.
        with contextlib.suppress(Unavailable):
            stored = store.get(stored.task.id, owner=None) or stored
    return stored


class TaskSubscription(Iterator["Event | None"]):
    """A task's events: the task itself (`first`), then each update after the version `after`, up to the terminal one.

    With `ends_when_waiting`, an interrupted state ends it, too; so does the deletion of the task. None stands for `idle_seconds`
    without an event; an outage of the store is a pause.
    """

    def __init__(
        self,
        store: TaskStore,
        task_id: str,
        *,
        first: Task | None = None,
        after: int,
        idle_seconds: float,
        ends_when_waiting: bool,
    ) -> None:
        self._store = store
        self._task_id = task_id
        self._position = after
        self._idle_seconds = idle_seconds
        self._ends_when_waiting = ends_when_waiting
        self._pending: list[Event] = [first] if first else []
        self._ended = False

    def __next__(self) -> Event | None:
        if self._ended:
            raise StopIteration
        if not self._pending:
            with contextlib.suppress(Unavailable):
                self._read()
        if not self._pending:
            if self._ended:
                raise StopIteration
            return None
        event = self._pending.pop(0)
        match event:
            case Task(status=status):
                self._ended = status.state.terminal
            case TaskStatusUpdateEvent(status=status):
                waits = self._ends_when_waiting and status.state.interrupted
                self._ended = status.state.terminal or waits
        return event

    def _read(self) -> None:
        if not self._store.wait(self._task_id, after=self._position, timeout_seconds=self._idle_seconds):
            self._ended = self._is_gone()
            return
        try:
            entries = self._store.entries(self._task_id, after=self._position)
        except Unavailable:
            # They are read when the store is back.
            return
        for entry in entries:
            self._position = entry.sequence
            # The log holds the client's messages, too.
            if isinstance(entry.event, TaskStatusUpdateEvent | TaskArtifactUpdateEvent):
                self._pending.append(entry.event)

    def _is_gone(self) -> bool:
        try:
            return self._store.get(self._task_id, owner=None) is None
        except Unavailable:
            return False

    def close(self) -> None:
        """End the subscription; idempotent."""
        self._ended = True
