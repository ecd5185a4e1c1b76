"""The lease of one run: only its holder writes, and nothing is written twice though an answer of the store is lost."""

import time
from collections.abc import Callable, Sequence

from a2a_hub.a2a.model import Event
from a2a_hub.task_store.store import HUB, LeaseLost, StoredTask, TaskEnded, TaskStore, WrongVersion
from a2a_hub.task_store.task_log import event_bytes


def find_appended(store: TaskStore, before: StoredTask, events: Sequence[Event]) -> StoredTask | None:
    """Return the task if these events follow `before` in its log: they were appended although the answer was lost."""
    entries = store.entries(before.task.id, after=before.version, limit=len(events))
    if not events or [event_bytes(entry.event) for entry in entries] != list(map(event_bytes, events)):
        return None
    return store.get(before.task.id, owner=None)


class LeasedWriter:
    """The lease of one run. `stored` is the task after the last write, `payload` its resume payload.

    An expired lease is renewed unless another process has written. Each method raises LeaseLost if another process has the task,
    and Unavailable if the store is away; it may be called again then.
    """

    def __init__(
        self,
        store: TaskStore,
        stored: StoredTask,
        lease: str,
        *,
        holder: str,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._lease = lease
        self._holder = holder
        self._seconds = seconds
        self._clock = clock
        self._task_id = stored.task.id
        self._leased_at = clock()
        self.stored = stored
        self.payload = stored.payload

    def append(self, events: Sequence[Event], payload: bytes, *, repeat_until: float = 0.0) -> None:
        """Append the events, once though it is called again, and replace the resume payload. Raise TooLarge, too."""
        try:
            self.stored = self._append(events, payload, repeat_until)
        except (WrongVersion, LeaseLost, TaskEnded):
            found = find_appended(self._store, self.stored, events)
            if found is None or found.version != self.stored.version + len(events):
                raise LeaseLost(self._task_id) from None
            self.stored = found
        self.payload = payload

    def renew(self) -> None:
        """Extend the lease if a third of it has passed."""
        if self._clock() - self._leased_at < self._seconds / 3:
            return
        try:
            self.stored = self._store.renew(self._task_id, self._lease, seconds=self._seconds)
        except LeaseLost:
            self._lease_again()
        self._leased_at = self._clock()

    def release(self, due_at: float) -> None:
        """Release the lease without an attempt that counts; the task is due at `due_at`, 0 for at once."""
        self._store.release(self._task_id, self._lease, due_at=due_at)

    def _append(self, events: Sequence[Event], payload: bytes, repeat_until: float) -> StoredTask:
        def append() -> StoredTask:
            return self._store.append(
                self._task_id,
                events,
                lease=self._lease,
                expected_version=self.stored.version,
                payload=payload,
                repeat_until=repeat_until,
            )

        try:
            return append()
        except LeaseLost:
            self._lease_again()
            return append()

    def _lease_again(self) -> None:
        lease = self._store.lease(self._holder, seconds=self._seconds, roles=(HUB,), task_id=self._task_id)
        if lease is None:
            raise LeaseLost(self._task_id)
        if lease.stored.version != self.stored.version:
            self._store.release(self._task_id, lease.token)
            raise LeaseLost(self._task_id)
        self._lease, self.stored = lease.token, lease.stored
