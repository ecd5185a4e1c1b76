"""Record the events of runs in the task store, beside the runs and under leases: clients do not wait for the store."""

import random
import time
from collections.abc import Callable, Sequence
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
from a2a_hub.tasks.settings import LeaseTimes
from a2a_hub.tasks.updates import status_update, updates
from a2a_hub.telemetry.log import Log

T = TypeVar("T")
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0
_NO_RESULT = "The work on this task broke off without a result. / このタスクの処理は結果を得られずに中断しました。"
_TOO_LARGE = (
    "The result of this task is too large to keep; ask for less at once. / "
    "このタスクの結果は大きすぎて保存できません。範囲を絞って依頼してください。"
)


class StoreRetry:
    """The retry of store operations, with back-off, for `seconds` of an outage."""

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

    def call(self, do: Callable[[], T], again: Callable[[], T] | None = None) -> T:
        """Return what `do` returns. Retry with `again`, because `do` may have taken effect. Raise Unavailable in the end."""
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
    """Return the task if these events follow `before` in its log: they were appended although the answer was lost."""
    entries = store.entries(before.task.id, after=before.version, limit=len(events))
    if not events or [event_bytes(entry.event) for entry in entries] != list(map(event_bytes, events)):
        return None
    return store.get(before.task.id, owner=None)


class LeasedWriter:
    """The lease of one run. `stored` is the task after the last write, `payload` its resume payload.

    An expired lease is renewed unless another process has written. Each method raises LeaseLost if another process has the task,
    and Unavailable if the store stays away.
    """

    def __init__(
        self,
        store: TaskStore,
        stored: StoredTask,
        lease: str,
        *,
        holder: str,
        seconds: float,
        retry: StoreRetry,
    ) -> None:
        self._store = store
        self._lease = lease
        self._holder = holder
        self._seconds = seconds
        self._retry = retry
        self._task_id = stored.task.id
        self._leased_at = retry.clock()
        self.stored = stored
        self.payload = stored.payload

    def append(self, events: Sequence[Event], payload: bytes) -> None:
        """Append the events and replace the resume payload. Raise TaskEnded and TooLarge, too."""

        def again() -> StoredTask:
            return find_appended(self._store, self.stored, events) or self._append(events, payload)

        try:
            self.stored = self._retry.call(lambda: self._append(events, payload), again)
        except WrongVersion:
            raise LeaseLost(self._task_id) from None
        self.payload = payload

    def renew(self) -> None:
        """Extend the lease if a third of it has passed."""
        if self._retry.clock() - self._leased_at < self._seconds / 3:
            return
        self._leased_at = self._retry.clock()
        self._retry.call(self._renew)

    def _append(self, events: Sequence[Event], payload: bytes) -> StoredTask:
        def append() -> StoredTask:
            version = self.stored.version
            return self._store.append(
                self._task_id, events, lease=self._lease, expected_version=version, payload=payload
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
    """The recorder of runs."""

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
        self.retry = StoreRetry(times.outage_seconds, clock=clock)

    def record(self, run: Run, stored: StoredTask, lease: str, *, payload: Callable[[], bytes]) -> None:
        """Record until the run ends. The run's first event is the task, which is already `stored`.

        A lost lease ends the run without a further event: another process runs the task, and the subscribers of this run follow
        that one.
        """
        self.guarded(run, lambda: self._record(run, stored, lease, payload))

    def is_recording(self, task_id: str) -> bool:
        """Return True if this process runs the task, or has yet to store the end of its run."""
        return task_id in self._recording

    def guarded(self, run: Run, record: Callable[[], object]) -> None:
        """Call `record` and log its failure. The run continues without a store, for the callers that wait for it."""
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

    def _record(self, run: Run, stored: StoredTask, lease: str, payload: Callable[[], bytes]) -> None:
        writer = LeasedWriter(
            self._store,
            stored,
            lease,
            holder=run.call.request_id,
            seconds=self.times.seconds,
            retry=self.retry,
        )
        run.stored_version = stored.version
        run.stored.set()
        position = 1
        held_back: list[Event] = []
        while True:
            new, ended = run.relay.events_after(position, self.times.cancel_poll_seconds)
            position += len(new)
            events, held_back = [*held_back, *new], []
            task = writer.stored.task
            if ended:
                events = [*self._answer(run, task), *events]
                if not _settles(events[-1] if events else task):
                    events.append(self.failure_event(task))
            elif events and _settles(events[-1]):
                # Appending it ends the lease, and the agent may still write notes.
                held_back = [events.pop()]
            now = payload()
            # A turn without events can be resumed from its notes only.
            if events or now != writer.payload:
                self._append(writer, events, now)
                run.stored_version = writer.stored.version
            if ended:
                return
            if writer.stored.cancel_requested or (not events and self._cancel_requested(run.task_id)):
                run.cancel()
            writer.renew()

    def _append(self, writer: LeasedWriter, events: list[Event], payload: bytes) -> None:
        try:
            writer.append(events, payload)
        except TooLarge:
            task = writer.stored.task
            self._log.line("WARNING", "A task grew too large to keep", taskId=task.id)
            writer.append([self.failure_event(task, _TOO_LARGE)], writer.payload)
            raise TaskEnded(task.id) from None

    def _cancel_requested(self, task_id: str) -> bool:
        try:
            stored = self._store.get(task_id, owner=None)
        except Unavailable:
            # The request is read when the store is back.
            return False
        return stored is not None and stored.cancel_requested

    def _answer(self, run: Run, task: Task) -> list[Event]:
        """Return the events of a run that answered with a Message alone."""
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
        """Return the event that fails the task, with a sentence for its owner."""
        message = self.message_factory.message(Part(text=text), context_id=task.context_id, task_id=task.id)
        return status_update(task, TaskState.FAILED, self.message_factory.timestamp(), message)


def _settles(event: Event) -> bool:
    """Return True for an event that can end a turn."""
    return isinstance(event, Task | TaskStatusUpdateEvent) and event.status.state.settled
