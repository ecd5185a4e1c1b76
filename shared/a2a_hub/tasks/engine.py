"""The engine of turns with a task store: starts them here or elsewhere, answers waiting callers, and ends them at shutdown.

SendMessage and SendStreamingMessage (A2A 1.0.1 §3.1.1, §3.1.2): a short turn with a waiting caller touches no store. A turn
becomes a task of its owner if it takes long, is streamed, asks a question, may be repeated, or has no waiting caller.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

from msgspec.structs import replace

from a2a_hub.a2a.a2ui import a2ui_in
from a2a_hub.a2a.agent import Agent
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import PAYLOAD_TOO_LARGE, UNAVAILABLE, A2AError
from a2a_hub.a2a.fold import fold
from a2a_hub.a2a.live_turn import BEING_RECORDED, ENDED, OVER, STORED_OR_NOT, TurnState
from a2a_hub.a2a.model import Event, Message, Part, SendMessageRequest, Task, TaskState
from a2a_hub.a2a.refusal import TemporaryRefusal, restarting
from a2a_hub.a2a.relay import EventSource
from a2a_hub.a2a.reply import agent_message, as_message, status_update
from a2a_hub.http.messages import Wake
from a2a_hub.queue.wakeups import Wakeups
from a2a_hub.quota.quotas import TaskQuota
from a2a_hub.runtime.scheduler import Scheduler
from a2a_hub.task_store.store import HUB, Lease, LeaseLost, TaskEnded, TooLarge, Unavailable
from a2a_hub.tasks.display import ShownArtifacts, displayed_task
from a2a_hub.tasks.operations import TaskOperations
from a2a_hub.tasks.recorder import NO_RESULT, Recording
from a2a_hub.tasks.resume_payload import decode_resume_payload
from a2a_hub.tasks.subscription import wait_until_settled
from a2a_hub.tasks.task_turn import TaskTurn
from a2a_hub.tasks.text_only import TextOnlyStream, TextOnlyView, UiTexts, translated
from a2a_hub.tasks.turn_dependencies import TurnDependencies
from a2a_hub.tasks.updates import failure, settles
from a2a_hub.telemetry import tracing
from a2a_hub.telemetry.log import Log

_STORE_RETRY_SECONDS = 5.0
_MAX_STORE_THREADS = 16
# The end of a turn waits this long for the store, so that a client that then queries the task finds the state it was shown.
_MAX_STORE_LAG_SECONDS = 2.0


class TurnEngine:
    """The turns of an agent, started for callers and for the `tasks` function; `operations` answers queries on stored tasks.

    `now` returns seconds since the epoch; tasks and leases get ids of `new_id`.
    """

    def __init__(
        self,
        agent: Agent,
        operations: TaskOperations,
        *,
        now: Callable[[], float],
        new_id: Callable[[], str],
        log: Log,
        texts: UiTexts,
        wakeups: Wakeups,
        quota: TaskQuota | None = None,
    ) -> None:
        self.operations = operations
        self._turns = operations.turns
        self.store = operations.store
        self._settings = operations.settings
        self._deps = TurnDependencies(
            now=now,
            new_id=new_id,
            agent=agent,
            store=self.store,
            configs=operations.configs,
            streams=operations.streams,
            threads=operations.threads,
            scheduler=Scheduler("task store", max_threads=_MAX_STORE_THREADS),
            wakeups=wakeups,
            texts=texts,
            log=log,
            settings=operations.settings,
            quota=quota,
            display=operations.display,
        )

    def send(self, request: SendMessageRequest, call: Call) -> Task | Message:
        """Return the turn's result, or the current task after the maximum wait. Raises A2AError."""
        with self._claimed(request, call) as (turn, is_new):
            if turn.returns_immediately and turn.stored is not None:
                # A client that sets returnImmediately polls the task.
                task = turn.stored.task
                return displayed_task(task, ShownArtifacts(self._deps.display)) if call.for_ui else task
            seconds = self._settings.ui_seconds if call.for_ui else self._settings.blocking_seconds
            return self._answer(self._result(turn, seconds), turn, call, is_new=is_new)

    def stream(self, request: SendMessageRequest, call: Call) -> EventSource:
        """Return the turn's events. Raises A2AError."""
        with self._claimed(request, call) as (turn, _):
            events = TurnEvents(turn)
        if not call.for_ui:
            return events
        return TextOnlyStream(
            events=events,
            first=turn.first,
            view=self._text_only(turn, call),
            deadline=self._deps.scheduler.clock() + self._settings.ui_seconds,
            still_working=lambda task_id: self._still_working(turn, task_id),
            farewell_text=lambda: self._deps.texts.of_running(turn.sent.message, turn.stored),
            scheduler=self._deps.scheduler,
        )

    def run(
        self, task_id: str, *, request_id: str, record: dict[str, Any], until: float | None = None
    ) -> TaskState | None:
        """Run a stored task to the end of its turn and return its state; None if there was nothing to run.

        At `until` (seconds since the epoch) the turn is handed over: the task is due at once, and the next call resumes it.
        Raise LeaseLost or TaskEnded if the lease expired while the store was slow.
        """
        lease = self._lease_due(task_id, request_id)
        if lease is None:
            return None
        turn = self._resume(lease, request_id=request_id, record=record)
        if turn is not None and not turn.wait(OVER, None if until is None else max(0.0, until - self._deps.now())):
            turn.hand_over()
            turn.wait(OVER, self._settings.lease_seconds)
        now = self.store.get(task_id, owner=None)
        return now.task.status.state if now else None

    def drain(self, *, seconds: float = 5.0) -> None:
        """Accept no more work, hand stored turns over to other instances and wake those; streams end with an event from which
        they can be resumed. Turns that are not stored get `seconds` to finish; after that their callers get an error.
        """
        self._deps.streams.drain()
        self._turns.drain(seconds=seconds)

    @contextmanager
    def _claimed(self, request: SendMessageRequest, call: Call) -> Iterator[tuple[TaskTurn, bool]]:
        """Yield the turn, subscribed to in the meantime, and True if it is new. Raises A2AError."""
        turn = TaskTurn(request, call, self._deps)
        try:
            # Subscribed before it starts: a caller who joins and leaves at once must not be its last subscriber.
            with closing(turn.relay.subscribe()):
                claimed, is_new = self._turns.begin(turn, self._start)
                with closing(claimed.relay.subscribe()):
                    yield claimed, is_new
        except (TooLarge, Unavailable) as error:
            raise self._refusal(error, call) from None

    def _start(self, turn: TaskTurn) -> None:
        """Start the turn here, or leave it to the holder of its task: the same request never runs twice."""
        turn.open()
        if turn.state is not TurnState.RECEIVED:
            return
        waits_for_agent = not turn.agent_turn.immediate
        if turn.stored is not None:
            self._continue_task(turn)
        elif not waits_for_agent and (turn.call.for_ui or not turn.call.streaming):
            if turn.enter(TurnState.RUNNING):
                turn.relay.run(turn.events(), turn.ended)
        elif turn.must_be_stored or (waits_for_agent and turn.repeats):
            self._create(turn)
        else:
            # Unless a task has to be stored, an outage of the store is no failure.
            with suppress(Unavailable):
                if turn.join():
                    return
            if waits_for_agent and turn.call.streaming:
                self._check_quota(turn)
            self._run(turn)

    def _create(self, turn: TaskTurn) -> None:
        """Store the turn before it runs, so that the same request finds it on every instance. If that fails, a turn that need
        not be stored runs without a task.
        """
        runs_here = not turn.agent_turn.role and (self._settings.runs_at_once or not turn.must_be_stored)
        try:
            self._check_quota(turn)
            if not turn.create(turn.first, leased=runs_here, may_follow=True):
                return
        except TemporaryRefusal:
            # The same request may already be one of the tasks that exhaust the owner's quota.
            if turn.join():
                return
            if turn.must_be_stored or turn.call.streaming:
                raise
        except (TooLarge, Unavailable):
            if turn.must_be_stored:
                raise
        if runs_here:
            self._run(turn)
        else:
            turn.queue()

    def _continue_task(self, turn: TaskTurn) -> None:
        """Run the turn of a stored task whose question has been answered: the client sends nothing again."""
        if turn.agent_turn.role or not self._settings.runs_at_once:
            turn.queue()
            return
        with suppress(Unavailable):
            if lease := self._lease(turn.first.id, turn.call.request_id):
                turn.acquire(lease.stored, lease.token)
        if turn.lease:
            self._run(turn)
        else:
            turn.follow()

    def _lease(self, task_id: str, request_id: str) -> Lease | None:
        seconds = self._settings.lease_seconds
        return self.store.lease(request_id, seconds=seconds, roles=(HUB,), task_id=task_id)

    def _lease_due(self, task_id: str, request_id: str) -> Lease | None:
        """Lease a stored task that is due and does not run here. Raises UNAVAILABLE once the process takes no more work."""
        if self._turns.draining:
            raise restarting()
        # A turn of this process whose lease expired during a pause, a clock change or an outage renews it by itself.
        return None if self._turns.of_task(task_id) else self._lease(task_id, request_id)

    def _resume(self, lease: Lease, *, request_id: str, record: dict[str, Any]) -> TaskTurn | None:
        """Run the turn of a stored task again; return None if the task is ended instead. Raises LeaseLost, TaskEnded."""
        stored = lease.stored
        payload = decode_resume_payload(stored.payload)
        call = payload.call(stored.task, request_id=request_id, record=record)
        call = replace(call, body_bytes=len(stored.payload))
        if stored.cancel_requested:
            canceled = status_update(stored.task, TaskState.CANCELED)
            self.store.append(stored.task.id, [canceled], lease=lease.token)
            self._deps.agent.cancel(call)
            return None
        try:
            if stored.attempt > self._settings.max_attempts:
                tracing.add("a2a_hub.work.abandoned", 1, kind="task")
                raise A2AError(UNAVAILABLE, NO_RESULT)
            agent_turn = self._deps.agent.send(payload.request, call)
        except A2AError as refusal:
            failed = failure(stored.task, refusal.message, reason=refusal.kind.reason)
            self.store.append(stored.task.id, [failed], lease=lease.token)
            return None
        turn = self._turns.claim(TaskTurn(payload.request, call, self._deps), joins=False)
        turn.resume(lease, payload, agent_turn)
        self._run(turn)
        return turn

    def _run(self, turn: TaskTurn) -> None:
        """Run the turn in this process; a stream is stored from its first event on."""
        streaming = turn.call.streaming
        # An answer to a question belongs to its task, which a failure would end for good. A message to an idle task answers no
        # question.
        is_answer = turn.before is not None and not (turn.call.for_ui and turn.before.status.message is None)
        if is_answer or turn.returns_immediately or turn.webhook is not None or (streaming and not turn.call.for_ui):
            # Nobody is waiting who would prefer an early failure.
            turn.retry()
        turn.when_over(self._schedule_retry)
        if not turn.enter(TurnState.RECORDED if turn.lease else TurnState.STORING if streaming else TurnState.RUNNING):
            return
        if turn.state is not TurnState.RUNNING:
            Recording(turn).start()
        turn.relay.start(turn.events(), self._deps.threads, on_end=turn.ended)

    def _schedule_retry(self, turn: TaskTurn) -> None:
        """Retry a turn whose agent was away when it is due, unless another instance is first."""
        if turn.state is TurnState.FOLLOWING and turn.due_at and self._settings.runs_at_once:
            self._deps.scheduler.run_later(turn.due_at - self._deps.now(), lambda: self._try_again(turn))

    def _try_again(self, turn: TaskTurn) -> None:
        with suppress(Unavailable, LeaseLost, TaskEnded, A2AError):
            if lease := self._lease_due(turn.first.id, turn.call.request_id):
                self._resume(lease, request_id=turn.call.request_id, record=turn.call.record)

    def _check_quota(self, turn: TaskTurn) -> None:
        if self._deps.quota:
            self._deps.quota.check_new_task(turn.owner)

    def _result(self, turn: TaskTurn, seconds: float) -> Task | Message:
        """Return the turn's result, or the current task after `seconds`. A turn that takes long is stored."""
        deadline = time.monotonic() + seconds
        if not turn.wait(ENDED, min(self._settings.store_after_seconds, seconds)):
            if turn.enter(TurnState.STORING):
                Recording(turn).start()
            turn.wait(ENDED, deadline - time.monotonic())
        # While its agent is away, a turn has not ended before the store says so: it may be retried.
        turn.wait(STORED_OR_NOT, deadline - time.monotonic() if turn.away else _MAX_STORE_LAG_SECONDS)
        if turn.state is TurnState.FOLLOWING and turn.stored is not None:
            seconds = deadline - time.monotonic()
            return wait_until_settled(self.store, turn.stored, seconds=seconds, streams=self._deps.streams).task
        if turn.state not in ENDED:
            turn.retry()
        if error := turn.error or turn.relay.error:
            raise error
        events = turn.relay.events_after(0)
        if turn.away and turn.state is TurnState.ENDING:
            events = events[:-1]
        return fold(events) if events else turn.first

    def _answer(self, result: Task | Message, turn: TaskTurn, call: Call, *, is_new: bool) -> Task | Message:
        """Return the result in the form for this caller."""
        is_question = isinstance(result, Task) and result.status.state.interrupted
        if isinstance(result, Task):
            state = result.status.state
            if call.for_ui and not state.settled:
                part = Part(text=self._still_working(turn, result.id))
                return agent_message(part, context_id=result.context_id)
            is_answer = state is TaskState.COMPLETED if turn.agent_turn.immediate else call.for_ui and state.terminal
            is_answer = is_answer and turn.before is None
            if is_new and turn.stored is None and not is_answer:
                if state.terminal or call.for_ui:
                    self._store_if_possible(result, turn)
                else:
                    turn.create(result, leased=False, may_follow=False)
            if call.for_ui and state is TaskState.CANCELED and result.status.message is None:
                part = Part(text=translated(self._deps.texts.canceled, turn.sent.message))
                message = agent_message(part, context_id=result.context_id)
                result = replace(result, status=replace(result.status, message=message))
            if call.for_ui or is_answer:
                result = as_message(result, before=turn.before)
        if call.for_ui and isinstance(result, Message):
            return self._text_only(turn, call).message(result, is_question=is_question)
        return result

    def _store_if_possible(self, result: Task, turn: TaskTurn) -> None:
        """Store the task for later queries. If the store is away or slow, the result is returned without that."""
        stored = threading.Event()

        def store() -> None:
            with suppress(TooLarge, Unavailable):
                turn.create(result, leased=False, may_follow=False)
            stored.set()

        self._deps.threads.run(store)
        stored.wait(_MAX_STORE_LAG_SECONDS)

    def _text_only(self, turn: TaskTurn, call: Call) -> TextOnlyView:
        return TextOnlyView(
            with_data=call.wants_data,
            with_surfaces=bool(a2ui_in(call.extensions)),
            empty_answer=lambda: translated(self._deps.texts.without_answer, turn.sent.message),
            canceled=lambda: translated(self._deps.texts.canceled, turn.sent.message),
            before=turn.before,
            artifacts=ShownArtifacts(self._deps.display),
        )

    def _still_working(self, turn: TaskTurn, task_id: str) -> str:
        """Return the text for a person after the maximum wait; from now on the turn is retried if its agent is away."""
        turn.retry()
        stored = None
        with suppress(Unavailable):
            stored = self.store.get(task_id, owner=turn.owner)
        return self._deps.texts.of_running(turn.sent.message, stored)

    def _refusal(self, error: TooLarge | Unavailable, call: Call) -> Exception:
        """Return the caller's error for a turn that cannot be stored."""
        if isinstance(error, TooLarge):
            return A2AError(PAYLOAD_TOO_LARGE, "The task would grow larger than a task may be")
        if not call.for_ui:
            return error
        call.record["severity"] = "ERROR"
        return TemporaryRefusal(UNAVAILABLE, self._deps.texts.store_away, seconds=_STORE_RETRY_SECONDS)


