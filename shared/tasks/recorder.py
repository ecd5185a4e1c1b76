"""Writes a run's events to the store, beside the run and under a lease: what its client sees waits for no store."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from shared.a2a.model import Event, Message, Part, Role, Task, TaskState, TaskStatusUpdateEvent
from shared.log import Log
from shared.task_store.store import LeaseLost, StoredTask, TaskEnded, TaskStore, TooLarge, Unavailable
from shared.tasks.run import Run
from shared.tasks.updates import status_update, updates

T = TypeVar("T")
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0
_NO_RESULT = (
    "The work on this task broke off without a result. / このタスクの処理は結果を得られずに中断しました。"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTimes:
    """`seconds` is how long a task rests when its process dies; `look_seconds` how soon a cancellation from elsewhere is seen;
    `outage_seconds` how long the store may be away before a run is given up.
    """

    seconds: float = 30.0
    look_seconds: float = 1.0
    outage_seconds: float = 120.0


class Recorder:
    """Records runs."""

    def __init__(
        self,
        store: TaskStore,
        *,
        log: Log,
        times: LeaseTimes,
        timestamp: Callable[[], str],
        new_id: Callable[[], str],
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store = store
        self._log = log
        self.times = times
        self._timestamp = timestamp
        self._new_id = new_id
        self._clock = clock
        self._pause = pause

    def record(self, run: Run, stored: StoredTask, lease: str, *, work: Callable[[], bytes]) -> None:
        """Records until the run ends; the run's first event is the task as `stored` has it already.

        A lease that is lost ends the run without a word: somebody else runs the task now.
        """
        self.contained(run, lambda: self._record(run, stored, lease, work))

    def contained(self, run: Run, record: Callable[[], object]) -> None:
        """Calls `record`; when it fails, the run ends, and the log knows why."""
        try:
            record()
        except (LeaseLost, TaskEnded):
            run.cancel()
            self._log.line("WARNING", "A run was given up: another one has its task", taskId=run.task_id)
        except Exception:
            run.cancel()
            self._log.exception("A run could not be recorded", run.call.record)
        finally:
            run.recorded.set()

    def _record(self, run: Run, stored: StoredTask, lease: str, work: Callable[[], bytes]) -> None:
        position = 1
        leased_at = self._clock()
        while True:
            events, ended = run.relay.events_after(position, self.times.look_seconds)
            position += len(events)
            if ended:
                events = [*self._answer(run, stored.task), *events]
                if not _ends(events[-1] if events else stored.task):
                    events.append(self.failure(stored.task))
            if events:
                stored = self._append(stored, events, lease, work())
            elif stored.cancel_requested or self._cancel_requested(run.task_id):
                run.cancel()
            if ended:
                return
            if self._clock() - leased_at > self.times.seconds / 3:
                leased_at = self._clock()
                renew = partial(self._store.renew, run.task_id, lease, seconds=self.times.seconds)
                stored = self._patiently(renew).stored

    def _append(self, before: StoredTask, events: Sequence[Event], lease: str, work: bytes) -> StoredTask:
        task_id = before.task.id

        def append() -> StoredTask:
            return self._store.append(
                task_id, events, lease=lease, expected_version=before.version, work=work
            )

        def append_again() -> StoredTask:
            # Nobody else can have written under this lease: if the log has grown, the attempt before has succeeded.
            now = self._store.get(task_id, owner=None)
            return now if now is not None and now.version == before.version + len(events) else append()

        try:
            return self._patiently(append, append_again)
        except TooLarge:
            self._log.line("WARNING", "A task grew too large to keep", taskId=task_id)
            failure = [self.failure(before.task)]
            self._store.append(task_id, failure, lease=lease, expected_version=before.version)
            raise TaskEnded(task_id) from None

    def _patiently(self, do: Callable[[], T], again: Callable[[], T] | None = None) -> T:
        """What `do` returns. While the store is away it is tried again, as `again`: nobody knows whether it was done."""
        deadline = self._clock() + self.times.outage_seconds
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return do()
            except Unavailable:
                if self._clock() > deadline:
                    raise
            self._pause(pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter is no secret
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
            do = again or do

    def _cancel_requested(self, task_id: str) -> bool:
        try:
            stored = self._store.get(task_id, owner=None)
        except Unavailable:
            # Whoever cancels will be seen when the store is back.
            return False
        return stored is not None and stored.cancel_requested

    def _answer(self, run: Run, task: Task) -> list[Event]:
        """A Message that was the run's whole answer, as events of its task."""
        first = run.relay.events_after(0, 0)[0][:1]
        if not first or not isinstance(first[0], Message):
            return []
        cancellation = run.call.cancellation
        return list(
            updates(iter(first), task, cancellation=cancellation, timestamp=self._timestamp, may_answer=False)
        )[1:]

    def failure(self, task: Task, text: str = _NO_RESULT) -> Event:
        """The task's end in failure, with a sentence for its owner."""
        message = Message(
            message_id=self._new_id(),
            role=Role.AGENT,
            parts=(Part(text=text),),
            context_id=task.context_id,
            task_id=task.id,
        )
        return status_update(task, TaskState.FAILED, self._timestamp(), message)


def _ends(event: Event) -> bool:
    """Whether the turn may end with this."""
    match event:
        case Task(status=status) | TaskStatusUpdateEvent(status=status):
            return status.state.terminal or status.state.interrupted
        case _:
            return False
