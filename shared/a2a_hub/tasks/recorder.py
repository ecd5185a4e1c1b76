"""Record the events of turns in the task store, beside the turns and under leases: clients do not wait for the store.

No turn has a thread for it: each step runs in one of a few, the first event at once, what follows in batches.
"""

import math
import random
from collections.abc import Callable
from typing import TypeGuard

from msgspec import Struct

from a2a_hub.a2a.agent import TryLater
from a2a_hub.a2a.live_turn import ENDED, STORED_SOON, TurnState
from a2a_hub.a2a.model import Event, Message, Part, Task, TaskState, TaskStatusUpdateEvent
from a2a_hub.a2a.reply import status_update
from a2a_hub.queue.wakeups import topic_of
from a2a_hub.runtime.scheduler import Job
from a2a_hub.task_store.store import HUB, LeaseLost, StoredTask, TooLarge, Unavailable
from a2a_hub.tasks.leased_writer import LeasedWriter
from a2a_hub.tasks.task_turn import TaskTurn
from a2a_hub.tasks.text_only import told
from a2a_hub.tasks.updates import failure, updates
from a2a_hub.telemetry import tracing

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0
_FIRST_RETRY_SECONDS = 1.0
_LONGEST_RETRY_SECONDS = 30.0
_SPREAD_SECONDS = 3.0
NO_RESULT = "The work on this task broke off without a result. / このタスクの処理は結果を得られずに中断しました。"
_TOO_LARGE = (
    "The result of this task is too large to keep; ask for less at once. / "
    "このタスクの結果は大きすぎて保存できません。範囲を絞って依頼してください。"
)


class _Batch(Struct, kw_only=True):
    """Events to append at once, of which the first `taken` are the turn's; `then` ends the recording afterwards."""

    events: list[Event]
    payload: bytes
    taken: int = 0
    then: Callable[[], object] | None = None


