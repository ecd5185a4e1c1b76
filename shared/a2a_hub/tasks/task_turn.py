"""A turn with a task: what it goes on with, whether the same request was made before, and how its task gets into the store.

Whoever waits for a turn that runs in this process, watches it or cancels it finds it here.
"""

import hashlib
import time
from collections.abc import Iterator

from msgspec import structs

from a2a_hub.a2a.agent import TryLater, Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import UNSUPPORTED_OPERATION, A2AError
from a2a_hub.a2a.live_turn import OVER, UNDER_WAY, LiveTurn, LiveTurns, TurnState
from a2a_hub.a2a.model import Event, SendMessageConfiguration, SendMessageRequest, Task, TaskState, TaskStatus
from a2a_hub.a2a.relay import Relay
from a2a_hub.a2a.reply import status_update
from a2a_hub.queue.wakeups import topic_of
from a2a_hub.runtime.ids import timestamp
from a2a_hub.task_store.store import (
    HUB,
    AlreadyRunning,
    Lease,
    LeaseLost,
    NewTask,
    PushConfig,
    StoredTask,
    TaskEnded,
    TaskExists,
    Unavailable,
    WrongVersion,
)
from a2a_hub.tasks.leased_writer import find_appended
from a2a_hub.tasks.resume_payload import ResumePayload, encode
from a2a_hub.tasks.subscription import TaskSubscription
from a2a_hub.tasks.task_resolution import resolve_task, start_of_turn
from a2a_hub.tasks.turn_dependencies import TurnDependencies
from a2a_hub.tasks.updates import failure, settles, updates

_AGENT_TASK_WAIT_SECONDS = 0.5
_POLL_SECONDS = 0.01


