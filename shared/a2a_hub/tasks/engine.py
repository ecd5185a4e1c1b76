"""The engine of turns where tasks are kept: it starts them, here or elsewhere, answers who waits, and ends them at a stop.

SendMessage and SendStreamingMessage (A2A 1.0.1 §3.1.1, §3.1.2): a short turn that is waited for touches no store. One that goes
on, that is streamed, that asks something back, that may be repeated, or that nobody waits for, becomes a task of its owner.
"""

import threading
import time
from contextlib import closing, suppress
from typing import Any

from msgspec.structs import replace

from a2a_hub.a2a.a2ui import a2ui_in
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import PAYLOAD_TOO_LARGE, UNAVAILABLE, A2AError
from a2a_hub.a2a.fold import fold
from a2a_hub.a2a.live_turn import OVER, STORED_OR_NOT, TurnState
from a2a_hub.a2a.model import Event, Message, Part, SendMessageRequest, Task, TaskState
from a2a_hub.a2a.refusal import TemporaryRefusal, restarting
from a2a_hub.a2a.relay import EventSource, Waiting
from a2a_hub.a2a.reply import as_message, status_update
from a2a_hub.queue.wakeups import topic_of
from a2a_hub.task_store.store import HUB, Lease, LeaseLost, StoredTask, TaskEnded, TooLarge, Unavailable
from a2a_hub.tasks.parts import TaskParts
from a2a_hub.tasks.recorder import NO_RESULT, Recording
from a2a_hub.tasks.resume_payload import decode_resume_payload
from a2a_hub.tasks.task_turn import TaskTurn, TaskTurns
from a2a_hub.tasks.text_only import TextOnlyStream, TextOnlyView, told
from a2a_hub.tasks.turn_events import MOST_BEHIND_SECONDS, events_of
from a2a_hub.tasks.updates import failure
from a2a_hub.telemetry import tracing

_AWAY_SECONDS = 5.0


