"""Concurrency limits for the work of this process."""

import threading
import time
from collections.abc import Callable, Hashable

from msgspec import Struct


class Slot(Struct, frozen=True, eq=False):
    """A slot held by the work `key` since the clock's time `since`."""

    key: Hashable
    kind: Hashable
    since: float


class Slots:
    """At most `limit` slots, and `max_per_kind` of each kind, so that no kind starves the others. Thread-safe."""

    def __init__(self, limit: int, max_per_kind: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._max_per_kind = max_per_kind
        self._clock = clock
        self._lock = threading.Lock()
        self._slots: dict[Hashable, Slot] = {}
        self._has_refused = False

    @property
    def used(self) -> int:
        """The number of slots that are taken."""
        return len(self._slots)

    @property
    def full(self) -> bool:
        """True if no slot is left."""
        return len(self._slots) >= self._limit

    def acquire(self, key: Hashable, kind: Hashable, *, replaces: bool = False) -> Slot | None:
        """Return a slot, held until `release`; None if none is free. Work that already has a slot gets another only if this
        `replaces` it.
        """
        with self._lock:
            others = [slot for slot in self._slots.values() if slot.key != key]
            has_room = len(others) < self._limit and sum(slot.kind == kind for slot in others) < self._max_per_kind
            if not has_room or (key in self._slots and not replaces):
                self._has_refused = True
                return None
            slot = self._slots[key] = Slot(key, kind, self._clock())
            return slot

    def release(self, slot: Slot) -> None:
        """Release the slot, unless its work has been given another one."""
        with self._lock:
            if self._slots.get(slot.key) is slot:
                del self._slots[slot.key]

    def has_refused(self) -> bool:
        """Return True if `acquire` has been refused since the last call."""
        with self._lock:
            has_refused, self._has_refused = self._has_refused, False
            return has_refused

    def is_younger(self, key: Hashable, seconds: float) -> bool:
        """Return True if the work has had a slot for less than this time."""
        slot = self._slots.get(key)
        return slot is not None and self._clock() - slot.since < seconds