class TurnEvents:
    """An `EventSource` of the events of the turn's run, and of the task's log once another process has the task.

    The event that ends the turn is held back until the store has it.
    """

    def __init__(self, turn: TaskTurn) -> None:
        self._turn = turn
        self._subscription = turn.relay.subscribe()
        self._log: EventSource | None = None
        self._held_until = 0.0

    def poll(self) -> Event | None:
        """See `EventSource.poll`."""
        # Events of a run that has lost its task are not shown.
        turn, state, subscription = self._turn, self._turn.state, self._subscription
        if state is TurnState.FOLLOWING and self._log is None:
            wake = subscription.wake
            self.close()
            self._log = turn.log_events(seen=subscription.position)
            self._log.on_ready(wake)
        if self._log is not None:
            return self._log.poll()
        event = turn.relay.event_at(subscription.position)
        if event is None or (state in BEING_RECORDED and self._is_early(event)):
            return None
        subscription.position += 1
        return event

    def _is_early(self, event: Event) -> bool:
        """Return True for the end of a turn that is not stored yet. While its agent is away, the turn may still be retried."""
        if not settles(event):
            return False
        scheduler = self._turn.deps.scheduler
        if not self._held_until:
            self._held_until = scheduler.clock() + _MAX_STORE_LAG_SECONDS
            scheduler.run_later(_MAX_STORE_LAG_SECONDS, lambda: self._subscription.wake())
        return self._turn.away is not None or scheduler.clock() < self._held_until

    def on_ready(self, wake: Wake) -> None:
        """See `EventSource.on_ready`."""
        (self._log or self._subscription).on_ready(wake)

    def close(self) -> None:
        """See `EventSource.close`."""
        self._subscription.close()
        if self._log is not None:
            self._log.close()