class TurnEngine:
    """See `a2a_hub.a2a.agent.Sending`."""

    def __init__(self, parts: TaskParts, turns: TaskTurns) -> None:
        self._parts = parts
        self._turns = turns
        self._store = parts.store
        self._settings = parts.settings
        self._message_factory = parts.message_factory

    def send(self, request: SendMessageRequest, call: Call) -> Task | Message:
        """Return the turn's result, or the task as it is when patience ends. Raises A2AError."""
        limits = self._settings.wait_limits
        try:
            turn, is_new = self._turns.begin(TaskTurn(request, call, self._parts), self._start)
            if turn.returns_immediately and (turn.version or turn.elsewhere):
                # A client that asks for this knows what a task is, and comes back for it.
                return turn.elsewhere.task if turn.elsewhere else turn.first
            with closing(events_of(turn)) as events:
                result = self._result(turn, events, limits.ui_seconds if call.for_ui else limits.blocking_seconds)
                return self._answer(result, turn, call, is_new=is_new)
        except (TooLarge, Unavailable) as error:
            raise self._refusal(error, call) from None

    def stream(self, request: SendMessageRequest, call: Call) -> EventSource:
        """Return the turn's events. Raises A2AError."""
        try:
            turn, _ = self._turns.begin(TaskTurn(request, call, self._parts), self._start)
            events = events_of(turn)
        except (TooLarge, Unavailable) as error:
            raise self._refusal(error, call) from None
        if not call.for_ui:
            return events
        return TextOnlyStream(
            events=events,
            view=self._text_only(turn, call),
            deadline=self._parts.scheduler.clock() + self._settings.wait_limits.ui_seconds,
            still_working=lambda task_id: self._still_working(turn, task_id),
            message_factory=self._message_factory,
            scheduler=self._parts.scheduler,
        )

    def run(
        self, task_id: str, *, request_id: str, record: dict[str, Any], until: float | None = None
    ) -> TaskState | None:
        """Run a stored task to the end of its turn, and return its state then; None if there was nothing to run.

        At `until`, in seconds since the epoch, the turn is handed over: the task is due, and the next call goes on with it.
        Raise LeaseLost or TaskEnded if the lease expired while the store was slow.
        """
        turn = self._take(task_id, request_id=request_id, record=record)
        if not isinstance(turn, TaskTurn):
            return turn
        turn.attend()
        if not turn.wait(OVER, None if until is None else max(0.0, until - self._parts.now())):
            turn.hand_over()
            turn.wait(OVER, self._settings.lease_times.seconds)
        now = self._store.get(task_id, owner=None)
        return now.task.status.state if now else None

    def drain(self, *, seconds: float = 5.0) -> None:
        """Take no more work, and leave what is stored to other instances, which are woken; streams end with an event that can be
        resumed from. What is not stored may end within `seconds`; whoever still waits for it then gets an error.
        """
        self._parts.streams.drain()
        self._turns.drain(seconds=seconds)

    def _take(self, task_id: str, *, request_id: str, record: dict[str, Any]) -> TaskTurn | TaskState | None:
        """Start a stored task that is due, or end it; None if it is not due. Raises LeaseLost, TaskEnded."""
        if self._turns.draining:
            raise restarting()
        # A turn whose lease expired in a pause of this process, a clock change or an outage takes it again.
        lease = None if self._turns.of_task(task_id) else self._lease(task_id, request_id)
        if lease is None:
            return None
        stored = lease.stored
        payload = decode_resume_payload(stored.payload)
        call = payload.call(stored.task, request_id=request_id, record=record)
        call = replace(call, body_bytes=len(stored.payload))
        if stored.cancel_requested:
            canceled = status_update(stored.task, TaskState.CANCELED, self._message_factory.timestamp())
            self._store.append(task_id, [canceled], lease=lease.token)
            self._parts.agent.cancel(call)
            return TaskState.CANCELED
        try:
            if stored.attempt > self._settings.most_attempts:
                tracing.add("a2a_hub.work.abandoned", 1, kind="task")
                raise A2AError(UNAVAILABLE, NO_RESULT)
            agent_turn = self._parts.agent.send(payload.request, call)
        except A2AError as refusal:
            failed = failure(stored.task, refusal.message, self._message_factory, reason=refusal.kind.reason)
            self._store.append(task_id, [failed], lease=lease.token)
            return TaskState.FAILED
        turn = self._turns.claim(TaskTurn(payload.request, call, self._parts), joins=False)
        turn.agent_turn, turn.first, turn.first_version = agent_turn, stored.task, stored.version
        turn.began_at, turn.tries = payload.began_at or stored.created_at, payload.tries
        turn.enter(TurnState.ROUTED)
        turn.retry()
        self._run(turn, stored, lease.token)
        return turn

    def _try_again(self, turn: TaskTurn) -> None:
        """Go on with a turn whose agent was away, at its time: another instance may be sooner, or this process gone."""
        if turn.state is not TurnState.WAITING or not turn.due_at or not self._settings.runs_at_once:
            return

        def try_again() -> None:
            with suppress(Unavailable, LeaseLost, TaskEnded, A2AError):
                self._take(turn.first.id, request_id=turn.call.request_id, record={})

        self._parts.scheduler.run_later(turn.due_at - self._parts.now(), try_again)

    def _start(self, turn: TaskTurn) -> None:
        """Start the turn here, or leave it to whoever has its task: never the same request twice."""
        turn.open()
        if not turn.enter(TurnState.ROUTED):
            return
        waits_for_agent = not turn.agent_turn.immediate
        if turn.answered is not None:
            self._run_or_queue(turn, turn.answered, runs_here=self._settings.runs_at_once)
        elif not waits_for_agent and (turn.call.for_ui or not turn.call.streaming):
            turn.run(TurnState.RUNNING)
            turn.relay.run(turn.ended)
        elif turn.must_be_stored or (waits_for_agent and turn.repeats):
            self._create(turn)
        else:
            # Unless a task has to be stored, an outage of the store is no failure.
            with suppress(Unavailable):
                if turn.join():
                    return
            if waits_for_agent and turn.call.streaming and self._parts.quota:
                self._parts.quota.check_new_task(turn.owner)
            self._run(turn)

    def _create(self, turn: TaskTurn) -> None:
        """Store the turn before it runs, so that the same request finds it on every instance. What need not be stored runs
        without a task if that fails.
        """
        runs_here = self._settings.runs_at_once or not turn.must_be_stored
        lease = self._message_factory.new_id() if runs_here and not turn.agent_turn.role else ""
        try:
            if self._parts.quota:
                self._parts.quota.check_new_task(turn.owner)
            stored = turn.create(turn.first, lease=lease)
        except (TemporaryRefusal, TooLarge, Unavailable) as error:
            # The same request may be one of the owner's tasks, of which there are too many.
            if isinstance(error, TemporaryRefusal) and turn.join():
                return
            if turn.must_be_stored or (isinstance(error, TemporaryRefusal) and turn.call.streaming):
                raise
            self._run(turn)
            return
        if stored.task.id != turn.first.id:
            turn.follow(stored)
        else:
            self._run_or_queue(turn, stored, runs_here=runs_here, lease=lease)

    def _run_or_queue(self, turn: TaskTurn, stored: StoredTask, *, runs_here: bool, lease: str = "") -> None:
        """Run the stored turn here under its lease, or a new one; or leave it to the workers of its role, or to the runner."""
        role = turn.agent_turn.role
        if role or not runs_here:
            self._parts.wakeups.publish(topic_of(role), stored.task.id)
        elif not lease:
            # What is stored will be run: there is nothing to send again.
            with suppress(Unavailable):
                if leased := self._lease(turn.first.id, turn.call.request_id):
                    stored, lease = leased.stored, leased.token
        if lease:
            self._run(turn, stored, lease)
        else:
            turn.give_up(stored)

    def _lease(self, task_id: str, holder: str) -> Lease | None:
        seconds = self._settings.lease_times.seconds
        return self._store.lease(holder, seconds=seconds, roles=(HUB,), task_id=task_id)

    def _run(self, turn: TaskTurn, stored: StoredTask | None = None, lease: str = "") -> None:
        """Run the turn in this process; a stream is stored from its first event on."""
        streaming = turn.call.streaming
        turn.run(TurnState.RECORDED if stored else TurnState.STORING if streaming else TurnState.RUNNING)
        turn.when_over(lambda: self._try_again(turn))
        if stored is not None or streaming:
            Recording(turn).start(stored, lease)
        turn.relay.start(self._parts.threads, on_end=turn.ended)

    def _result(self, turn: TaskTurn, source: EventSource, seconds: float) -> Task | Message:
        """Return the turn's result, or the task as it is when patience ends. The turn is stored once it takes long."""
        events, seen, now = Waiting(source, idle_seconds=0.0), list[Event](), time.monotonic()
        if not _gathered(events, seen, now + min(self._settings.wait_limits.store_seconds, seconds)):
            if turn.enter(TurnState.STORING):
                Recording(turn).start()
            if not _gathered(events, seen, now + seconds):
                turn.wait(STORED_OR_NOT, MOST_BEHIND_SECONDS)
                _gathered(events, seen, now)
                turn.retry()
        return fold(seen) if seen else turn.first

    def _answer(self, result: Task | Message, turn: TaskTurn, call: Call, *, is_new: bool) -> Task | Message:
        """Return the result as this caller gets it."""
        if isinstance(result, Task):
            state, before = result.status.state, turn.before
            is_answer = state is TaskState.COMPLETED if turn.agent_turn.immediate else call.for_ui and state.terminal
            is_answer = is_answer and before is None
            if call.for_ui and not state.settled:
                part = Part(text=self._still_working(turn, result.id))
                result = self._message_factory.message(part, context_id=result.context_id)
            elif is_new and not (turn.version or turn.elsewhere or is_answer):
                self._keep(result, turn, is_needed=not (state.terminal or call.for_ui))
            if isinstance(result, Task) and state.settled and (call.for_ui or is_answer):
                result = as_message(result, before=before)
        if call.for_ui and isinstance(result, Message):
            return self._text_only(turn, call).message(result)
        return result

    def _keep(self, result: Task, turn: TaskTurn, *, is_needed: bool) -> None:
        """Store the task, for whoever asks for it or answers it. Raises TooLarge, Unavailable for one that `is_needed`.

        Any other is shown without being stored if the store is away or slow.
        """
        if is_needed:
            turn.create(result, joins=False)
            return
        kept = threading.Event()

        def keep() -> None:
            with suppress(TooLarge, Unavailable):
                turn.create(result, joins=False)
            kept.set()

        self._parts.threads.run(keep)
        kept.wait(MOST_BEHIND_SECONDS)

    def _text_only(self, turn: TaskTurn, call: Call) -> TextOnlyView:
        return TextOnlyView(
            with_data=call.wants_data,
            with_surfaces=bool(a2ui_in(call.extensions)),
            empty_answer=lambda: told(self._parts.texts.without_answer, turn.sent.message),
            before=turn.before,
        )

    def _still_working(self, turn: TaskTurn, task_id: str) -> str:
        """Return what a person reads who waits no longer; from now on the turn is tried again if its agent is away."""
        turn.retry()
        stored = None
        with suppress(Unavailable):
            stored = self._store.get(task_id, owner=turn.owner)
        return self._parts.texts.of_running(
            turn.sent.message,
            stored.number if stored else None,
            waits_for_worker=stored is not None and stored.waits_for_worker,
        )

    def _refusal(self, error: TooLarge | Unavailable, call: Call) -> Exception:
        """Return the refusal of what cannot be stored."""
        if isinstance(error, TooLarge):
            return A2AError(PAYLOAD_TOO_LARGE, "The task would grow larger than a task may be")
        if not call.for_ui:
            return error
        call.record["severity"] = "ERROR"
        return TemporaryRefusal(UNAVAILABLE, self._parts.texts.store_away, seconds=_AWAY_SECONDS)


def _gathered(events: Waiting[Event], seen: list[Event], deadline: float) -> bool:
    """Add what comes before the deadline to the events seen; True if these are all."""
    while True:
        events.idle_seconds = max(0.0, deadline - time.monotonic())
        try:
            event = next(events)
        except StopIteration:
            return True
        if event is None:
            return False
        if isinstance(event, Task):
            # Of a task that takes the place of this one, perhaps.
            seen.clear()
        seen.append(event)
