"""What users read of work that nobody finished, in English and Japanese."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence

from a2a_hub.a2a.model import Message, Role, Task, TaskState
from a2a_hub.a2a.text import text_of
from a2a_hub.queue.wakeups import topic_of
from a2a_hub.task_store.store import HUB, Lease, LeaseLost, StoredTask, TaskEnded, TaskStore
from a2a_hub.text.language import Language, language_of
from functions.tasks.wakeups import TopicCondition
from functions.tasks.workers.events import Events

_GIVEN_UP = {
    Language.EN: "The work on this task was begun {attempts} times and never finished, so it has been given up. "
    "Ask again later; if it happens again, tell the administrator.",
    Language.JA: "このタスクの処理は{attempts}回試みられましたが、一度も完了しなかったため打ち切りました。"
    "しばらくしてからもう一度お試しください。繰り返す場合は管理者にお知らせください。",
}
_NOT_TAKEN = {
    Language.EN: "Nobody has taken up this task for a long time, so it has been given up. "
    "Ask again if you still need it, and tell the administrator.",
    Language.JA: "このタスクは長い間だれにも引き受けられなかったため打ち切りました。"
    "まだ必要な場合はもう一度依頼し、管理者にもお知らせください。",
}
_SWEPT_AT_ONCE = 200
_TO_END_SECONDS = 30.0


def given_up(task: Task, attempts: int) -> str:
    """Why the task failed."""
    return _GIVEN_UP[language_of(last_user_text(task))].format(attempts=attempts)


def not_taken(task: Task) -> str:
    """Why the task failed that nobody worked on."""
    return _NOT_TAKEN[language_of(last_user_text(task))]


def last_user_text(task: Task) -> str:
    """The text of the user's last message."""
    said: list[Message] = [message for message in task.history if message.role is Role.USER]
    return text_of(said[-1]) if said else ""


class Leasing:
    """`look_seconds` is how often the store is asked while a worker waits: wake-ups may be lost, and leases run out in silence.

    `now` is the store's clock: a task that nobody has taken for `untaken_seconds` has failed. At most `waits_at_once` workers are
    held while they wait: each takes a thread from those who have something to say.
    """

    def __init__(
        self,
        store: TaskStore,
        bell: TopicCondition,
        events: Events,
        *,
        most_attempts: int,
        look_seconds: float,
        waits_at_once: int,
        untaken_seconds: float,
        clock: Callable[[], float],
        now: Callable[[], float],
    ) -> None:
        self._store = store
        self._bell = bell
        self._events = events
        self._most_attempts = most_attempts
        self._look_seconds = look_seconds
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
        is_there: Callable[[], bool] = lambda: True,
    ) -> Lease | None:
        """The task that has been due for longest, at once or within `wait_seconds`.

        None for a worker that has left meanwhile: what it was given would rest until its lease ran out.
        """
        if wait_seconds <= 0 or not self._places.acquire(blocking=False):
            return self._leased(holder, roles, seconds, None)
        try:
            return self._waited_for(holder, roles, seconds, wait_seconds, is_there)
        finally:
            self._places.release()

    def lease_task(self, holder: str, roles: Sequence[str], *, seconds: float, task_id: str) -> Lease | None:
        """The named task, if it is of these roles and due."""
        return self._leased(holder, roles, seconds, task_id)

    def end_abandoned(self, roles: Sequence[str] | None) -> int:
        """Ends tasks of these roles whose worker died while they were being cancelled, or once too often; and those that nobody
        takes. None are all roles that tasks have: the table may have lost some, and with them those who might take their tasks.
        How many.
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

    def _waited_for(
        self,
        holder: str,
        roles: Sequence[str],
        seconds: float,
        wait_seconds: float,
        is_there: Callable[[], bool],
    ) -> Lease | None:
        topics = [topic_of(role) for role in roles]
        deadline = self._clock() + wait_seconds
        while is_there():
            rung = self._bell.rung(topics)
            lease = self._leased(holder, roles, seconds, None)
            remaining = deadline - self._clock()
            if lease is not None or remaining <= 0:
                return lease
            self._bell.wait(topics, since=rung, timeout_seconds=min(remaining, self._look_seconds))
        return None

    def _leased(self, holder: str, roles: Sequence[str], seconds: float, task_id: str | None) -> Lease | None:
        while True:
            lease = self._store.lease(holder, seconds=seconds, roles=roles, task_id=task_id)
            if lease is None or not self._ends(lease.stored):
                return lease
            self._end(lease, attempts=lease.stored.attempt - 1)

    def _ends(self, stored: StoredTask) -> bool:
        return stored.cancel_requested or stored.attempt > self._most_attempts

    def _is_abandoned(self, stored: StoredTask) -> bool:
        dead = stored.cancel_requested or stored.attempt >= self._most_attempts
        # The hub ends its own.
        return self._is_untaken(stored) or (dead and stored.role != HUB)

    def _is_untaken(self, stored: StoredTask) -> bool:
        last = max(stored.created_at, stored.updated_at, stored.lease_until)
        return self._now() - last > self._untaken_seconds

    def _end(self, lease: Lease, *, attempts: int) -> None:
        stored = lease.stored
        if stored.cancel_requested:
            last = self._events.status(stored.task, TaskState.CANCELED)
        else:
            tried = attempts >= self._most_attempts
            why = given_up(stored.task, attempts) if tried else not_taken(stored.task)
            last = self._events.status(stored.task, TaskState.FAILED, why)
        # Somebody else may be sooner; where nobody is, the next look finds it.
        with contextlib.suppress(LeaseLost, TaskEnded):
            self._store.append(stored.task.id, [last], lease=lease.token)