class TaskTurn(LiveTurn):
    """One turn under way. It goes on when its client leaves: a task's owner can come back to it.

    Once it is opened or resumed, `request` is the one that was sent, with the hub's ids, and `agent_turn` the agent's answer to
    it. `first` is the task as the turn begins, in its `first_version`; `before` that before its client answered it, None for a
    new one. Since the turn began at `began_at`, its agent was away `tries` times.

    `stored` is its task as this process found it in the store, or put it there: this turn's own, or that of the same request.
    With the token `lease`, this turn's recording alone writes to it. The log has the first `recorded` events of its run, the task
    first. `away` says why the agent was away in the end; the turn is tried again at `due_at`, 0 for never.
    """

    agent_turn = Turn(events=iter(()))
    first: Task
    first_version = 1
    before: Task | None = None
    tries = 0
    stored: StoredTask | None = None
    lease = ""
    recorded = 0
    away: TryLater | None = None
    due_at = 0.0
    _cancels = False

    def __init__(self, sent: SendMessageRequest, call: Call, deps: TurnDependencies) -> None:
        super().__init__(sent, call)
        assert call.principal is not None, "without an owner nothing is stored"
        configuration = sent.configuration or SendMessageConfiguration()
        self.deps = deps
        self.relay = Relay(on_left=self._on_last_left)
        self.owner, self._asks_for_repeats = call.owner, call.principal.repeats
        self.webhook = configuration.task_push_notification_config
        # A stream is waited for in any case.
        self.returns_immediately = configuration.return_immediately and not call.streaming
        self.request = sent
        self._new_lease = deps.new_id()
        self.began_at = deps.now()

    @property
    def must_be_stored(self) -> bool:
        """True if there is no answer without a stored task."""
        return self.returns_immediately or self.webhook is not None or bool(self.agent_turn.role)

    @property
    def repeats(self) -> bool:
        """True if the caller gets an answer again: a user interface, which repeats by itself, or a client that says so."""
        return bool(self.deps.settings.repeat_seconds) and (self.call.for_ui or self._asks_for_repeats)

    def repeat_until(self, end: Event) -> float:
        """Return the time until which the turn is repeated if it ends so. A failure is not remembered."""
        answers = settles(end) and (end.status.state is TaskState.COMPLETED or end.status.state.interrupted)
        return self.deps.now() + self.deps.settings.repeat_seconds if answers and self.repeats else 0.0

    def open(self) -> None:
        """Find the turn's task and its agent; nothing runs yet. Raises A2AError.

        If the turn goes on with a task, that is `stored` with the client's message. If the same request has a task already, the
        turn follows that one.
        """
        try:
            self.request, self.call, prior = resolve_task(self.sent, self.call, self.deps)
        except A2AError:
            if not (self.repeats and self.join()):
                raise
            return
        if prior is None:
            self.agent_turn = self.deps.agent.send(self.request, self.call)
            self.first = self._new_task()
        elif not prior.task.status.state.settled:
            self._join_working(prior)
        elif not (self.repeats and self.join()):
            self._answer(prior)

    def resume(self, lease: Lease, payload: ResumePayload, agent_turn: Turn) -> None:
        """Go on with a stored task, whose agent is asked again."""
        stored = lease.stored
        self.first, self.first_version, self.agent_turn = stored.task, stored.version, agent_turn
        self.began_at, self.tries = payload.began_at or stored.created_at, payload.tries
        self.acquire(stored, lease.token)
        self.retry()

    def acquire(self, stored: StoredTask, lease: str) -> None:
        """The turn's task is this process's to run, under the lease."""
        self.stored, self.lease, self.recorded = stored, lease, 1

    def _new_task(self) -> Task:
        assert self.call.task is not None, "resolve_task puts one there"
        message = self.request.message
        status = TaskStatus(state=TaskState.SUBMITTED, timestamp=timestamp())
        return Task(id=self.call.task.id, context_id=message.context_id, status=status, history=(message,))

    def _join_working(self, prior: StoredTask) -> None:
        """Join the same request, which works on the task. Raises A2AError if another one does."""
        if not self.join(task_id=prior.task.id):
            raise A2AError(
                UNSUPPORTED_OPERATION,
                "The task is being worked on and takes no message before it asks for one",
                metadata={"taskId": prior.task.id},
            )

    def _answer(self, prior: StoredTask) -> None:
        """Store the client's answer with its task."""
        deps = self.deps
        self.agent_turn = Turn(events=iter(()), role=prior.role)
        if prior.role == HUB:
            self.agent_turn = deps.agent.send(self.request, self.call)
        state = TaskState.SUBMITTED if self.agent_turn.role else TaskState.WORKING
        working = status_update(prior.task, state)
        # In this order, since the new status puts the question before the answer.
        events: list[Event] = [working, self.request.message]
        try:
            stored = deps.store.append(
                prior.task.id,
                events,
                expected_version=prior.version,
                payload=self.payload(),
                request_key=self._key(),
                push=self._push(prior.task.id),
                reopens=prior.task.status.state.terminal,
            )
        except (WrongVersion, TaskEnded, LeaseLost):
            self._join_working(prior)
            return
        except Unavailable:
            if (found := find_appended(deps.store, prior, events)) is None:
                raise
            stored = found
        self.before, self.first, self.first_version, self.stored = prior.task, stored.task, stored.version, stored

    def create(self, task: Task, *, leased: bool, may_follow: bool) -> bool:
        """Store a new task. If the same request has one already, the turn may follow that and returns False; else there are two.

        Raises TooLarge, Unavailable; called again, this is still one task.
        """
        new = NewTask(
            task=task,
            owner=self.owner,
            role=self.agent_turn.role,
            payload=self.payload(),
            request_key=self._key(),
            lease=self._new_lease if leased else "",
            lease_seconds=self.deps.settings.lease_seconds,
            push=self._push(task.id),
        )
        stored = self._created(new)
        if stored.task.id != task.id:
            if may_follow:
                self._follow_same_request(stored)
                return False
            stored = self._created(structs.replace(new, request_key=""))
        if leased:
            self.acquire(stored, new.lease)
        self.stored = stored
        return True

    def _push(self, task_id: str) -> PushConfig | None:
        """Return the config that came with the message, to be stored together with it. Raise A2AError."""
        if self.webhook is None:
            return None
        return self.deps.configs.validated(self.webhook, self.call.version, task_id=task_id, with_message=True)

    def _created(self, new: NewTask) -> StoredTask:
        """Return the new task, or that of the same request."""
        try:
            return self.deps.store.create(new)
        except AlreadyRunning as running:
            return running.stored
        except (TaskExists, Unavailable):
            # Only the answer may be lost; a client who is told to send it again would have it done twice.
            if (stored := self.deps.store.get(new.task.id, owner=self.owner)) is None:
                raise
            return stored

    def join(self, *, task_id: str | None = None) -> bool:
        """Return True if the same request has a task (this one, if it is named), which the turn follows then."""
        other = self.deps.store.running(self.owner, self._key())
        if other is None or task_id not in (None, other.task.id):
            return False
        self._follow_same_request(other)
        return True

    def _follow_same_request(self, other: StoredTask) -> None:
        self.before, self.first, self.first_version = start_of_turn(self.deps.store, other)
        self.stored = other
        self.follow()

    def follow(self) -> None:
        """Leave the task to whoever has it, or will have it: what this run says from now on is not what became of it."""
        if self.enter(TurnState.FOLLOWING):
            self.call.cancellation.cancel()

    def queue(self) -> None:
        """Leave the task to the workers of its role, or to the runner, now or when it is due, and wake them."""
        self.follow()
        self.deps.wakeups.publish(topic_of(self.agent_turn.role), self.first.id, due_at=self.due_at or None)

    def log_events(self, *, seen: int) -> TaskSubscription:
        """Return the turn's events as the store has them, without the first `seen` of this run if they are there."""
        seen = min(seen, self.recorded)
        return TaskSubscription(
            self.deps.store,
            self.first,
            after=self.first_version + max(0, seen - 1),
            ends_when_waiting=True,
            streams=self.deps.streams,
            shows_task=not seen,
        )

    def payload(self) -> bytes:
        """Return what another process needs to run the turn, with the agent's notes as they are now."""
        return encode(ResumePayload.of(self.request, self.call, began_at=self.began_at, tries=self.tries))

    def _key(self) -> str:
        """Return what makes two requests the same in the store: caller, operation, and everything that was sent."""
        call = self.call
        parts = (self.owner, call.version, call.binding, "stream" if call.streaming else "send")
        content = "".join(f"{part}\n" for part in parts).encode() + encode(self.sent)
        return hashlib.blake2b(content, digest_size=20).hexdigest()

    def retry(self) -> None:
        """Let the turn be tried again from now on if its agent is away."""
        if self.call.task is not None and self.agent_turn.retry_seconds:
            self.call.task.retries_until = self.began_at + self.agent_turn.retry_seconds

    def events(self) -> Iterator[Event]:
        """Yield the events of the agent as updates of the task, the task first. An agent that is away fails it."""
        try:
            yield from updates(
                self.agent_turn.events,
                self.first,
                cancellation=self.call.cancellation,
                allows_message=not self.recorded,
            )
        except TryLater as away:
            self.away = away
            yield failure(self.first, away.message, reason=away.reason, retryable=True)

    def _on_last_left(self) -> None:
        """The last subscriber has left: the queue goes on where there is no processor time between requests."""
        if not self.deps.settings.runs_at_once:
            self.hand_over()

    def abandon(self, error: BaseException | None = None) -> bool:
        """See `LiveTurn.abandon`. Whoever waits gets the error."""
        ends = super().abandon(error)
        if ends:
            self.relay.end(error)
        return ends

    def cancel(self) -> None:
        """End the run in CANCELED, soon, and tell whoever works for it; called again, nothing changes."""
        with self._changed:
            cancels, self._cancels = not self._cancels, True
        if cancels:
            self.deps.threads.run(self._cancel)

    def _cancel(self) -> None:
        call = self.call
        assert call.task is not None, "a task's turn has a task"
        notes = call.task.notes
        deadline = time.monotonic() + _AGENT_TASK_WAIT_SECONDS
        # Until the agent has said what its task is, nobody can tell it to stop.
        while not notes and time.monotonic() < deadline and not self.wait(OVER, _POLL_SECONDS):
            pass
        # With the notes as they are now: the turn takes them back when it ends.
        then = structs.replace(call.task, notes=dict(notes))
        call.cancellation.cancel()
        self.deps.agent.cancel(structs.replace(call, task=then))


class TaskTurns(LiveTurns[TaskTurn]):
    """The turns of this process, by their tasks, too."""

    def of_task(self, task_id: str) -> TaskTurn | None:
        """Return the turn of a task that runs here, or whose end is yet to be stored."""
        with self._lock:
            turns = list(self._turns)
        return next((turn for turn in reversed(turns) if turn.state in UNDER_WAY and turn.first.id == task_id), None)
