"""The quotas of stored tasks: running ones, all, and their bytes."""

import time
from collections.abc import Callable
from functools import lru_cache, partial

from msgspec import Struct

from a2a_hub.a2a.errors import ServiceUnavailable
from a2a_hub.quota.limits import CallerLimits, Quota, QuotaExceeded
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import TaskStore, Usage

_FRESH_SECONDS = 5.0
_MOST_OWNERS = 10_000
_MEGABYTE = 1_000_000
_RETRY_SECONDS = {Quota.RUNNING_TASKS: 10.0, Quota.STORED_TASKS: 3600.0, Quota.STORED_BYTES: 3600.0}


class _Known(Struct):
    """The usage of an owner as it was read last, and the number of tasks that this instance has admitted since."""

    usage: Usage = Usage(tasks=0, size_bytes=0, active=0)
    read_at: float = 0.0
    admitted: int = 0


class TaskQuota:
    """The admission of new tasks. It waits for the store only if the owner seems to have reached a limit. Thread-safe."""

    def __init__(
        self,
        limits: CallerLimits,
        store: TaskStore,
        *,
        now: Callable[[], float] = time.time,
        run: Callable[[Callable[[], object]], object] | None = None,
    ) -> None:
        self._limits = limits
        self._store = store
        self._now = now
        self._run = run or Threads("quotas").run
        self._known = lru_cache(_MOST_OWNERS)(lambda _: _Known())

    def check_new_task(self, owner: str) -> None:
        """Raise QuotaExceeded if the owner has as many tasks as it may have. An outage of the store refuses nobody."""
        if not (self._limits.running_tasks or self._limits.stored_tasks or self._limits.stored_megabytes):
            return
        known = self._known(owner)
        if self._exceeded(known) is not None:
            if self._read(owner, known, known.admitted) and (quota := self._exceeded(known)) is not None:
                raise QuotaExceeded(quota, _RETRY_SECONDS[quota])
        elif self._now() >= known.read_at + _FRESH_SECONDS:
            known.read_at = self._now()
            self._run(partial(self._read, owner, known, known.admitted))
        known.admitted += 1

    def _read(self, owner: str, known: _Known, admitted: int) -> bool:
        """Return True if the usage could be read; `admitted` of the tasks that were admitted here are then part of it."""
        try:
            known.usage = self._store.usage(owner)
        except ServiceUnavailable:
            return False
        known.admitted -= admitted
        return True

    def _exceeded(self, known: _Known) -> Quota | None:
        """Return the quota that leaves no room for one more task."""
        limits, usage = self._limits, known.usage
        counted = (
            (Quota.RUNNING_TASKS, usage.active + known.admitted, limits.running_tasks),
            (Quota.STORED_TASKS, usage.tasks + known.admitted, limits.stored_tasks),
            (Quota.STORED_BYTES, usage.size_bytes, limits.stored_megabytes * _MEGABYTE),
        )
        return next((quota for quota, number, limit in counted if limit and number >= limit), None)
