"""Record the events of turns in the task store, beside the turns and under leases: clients do not wait for the store.

No turn has a thread for it: each step runs in one of a few, the first event at once, what follows in batches.
"""

import math
import random
from collections.abc import Callable, Iterable
from functools import partial

from msgspec import Struct

from a2a_hub.a2a.agent import TryLater
from a2a_hub.a2a.live_turn import BEING_RECORDED, ENDED, TurnState
from a2a_hub.a2a.model import Event, Message, Part, Task, TaskState
from a2a_hub.a2a.reply import agent_message, status_update
from a2a_hub.runtime.scheduler import Job
from a2a_hub.task_store.store import LeaseLost, TooLarge, Unavailable, UnknownTask
from a2a_hub.tasks.leased_writer import LeasedWriter
from a2a_hub.tasks.task_turn import TaskTurn
from a2a_hub.tasks.text_only import translated
from a2a_hub.tasks.updates import answer_updates, failure, settles
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
    """Events to append at once, of which the first `taken` are the run's. `then` ends the recording afterwards."""

    events: list[Event]
    payload: bytes
    taken: int
    repeat_until: float = 0.0
    then: Callable[[], object] | None = None


class Recording(Job):
    """The recording of one turn, under the lease of its task, or of the one that is yet to be stored. One step runs at a time,
    and writes alone what stands here.

    Unless a stream has already shown its task, a turn gives way to the same request's turn if another instance stored that
    first. A single Message is not stored. If the lease is lost, the run ends without another event, and its subscribers follow
    the process that has the task.
    """

    def __init__(self, turn: TaskTurn) -> None:
        super().__init__(turn.deps.scheduler)
        self._turn = turn
        self._deps = turn.deps
        self._settings = turn.deps.settings
        self._clock = turn.deps.scheduler.clock
        self._is_known = turn.call.streaming
        self._writer = self._lead() if turn.lease else None
        self._batch: _Batch | None = None
        self._appended_at = float("-inf")
        self._away_since: float | None = None
        self._events_seen = 0

    def start(self) -> None:
        """Begin to record."""
        self._turn.relay.watch(self._schedule_next_step)
        self.wake()

    def _lead(self) -> LeasedWriter:
        turn = self._turn
        assert turn.stored is not None, "it has a lease"
        return LeasedWriter(
            self._deps.store,
            turn.stored,
            turn.lease,
            holder=turn.call.request_id,
            seconds=self._settings.lease_seconds,
            clock=self._clock,
        )

    def _schedule_next_step(self) -> None:
        """Take the next step: at once at the end of the turn, with the next batch after an event, unless the store is away."""
        if self._turn.hands_over or self._turn.state in ENDED:
            self.wake()
        elif self._away_since is None and self._turn.relay.events_after(self._events_seen):
            self.wake(self._seconds_to_next_batch())

    def work(self) -> None:
        """Take one step."""
        turn, log = self._turn, self._deps.log
        if turn.state not in BEING_RECORDED:
            return
        try:
            with tracing.within(turn.call.traceparent):
                self._step()
            self._away_since = None
        except Unavailable:
            self._bridge_outage()
        except UnknownTask:
            # A new file in the place of one that was deleted or damaged.
            self._record_anew()
            self._bridge_outage()
        except LeaseLost:
            turn.follow()
            log.line("WARNING", "A run was given up: another one has its task", **_ids(turn))
        except Exception:
            self._leave_unrecorded()

    def _bridge_outage(self) -> None:
        """Try the step again after as long as the store is away already, within bounds."""
        now = self._clock()
        self._away_since = self._away_since or now
        away_seconds = now - self._away_since
        if away_seconds > self._settings.outage_seconds:
            self._leave_unrecorded()
        else:
            self.wake(_jittered(min(max(_FIRST_PAUSE_SECONDS, away_seconds), _LONGEST_PAUSE_SECONDS)))

    def _record_anew(self) -> None:
        """Start over: the next step stores the task as it was at the start of the turn, then all events of the run."""
        self._writer = self._batch = None
        self._appended_at = float("-inf")
        self._is_known = True
        self._turn.first_version = 1

    def _leave_unrecorded(self) -> None:
        """Let the run continue without a store, for the callers that wait for it."""
        self._deps.log.exception("A run could not be recorded", self._turn.call.record)
        self._end_recording()

    def _end_recording(self) -> None:
        if not self._turn.enter(TurnState.RUNNING):
            self._turn.enter(TurnState.SETTLED)

    def _step(self) -> None:
        turn, writer = self._turn, self._writer or self._create()
        if writer is None:
            return
        self._writer = writer
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
        self.wake(self._settings.cancel_poll_seconds)

    def _append(self, writer: LeasedWriter, batch: _Batch) -> None:
        """Append the batch; what is left of it is its end."""
        turn = self._turn
        try:
            writer.append(batch.events, batch.payload, repeat_until=batch.repeat_until)
        except TooLarge:
            self._deps.log.line("WARNING", "A task grew too large to keep", **_ids(turn))
            batch.events = [failure(turn.first, _TOO_LARGE, reason="TOO_LARGE")]
            batch.payload, batch.taken, batch.repeat_until = writer.payload, 0, 0.0
            # Waiting callers read this end from the log.
            batch.then = turn.follow
            writer.append(batch.events, batch.payload)
        if batch.events:
            self._appended_at = self._clock()
        turn.recorded += batch.taken
        batch.events, batch.taken = [], 0

    def _cancel_requested(self) -> bool:
        stored = self._deps.store.get(self._turn.first.id, owner=None)
        return stored is not None and stored.cancel_requested

    def _create(self) -> LeasedWriter | None:
        """Store the task; None if there is nothing to record, or not yet."""
        turn = self._turn
        if turn.call.streaming:
            ended = turn.state is TurnState.ENDING
            events = turn.relay.events_after(0)
            self._events_seen = len(events)
            if events and isinstance(events[0], Message):
                self._end_recording()
                return None
            if not events and not ended:
                return None
        try:
            if not turn.create(turn.first, leased=True, may_follow=not self._is_known):
                return None
        except TooLarge:
            self._end_recording()
            return None
        except Unavailable:
            self._is_known = True
            raise
        turn.enter(TurnState.RECORDED)
        return self._lead()

    def _next_batch(self, writer: LeasedWriter) -> _Batch | None:
        turn = self._turn
        ended = turn.state is TurnState.ENDING
        events = turn.relay.events_after(turn.recorded)
        self._events_seen = turn.recorded + len(events)
        ends = bool(events) and settles(events[-1])
        if ended or (ends and turn.hands_over):
            return self._last_batch(writer.stored.task, events)
        if ends:
            # Appending it ends the lease, and the agent may still write notes.
            events.pop()
        batch = _Batch(events=events, payload=turn.payload(), taken=len(events))
        if turn.hands_over:
            batch.then = self._release
        elif events and (early_seconds := self._seconds_to_next_batch()) > 0:
            self.wake(early_seconds)
            return None
        return batch

    def _last_batch(self, task: Task, events: list[Event]) -> _Batch:
        """Return the end of the turn, or of this try."""
        turn, taken = self._turn, len(events)
        events = [*self._answer(task), *events]
        if turn.away and (due_at := self._next_try(turn.away)):
            turn.tries, turn.due_at = turn.tries + 1, due_at
            # Replaces the failure that ends the run.
            events[-1] = self._trying_again(task, turn.away)
            return _Batch(events=events, payload=turn.payload(), taken=taken - 1, then=self._release)
        if not (events and settles(events[-1])):
            events.append(failure(task, NO_RESULT, reason="NO_RESULT"))
        return _Batch(
            events=events,
            payload=turn.payload(),
            taken=taken,
            repeat_until=turn.repeat_until(events[-1]),
            then=partial(turn.enter, TurnState.SETTLED),
        )

    def _answer(self, task: Task) -> Iterable[Event]:
        """Return the events of a run that answered with a Message alone."""
        match self._turn.relay.events_after(0):
            case [Message() as answer]:
                return answer_updates(answer, task)
        return ()

    def _trying_again(self, task: Task, away: TryLater) -> Event:
        """Return the status that says when the turn is tried again, and why."""
        turn, deps = self._turn, self._deps
        deps.log.line("WARNING", "An agent is away; its turn is tried again", **_ids(turn), cause=away.cause)
        seconds = max(1, math.ceil(turn.due_at - deps.now()))
        text = translated(deps.texts.trying_again, turn.sent.message, reason=away.message, seconds=seconds)
        said = agent_message(Part(text=text), context_id=task.context_id, task_id=task.id)
        return status_update(task, TaskState.WORKING, said)

    def _next_try(self, away: TryLater) -> float | None:
        """Return the time of the next attempt, None if there is none: exponential back-off, with a last attempt at the end.

        An open circuit is a back-off by itself: what waits for its end is only spread a little.
        """
        task, now = self._turn.call.task, self._deps.now()
        until = task.retries_until if task else None
        if until is None or now + away.seconds >= until:
            return None
        longest = _SPREAD_SECONDS if away.seconds else _LONGEST_RETRY_SECONDS
        pause = min(_FIRST_RETRY_SECONDS * 2.0**self._turn.tries, longest)
        return min(now + away.seconds + _jittered(pause), until)

    def _release(self) -> None:
        """Leave the turn to another process, now or at the time of its next try."""
        assert self._writer is not None, "its task is stored"
        # 0 instead of the current time, since the clock of this process may be ahead of the next one's.
        self._writer.release(self._turn.due_at)
        self._turn.queue()

    def _seconds_to_next_batch(self) -> float:
        return self._appended_at + self._settings.batch_seconds - self._clock()


def _jittered(seconds: float) -> float:
    return seconds * random.uniform(0.5, 1.0)  # noqa: S311 - jitter is no secret


def _ids(turn: TaskTurn) -> dict[str, str]:
    return {"requestId": turn.call.request_id, "taskId": turn.first.id}
