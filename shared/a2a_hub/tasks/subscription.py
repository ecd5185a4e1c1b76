"""Follow a task in the store: wait for its turn to end, or subscribe to its events, whichever process runs it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from weakref import WeakSet

from a2a_hub.a2a.model import Event, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent
from a2a_hub.a2a.reply import status_update
from a2a_hub.http.messages import Wake
from a2a_hub.task_store.store import StoredTask, TaskStore, Unavailable

_LOOK_SECONDS = 0.5


class OpenStreams:
    """The streams of this process, which end when it is stopped: each is woken, and asks whether `draining` is true."""

    def __init__(self) -> None:
        self.draining = False
        self._lock = threading.Lock()
        self._woken: WeakSet[TaskSubscription] = WeakSet()

    def add(self, stream: TaskSubscription) -> None:
        """Wake the stream when the process is stopped."""
        with self._lock:
            self._woken.add(stream)

    def drain(self) -> None:
        """End the streams."""
        with self._lock:
            self.draining = True
            woken = list(self._woken)
        for stream in woken:
            stream.wake()


def wait_until_settled(store: TaskStore, stored: StoredTask, *, seconds: float, streams: OpenStreams) -> StoredTask:
    """Return the task at the end of its turn, or as it is after `seconds`, or when this process is stopped."""
    deadline = time.monotonic() + seconds
    while not stored.task.status.state.settled and not streams.draining and (left := deadline - time.monotonic()) > 0:
        if store.wait(stored.task.id, after=stored.version, timeout_seconds=min(left, _LOOK_SECONDS)):
            # The work continues during an outage of the store.
            with contextlib.suppress(Unavailable):
                stored = store.get(stored.task.id, owner=None) or stored
    return stored


class TaskSubscription:
    """A task's events, an `EventSource`: each update after the version `after`, up to the terminal one.

    The task itself comes first if it `shows_task`, and is followed by its status if it has ended. With `ends_when_waiting`, an
    interrupted state ends the events, too; so does the deletion of the task. An outage of the store is a pause. When the process
    is stopped, the last event of a task that goes on says that it is worked on: whoever subscribes again finds another instance.
    """

    def __init__(
        self,
        store: TaskStore,
        task: Task,
        *,
        after: int,
        ends_when_waiting: bool,
        streams: OpenStreams,
        shows_task: bool = True,
    ) -> None:
        self._task = task
        self._state = task.status.state
        self._ends_when_waiting = ends_when_waiting
        self._streams = streams
        self._pending: deque[Event] = deque([task] if shows_task else [])
        if self._state.terminal:
            # Clients of 0.3 take a stream without a final status for a lost connection, and subscribe again.
            self._pending.append(
                TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id or "", status=task.status)
            )
        self._ended = False
        self._wake: Wake = lambda: None
        self._reader = store.follow(task.id, after=after, wake=self.wake)
        streams.add(self)

    def poll(self) -> Event | None:
        """See `EventSource.poll`."""
        if self._ended:
            raise StopIteration
        if not self._pending:
            for entry in self._reader.take():
                # The log holds the client's messages, too.
                if isinstance(entry.event, TaskStatusUpdateEvent | TaskArtifactUpdateEvent):
                    self._pending.append(entry.event)
        if not self._pending:
            return self._idle()
        event = self._pending.popleft()
        if isinstance(event, TaskStatusUpdateEvent):
            self._state = event.status.state
            if self._state.terminal or (self._ends_when_waiting and self._state.interrupted):
                self.close()
        return event

    def _idle(self) -> Event | None:
        if not (self._reader.gone or self._streams.draining):
            return None
        self.close()
        if self._reader.gone or self._state.interrupted:
            raise StopIteration
        return status_update(self._task, TaskState.WORKING)

    def on_ready(self, wake: Wake) -> None:
        """See `EventSource.on_ready`."""
        self._wake = wake
        wake()

    def wake(self) -> None:
        """Let the subscriber poll."""
        self._wake()

    def close(self) -> None:
        """See `EventSource.close`."""
        self._ended = True
        self._reader.close()
