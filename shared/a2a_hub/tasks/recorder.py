"""Writes to one task under a lease, through outages of the store; a lease that ran out is taken again where nobody else has."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from a2a_hub.a2a.model import Event, Message, Part, Task, TaskState, TaskStatusUpdateEvent
from a2a_hub.a2a.reply import MessageFactory
from a2a_hub.task_store.store import (
    HUB,
    LeaseLost,
    StoredTask,
    TaskEnded,
    TaskStore,
    TooLarge,
    Unavailable,
    WrongVersion,
)
from a2a_hub.task_store.task_log import event_bytes
from a2a_hub.tasks.run import Run
from a2a_hub.tasks.updates import status_update, updates
from a2a_hub.telemetry.log import Log

T = TypeVar("T")
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0
_NO_RESULT = (
    "The work on this task broke off without a result. / このタスクの処理は結果を得られずに中断しました。"
)
_TOO_LARGE = (
    "The result of this task is too large to keep; ask for less at once. / "
    "このタスクの結果は大きすぎて保存できません。範囲を絞って依頼してください。"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTimes:
    """`seconds` is how long a task rests when its process dies; `look_seconds` how soon a cancellation from elsewhere is seen;
    `outage_seconds` how long the store may be away before a run is no longer stored.
    """

    seconds: float = 30.0
    look_seconds: float = 1.0
    outage_seconds: float = 120.0


class StoreRetry:
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


def find_appended(store: TaskStore, before: StoredTask, events: Sequence[Event]) -> StoredTask | None:
    """The task with these events, where it was `before` that: they were appended, though the answer was lost."""
    entries = store.entries(before.task.id, after=before.version, limit=len(events))
    if not events or [event_bytes(entry.event) for entry in entries] != list(map(event_bytes, events)):
        return None
    return store.get(before.task.id, owner=None)


class LeasedWriter:
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
        patience: StoreRetry,
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
            return find_appended(self._store, self.stored, events) or self._append(events, work)

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


class Recorder:
    """Records runs."""

    def __init__(
        self,
        store: TaskStore,
        *,
        log: Log,
        times: LeaseTimes,
        message_factory: MessageFactory,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._log = log
        self.times = times
        self.message_factory = message_factory
        self._recording: set[str] = set()
        self.patience = StoreRetry(times.outage_seconds, clock=clock)

    def record(self, run: Run, stored: StoredTask, lease: str, *, work: Callable[[], bytes]) -> None:
        """Records until the run ends; the run's first event is the task as `stored` has it already.

        A lease that is lost ends the run without a further event: another process runs the task now, and whoever followed this
        run follows that one.
        """
        self.guarded(run, lambda: self._record(run, stored, lease, work))

    def is_recording(self, task_id: str) -> bool:
        """Whether a run of this task goes on here, or has ended and is still to be stored."""
        return task_id in self._recording

    def guarded(self, run: Run, record: Callable[[], object]) -> None:
        """Calls `record`; when it fails, the log knows why. Without a store the run goes on for whoever waits for it."""
        self._recording.add(run.task_id)
        try:
            record()
        except (LeaseLost, TaskEnded):
            run.give_up()
            self._log.line("WARNING", "A run was given up: another one has its task", taskId=run.task_id)
        except Exception:
            self._log.exception("A run could not be recorded", run.call.record)
        finally:
            self._recording.discard(run.task_id)
            run.stored.set()
            run.recorded.set()

    def _record(self, run: Run, stored: StoredTask, lease: str, work: Callable[[], bytes]) -> None:
        writer = LeasedWriter(
            self._store,
            stored,
            lease,
            holder=run.call.request_id,
            seconds=self.times.seconds,
            patience=self.patience,
        )
        run.stored_version = stored.version
        run.stored.set()
        position = 1
        held: list[Event] = []
        while True:
            new, ended = run.relay.events_after(position, self.times.look_seconds)
            position += len(new)
            events, held = [*held, *new], []
            task = writer.stored.task
            if ended:
                events = [*self._answer(run, task), *events]
                if not _ends(events[-1] if events else task):
                    events.append(self.failure_event(task))
            elif events and _ends(events[-1]):
                # Appending it ends the lease, and the agent may still write notes.
                held = [events.pop()]
            now = work()
            # Without an event to store, the agent's notes may be all that a silent turn could be resumed from.
            if events or now != writer.work:
                self._append(writer, events, now)
                run.stored_version = writer.stored.version
            if ended:
                return
            if writer.stored.cancel_requested or (not events and self._cancel_requested(run.task_id)):
                run.cancel()
            writer.renew()

    def _append(self, writer: LeasedWriter, events: list[Event], work: bytes) -> None:
        try:
            writer.append(events, work)
        except TooLarge:
            task = writer.stored.task
            self._log.line("WARNING", "A task grew too large to keep", taskId=task.id)
            writer.append([self.failure_event(task, _TOO_LARGE)], writer.work)
            raise TaskEnded(task.id) from None

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
            updates(
                iter(first),
                task,
                cancellation=cancellation,
                timestamp=self.message_factory.timestamp,
                allows_message=False,
            )
        )[1:]

    def failure_event(self, task: Task, text: str = _NO_RESULT) -> Event:
        """The task's end in failure, with a sentence for its owner."""
        message = self.message_factory.message(Part(text=text), context_id=task.context_id, task_id=task.id)
        return status_update(task, TaskState.FAILED, self.message_factory.timestamp(), message)


def _ends(event: Event) -> bool:
    """Whether the turn may end with this."""
    return isinstance(event, Task | TaskStatusUpdateEvent) and event.status.state.settled