class Recording:
    """The recording of one turn, step by step. One step runs at a time, and writes alone what stands here.

    A client who reads a stream has seen the task; else a turn of the same request that another instance stored before takes its
    place. A Message alone is not stored.

    A lost lease ends the run without a further event: another process runs the task, and the subscribers of this run follow that
    one.
    """

    def __init__(self, turn: TaskTurn) -> None:
        self._turn = turn
        self._parts = turn.parts
        self._times = turn.parts.settings.lease_times
        self._clock = turn.parts.scheduler.clock
        self._lease = turn.parts.message_factory.new_id()
        self._is_known = turn.call.streaming
        self._writer: LeasedWriter | None = None
        self._batch: _Batch | None = None
        self._appended_at = float("-inf")
        self._away_since: float | None = None
        self._pause = _FIRST_PAUSE_SECONDS
        self._job = Job(turn.parts.scheduler, self._work)
        self._events_seen = 0

    def start(self, stored: StoredTask | None = None, lease: str = "") -> None:
        """Begin to record. The lease is that of the `stored` task; without one, the turn is yet to be stored."""
        if stored is not None:
            self._lease = lease
            self._lead(stored)
        subscription = self._turn.relay.subscribe()
        assert subscription is not None, "a task's run is never abandoned"
        subscription.on_ready(self._wake)
        self._job.wake()

    def _wake(self) -> None:
        """Take the next step: at once at the end of the turn, with the next batch after an event, unless the store is away."""
        if self._turn.hands_over or self._turn.state in ENDED:
            self._job.wake()
        elif self._away_since is None and self._turn.relay.events_after(self._events_seen):
            self._job.wake(self._seconds_to_next_batch())

    def _lead(self, stored: StoredTask) -> None:
        """Take the lease of the stored task."""
        self._writer = LeasedWriter(
            self._parts.store,
            stored,
            self._lease,
            holder=self._turn.call.request_id,
            seconds=self._times.seconds,
            clock=self._clock,
        )
        self._turn.version, self._turn.shown = stored.version, 1

    def _work(self) -> None:
        turn, log = self._turn, self._parts.log
        if turn.state not in STORED_SOON:
            return
        try:
            with tracing.within(turn.call.traceparent):
                self._step()
            self._away_since, self._pause = None, _FIRST_PAUSE_SECONDS
        except Unavailable:
            self._bridge_outage()
        except LeaseLost:
            turn.give_up()
            log.line("WARNING", "A run was given up: another one has its task", **_ids(turn))
        except Exception:
            self._leave_unrecorded()

    def _bridge_outage(self) -> None:
        now = self._clock()
        self._away_since = now if self._away_since is None else self._away_since
        if now - self._away_since > self._times.outage_seconds:
            self._leave_unrecorded()
            return
        self._job.wake(self._pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter is no secret
        self._pause = min(self._pause * 2, _LONGEST_PAUSE_SECONDS)

    def _leave_unrecorded(self) -> None:
        """Let the run continue without a store, for the callers that wait for it."""
        self._parts.log.exception("A run could not be recorded", self._turn.call.record)
        self._end_recording()

    def _end_recording(self) -> None:
        if not self._turn.enter(TurnState.RUNNING):
            self._turn.enter(TurnState.SETTLED)

    def _step(self) -> None:
        if self._writer is None and not self._create():
            return
        writer, turn = self._writer, self._turn
        assert writer is not None, "its task is stored"
        self._batch = batch = self._batch or self._next_batch(writer)
        if batch is None:
            return
        # A turn without events can be resumed from its notes only.
        appends = bool(batch.events) or batch.payload != writer.payload
        if appends:
            self._append(writer, batch)
        if batch.then is not None:
            batch.then()
            return
        self._batch = None
        if writer.stored.cancel_requested or (not appends and self._cancel_requested()):
            turn.cancel()
        writer.renew()
        self._job.wake(self._times.cancel_poll_seconds)

    def _append(self, writer: LeasedWriter, batch: _Batch) -> None:
        """Append the batch; what is left of it is its end."""
        turn = self._turn
        state = batch.events[-1].status.state if batch.events and _settles(batch.events[-1]) else TaskState.WORKING
        try:
            writer.append(batch.events, batch.payload, repeat_until=turn.repeat_until(state))
        except TooLarge:
            self._parts.log.line("WARNING", "A task grew too large to keep", **_ids(turn))
            batch.events = [failure(writer.stored.task, _TOO_LARGE, self._parts.message_factory, reason="TOO_LARGE")]
            batch.payload, batch.taken, batch.then = writer.payload, 0, turn.give_up
            writer.append(batch.events, batch.payload)
        if batch.events:
            self._appended_at = self._clock()
        # Subscribers who follow the log from now on have not seen what is not the turn's own.
        turn.version = writer.stored.version - len(batch.events) + batch.taken
        turn.shown += batch.taken
        batch.events, batch.taken = [], 0

    def _cancel_requested(self) -> bool:
        stored = self._parts.store.get(self._turn.first.id, owner=None)
        return stored is not None and stored.cancel_requested

    def _create(self) -> bool:
        """Store the task; False if there is nothing to record, or not yet."""
        turn = self._turn
        if turn.call.streaming:
            ended = turn.state is TurnState.ENDING
            events = turn.relay.events_after(0)
            self._events_seen = len(events)
            if events and isinstance(events[0], Message):
                self._end_recording()
                return False
            if not events and not ended:
                return False
        try:
            stored = turn.create(turn.first, lease=self._lease)
            if self._is_known and stored.task.id != turn.first.id:
                stored = turn.create(turn.first, lease=self._lease, joins=False)
        except TooLarge:
            self._end_recording()
            return False
        except Unavailable:
            self._is_known = True
            raise
        if stored.task.id != turn.first.id:
            turn.follow(stored)
            return False
        self._lead(stored)
        turn.enter(TurnState.RECORDED)
        return True

    def _next_batch(self, writer: LeasedWriter) -> _Batch | None:
        turn = self._turn
        ended = turn.state is TurnState.ENDING
        events = turn.relay.events_after(turn.shown)
        self._events_seen = turn.shown + len(events)
        ends = bool(events) and _settles(events[-1])
        if ended or (ends and turn.hands_over):
            return self._last_batch(writer.stored.task, events)
        if ends:
            # Appending it ends the lease, and the agent may still write notes.
            events.pop()
        batch = _Batch(events=events, payload=turn.payload(), taken=len(events))
        if turn.hands_over:
            batch.then = self._release
        elif events and (early_seconds := self._seconds_to_next_batch()) > 0:
            self._job.wake(early_seconds)
            return None
        return batch

    def _last_batch(self, task: Task, events: list[Event]) -> _Batch:
        turn, parts = self._turn, self._parts
        batch = _Batch(events=events, payload=turn.payload(), taken=len(events))
        away = turn.relay.error if isinstance(turn.relay.error, TryLater) else None
        due_at = self._next_try(away) if away else None
        if away and due_at is not None:
            parts.log.line("WARNING", "An agent is away; its turn is tried again", **_ids(turn), cause=away.cause)
            seconds = max(1, math.ceil(due_at - parts.now()))
            text = told(parts.texts.trying_again, turn.sent.message, reason=away.message, seconds=seconds)
            said = parts.message_factory.message(Part(text=text), context_id=task.context_id, task_id=task.id)
            events.append(status_update(task, TaskState.WORKING, parts.message_factory.timestamp(), said))
            turn.tries, turn.due_at = turn.tries + 1, due_at
            batch.payload, batch.then = turn.payload(), self._release
            return batch
        batch.events = [*self._answer(task), *events]
        if not _settles(batch.events[-1] if batch.events else task):
            text, reason = (away.message, away.reason) if away else (NO_RESULT, "NO_RESULT")
            batch.events.append(failure(task, text, parts.message_factory, reason=reason, retryable=away is not None))
        batch.then = lambda: turn.enter(TurnState.SETTLED)
        return batch

    def _release(self) -> None:
        """Leave the turn to another process, now or at the time of its next try."""
        turn, parts = self._turn, self._parts
        assert self._writer is not None, "its task is stored"
        self._writer.release(turn.due_at or parts.now())
        turn.give_up()
        parts.wakeups.publish(topic_of(HUB), turn.first.id, due_at=turn.due_at or None)

    def _next_try(self, away: TryLater) -> float | None:
        """Return the time of the next try, None if there is none: exponential back-off, and a last try at the end.

        An open circuit is a back-off by itself: what waits for its end is only spread a little.
        """
        task, now = self._turn.call.task, self._parts.now()
        until = task.retries_until if task else None
        if until is None or now + away.seconds >= until:
            return None
        longest = _SPREAD_SECONDS if away.seconds else _LONGEST_RETRY_SECONDS
        pause = min(_FIRST_RETRY_SECONDS * 2.0**self._turn.tries, longest)
        jittered = pause * random.uniform(0.5, 1.0)  # noqa: S311 - jitter is no secret
        return min(now + away.seconds + jittered, until)

    def _answer(self, task: Task) -> list[Event]:
        """Return the events of a run that answered with a Message alone."""
        first = self._turn.relay.events_after(0)[:1]
        if not first or not isinstance(first[0], Message):
            return []
        events = updates(
            iter(first),
            task,
            cancellation=self._turn.call.cancellation,
            timestamp=self._parts.message_factory.timestamp,
            allows_message=False,
        )
        return list(events)[1:]

    def _seconds_to_next_batch(self) -> float:
        return self._appended_at + self._times.batch_seconds - self._clock()


def _settles(event: Event) -> TypeGuard[Task | TaskStatusUpdateEvent]:
    """Return True for an event that can end a turn."""
    return isinstance(event, Task | TaskStatusUpdateEvent) and event.status.state.settled


def _ids(turn: TaskTurn) -> dict[str, str]:
    return {"requestId": turn.call.request_id, "taskId": turn.first.id}
