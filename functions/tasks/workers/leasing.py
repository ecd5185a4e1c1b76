"""Lease tasks to workers, wait for tasks to become due, and end those that no worker may or will take."""

import contextlib
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from a2a_hub.a2a.model import Role, Task, TaskState, text_of
from a2a_hub.queue.wakeups import topic_of
from a2a_hub.task_store.store import HUB, Lease, LeaseLost, StoredTask, TaskEnded, TaskStore
from a2a_hub.telemetry import tracing
from a2a_hub.text.catalog import Catalog
from a2a_hub.text.language import language_of
from functions.tasks.workers.wire import status_event

T = TypeVar("T")
WORK_TEXTS = Catalog(Path(__file__).with_suffix(".toml"))
_SWEPT_AT_ONCE = 200
_TO_END_SECONDS = 30.0


def last_user_text(task: Task) -> str:
    """Return the text of the user's last message."""
    return next((text_of(message) for message in reversed(task.history) if message.role is Role.USER), "")


class WorkerWaits:
    """The waits of workers, for a task or for its cancellation: at most `at_once`, because each holds a thread.

    While one waits, the store is polled every `poll_seconds`: wake-ups can be lost, or reach another instance.
    """

    def __init__(self, *, poll_seconds: float, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._poll_seconds = poll_seconds
        self._places = threading.BoundedSemaphore(at_once)
        self._clock = clock
        self._woken: Counter[str] = Counter()
        self._condition = threading.Condition()
        self._stopped = False

    def stop(self) -> None:
        """End the waits: the process ends, and another instance is asked next."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    def notify(self, topic: str) -> None:
        """Wake the waits for this topic."""
        with self._condition:
            self._woken[topic] += 1
            self._condition.notify_all()

    def until(
        self,
        poll: Callable[[], T | None],
        *,
        topics: Sequence[str],
        seconds: float,
        max_poll_seconds: float = math.inf,
        is_connected: Callable[[], bool] = lambda: True,
    ) -> T | None:
        """Return the first result of `poll` that is not None, at once or within `seconds`; None too if the worker has left."""
        if seconds <= 0 or not self._places.acquire(blocking=False):
            return poll()
        poll_seconds = min(self._poll_seconds, max_poll_seconds)
        try:
            deadline = self._clock() + seconds
            while is_connected():
                # Before it looks: a wake-up meanwhile is not missed.
                seen = self._count(topics)
                found = poll()
                remaining = deadline - self._clock()
                if found is not None or remaining <= 0 or self._stopped:
                    return found
                self._wait(topics, since=seen, seconds=min(remaining, poll_seconds))
            return None
        finally:
            self._places.release()

    def _wait(self, topics: Sequence[str], *, since: int, seconds: float) -> None:
        with self._condition:
            self._condition.wait_for(lambda: self._stopped or self._count(topics) > since, seconds)

    def _count(self, topics: Sequence[str]) -> int:
        return sum(self._woken[topic] for topic in topics)


class Leasing(Struct, frozen=True):
    """The leasing of tasks to workers. `now` is the store's clock: a task that no worker takes for `untaken_seconds` fails."""

    store: TaskStore
    waits: WorkerWaits
    max_attempts: int
    untaken_seconds: float
    now: Callable[[], float]
    assigned: Callable[[StoredTask], object]
    """Gets each task that a worker has leased."""

    def lease(
        self,
        holder: str,
        roles: Sequence[str],
        *,
        seconds: float,
        wait_seconds: float,
        task_id: str | None = None,
        is_connected: Callable[[], bool] = lambda: True,
    ) -> Lease | None:
        """Lease the task that has been due longest, at once or within `wait_seconds`; or the named task if it is due now.

        Return None if the worker has disconnected: its task would stay idle until the lease expires.
        """
        lease = self.waits.until(
            lambda: self._lease(holder, roles, seconds, task_id),
            topics=[topic_of(role) for role in roles],
            seconds=0 if task_id else wait_seconds,
            is_connected=is_connected,
        )
        if lease is not None:
            self.assigned(lease.stored)
        return lease

    def end_abandoned(self, roles: Sequence[str] | None) -> int:
        """End abandoned tasks of these roles and return their number.

        A task is abandoned if its worker died during a cancellation or once too often, or if no worker takes it. None stands for
        all roles of tasks, including those that the route table no longer has.
        """
        ended = 0
        for task_id in self.store.due(roles, limit=_SWEPT_AT_ONCE):
            stored = self.store.get(task_id, owner=None)
            if stored is None or not self._is_abandoned(stored):
                continue
            lease = self.store.lease("sweep", seconds=_TO_END_SECONDS, roles=[stored.role], task_id=task_id)
            if lease is not None:
                self._end(lease, attempts=stored.attempt)
                ended += 1
        return ended

    def _lease(self, holder: str, roles: Sequence[str], seconds: float, task_id: str | None) -> Lease | None:
        while True:
            lease = self.store.lease(holder, seconds=seconds, roles=roles, task_id=task_id)
            if lease is None:
                return None
            stored = lease.stored
            if not stored.cancel_requested and stored.attempt <= self.max_attempts:
                return lease
            self._end(lease, attempts=stored.attempt - 1)

    def _is_abandoned(self, stored: StoredTask) -> bool:
        if self.now() - max(stored.created_at, stored.updated_at, stored.lease_until) > self.untaken_seconds:
            return True
        # The hub ends its own tasks.
        return stored.role != HUB and (stored.cancel_requested or stored.attempt >= self.max_attempts)

    def _end(self, lease: Lease, *, attempts: int) -> None:
        stored = lease.stored
        if stored.cancel_requested:
            last = status_event(stored.task, TaskState.CANCELED)
        else:
            reasons = WORK_TEXTS.abandoned if attempts >= self.max_attempts else WORK_TEXTS.untaken
            reason = reasons[language_of(last_user_text(stored.task))].format(attempts=attempts)
            last = status_event(stored.task, TaskState.FAILED, reason)
        # Another process may be first; otherwise the next sweep finds it.
        with contextlib.suppress(LeaseLost, TaskEnded):
            self.store.append(stored.task.id, [last], lease=lease.token)
            if not stored.cancel_requested:
                tracing.add("a2a_hub.work.abandoned", 1, kind="task")
