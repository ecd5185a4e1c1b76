"""Lease tasks to workers, wait for tasks to become due, and end those that no worker may or will take."""

import contextlib
import threading
from collections.abc import Callable, Sequence

from a2a_hub.a2a.model import Message, Role, Task, TaskState, text_of
from a2a_hub.queue.wakeups import topic_of
from a2a_hub.task_store.store import HUB, Lease, LeaseLost, StoredTask, TaskEnded, TaskStore
from a2a_hub.text.language import Language, language_of
from functions.tasks.wakeups import TopicCondition
from functions.tasks.workers.events import Events

_ABANDONED = {
    Language.EN: "The work on this task was begun {attempts} times and never finished, so it has been given up. "
    "Ask again later; if it happens again, tell the administrator.",
    Language.JA: "このタスクの処理は{attempts}回試みられましたが、一度も完了しなかったため打ち切りました。"
    "しばらくしてからもう一度お試しください。繰り返す場合は管理者にお知らせください。",
}
_UNTAKEN = {
    Language.EN: "Nobody has taken up this task for a long time, so it has been given up. "
    "Ask again if you still need it, and tell the administrator.",
    Language.JA: "このタスクは長い間だれにも引き受けられなかったため打ち切りました。"
    "まだ必要な場合はもう一度依頼し、管理者にもお知らせください。",
}
_SWEPT_AT_ONCE = 200
_TO_END_SECONDS = 30.0


def last_user_text(task: Task) -> str:
    """Return the text of the user's last message."""
    messages: list[Message] = [message for message in task.history if message.role is Role.USER]
    return text_of(messages[-1]) if messages else ""


class Leasing:
    """The leasing of tasks to workers. While one waits, the store is polled every `poll_seconds`: wake-ups can be lost.

    `now` is the store's clock: a task that no worker takes for `untaken_seconds` fails. At most `waits_at_once` workers wait at
    a time, because each holds a thread.
    """

    def __init__(
        self,
        store: TaskStore,
        wakeups: TopicCondition,
        events: Events,
        *,
        most_attempts: int,
        poll_seconds: float,
        waits_at_once: int,
        untaken_seconds: float,
        clock: Callable[[], float],
        now: Callable[[], float],
    ) -> None:
        self._store = store
        self._wakeups = wakeups
        self._events = events
        self._most_attempts = most_attempts
        self._poll_seconds = poll_seconds
        self._places = threading.BoundedSemaphore(waits_at_once)
        self._untaken_seconds = untaken_seconds
        self._clock = clock
        self._now = now

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
        if task_id or wait_seconds <= 0 or not self._places.acquire(blocking=False):
            return self._lease(holder, roles, seconds, task_id)
        try:
            return self._wait_for_lease(holder, roles, seconds, wait_seconds, is_connected)
        finally:
            self._places.release()

    def end_abandoned(self, roles: Sequence[str] | None) -> int:
        """End abandoned tasks of these roles and return their number.

        A task is abandoned if its worker died during a cancellation or once too often, or if no worker takes it. None stands for
        all roles of tasks, including those that the route table no longer has.
        """
        ended = 0
        for task_id in self._store.due(roles, limit=_SWEPT_AT_ONCE):
            stored = self._store.get(task_id, owner=None)
            if stored is None or not self._is_abandoned(stored):
                continue
            lease = self._store.lease("sweep", seconds=_TO_END_SECONDS, roles=[stored.role], task_id=task_id)
            if lease is not None:
                self._end(lease, attempts=stored.attempt)
                ended += 1
        return ended

    def _wait_for_lease(
        self,
        holder: str,
        roles: Sequence[str],
        seconds: float,
        wait_seconds: float,
        is_connected: Callable[[], bool],
    ) -> Lease | None:
        topics = [topic_of(role) for role in roles]
        deadline = self._clock() + wait_seconds
        while is_connected():
            seen = self._wakeups.count(topics)
            lease = self._lease(holder, roles, seconds, None)
            remaining = deadline - self._clock()
            if lease is not None or remaining <= 0:
                return lease
            self._wakeups.wait(topics, since=seen, timeout_seconds=min(remaining, self._poll_seconds))
        return None

    def _lease(self, holder: str, roles: Sequence[str], seconds: float, task_id: str | None) -> Lease | None:
        while True:
            lease = self._store.lease(holder, seconds=seconds, roles=roles, task_id=task_id)
            if lease is None:
                return None
            stored = lease.stored
            if not stored.cancel_requested and stored.attempt <= self._most_attempts:
                return lease
            self._end(lease, attempts=stored.attempt - 1)

    def _is_abandoned(self, stored: StoredTask) -> bool:
        if self._now() - max(stored.created_at, stored.updated_at, stored.lease_until) > self._untaken_seconds:
            return True
        # The hub ends its own tasks.
        return stored.role != HUB and (stored.cancel_requested or stored.attempt >= self._most_attempts)

    def _end(self, lease: Lease, *, attempts: int) -> None:
        stored = lease.stored
        if stored.cancel_requested:
            last = self._events.status(stored.task, TaskState.CANCELED)
        else:
            reasons = _ABANDONED if attempts >= self._most_attempts else _UNTAKEN
            reason = reasons[language_of(last_user_text(stored.task))].format(attempts=attempts)
            last = self._events.status(stored.task, TaskState.FAILED, reason)
        # Another process may be first; otherwise the next sweep finds it.
        with contextlib.suppress(LeaseLost, TaskEnded):
            self._store.append(stored.task.id, [last], lease=lease.token)
