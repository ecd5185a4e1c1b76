"""Writes to one task under a lease, through outages of the store; a lease that ran out is taken again where nobody else has."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from a2a_hub.a2a.model import Event
from a2a_hub.task_store.event_encoding import event_bytes
from a2a_hub.task_store.store import HUB, LeaseLost, StoredTask, TaskStore, Unavailable, WrongVersion

T = TypeVar("T")
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTimes:
    """`seconds` is how long a task rests when its process dies; `look_seconds` how soon a cancellation from elsewhere is seen;
    `outage_seconds` how long the store may be away before a run is no longer stored.
    """

    seconds: float = 30.0
    look_seconds: float = 1.0
    outage_seconds: float = 120.0


class StorePatience:
    """Tries again while the store is away."""

    def __init__(
        self,
        seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._seconds = seconds
        self.clock = clock
        self._pause = pause

    def wait_for(self, do: Callable[[], T], again: Callable[[], T] | None = None) -> T:
        """What `do` returns; tried again as `again`, since nobody knows whether it was done. Raises Unavailable in the end."""
        deadline = self.clock() + self._seconds
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return do()
            except Unavailable:
                if self.clock() > deadline:
                    raise
            self._pause(pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter is no secret
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
            do = again or do


def written(store: TaskStore, before: StoredTask, events: Sequence[Event]) -> StoredTask | None:
    """The task with these events, where it was `before` that: they were appended, though the answer was lost."""
    entries = store.entries(before.task.id, after=before.version, limit=len(events))
    if not events or [event_bytes(entry.event) for entry in entries] != list(map(event_bytes, events)):
        return None
    return store.get(before.task.id, owner=None)


class Writer:
    """The right to write to a task. `stored` is the task after what was written last, `work` what was stored with it.

    Each method raises LeaseLost when somebody else has the task, and Unavailable when the store stays away.
    """

    def __init__(
        self,
        store: TaskStore,
        stored: StoredTask,
        lease: str,
        *,
        holder: str,
        seconds: float,
        patience: StorePatience,
    ) -> None:
        self._store = store
        self._lease = lease
        self._holder = holder
        self._seconds = seconds
        self._patience = patience
        self._task_id = stored.task.id
        self._leased_at = patience.clock()
        self.stored = stored
        self.work = stored.work

    def append(self, events: Sequence[Event], work: bytes) -> None:
        """The events are in the log, and the work is the task's. Raises TaskEnded and TooLarge, too."""

        def again() -> StoredTask:
            return written(self._store, self.stored, events) or self._append(events, work)

        try:
            self.stored = self._patience.wait_for(lambda: self._append(events, work), again)
        except WrongVersion:
            raise LeaseLost(self._task_id) from None
        self.work = work

    def renew(self) -> None:
        """The lease lasts, prolonged if a third of it has passed."""
        if self._patience.clock() - self._leased_at < self._seconds / 3:
            return
        self._leased_at = self._patience.clock()
        self._patience.wait_for(self._renew)

    def _append(self, events: Sequence[Event], work: bytes) -> StoredTask:
        def append() -> StoredTask:
            version = self.stored.version
            return self._store.append(
                self._task_id, events, lease=self._lease, expected_version=version, work=work
            )

        try:
            return append()
        except LeaseLost:
            self._lease_again()
            return append()

    def _renew(self) -> None:
        try:
            self.stored = self._store.renew(self._task_id, self._lease, seconds=self._seconds).stored
        except LeaseLost:
            self._lease_again()

    def _lease_again(self) -> None:
        lease = self._store.lease(self._holder, seconds=self._seconds, roles=(HUB,), task_id=self._task_id)
        if lease is None:
            raise LeaseLost(self._task_id)
        if lease.stored.version != self.stored.version:
            self._store.release(self._task_id, lease.token)
            raise LeaseLost(self._task_id)
        self._lease, self.stored = lease.token, lease.stored
