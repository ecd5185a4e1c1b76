"""A turn with a task: resolves the task it continues, joins an identical request, and stores the task.

`TaskTurns` finds the turns of this process for callers who wait for one, follow it or cancel it.
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
    """One turn under way. It continues when its client leaves: the task's owner can query it later.

    Once opened or resumed, `request` is the sent one with the hub's ids, and `agent_turn` the agent's answer to it. `first` is
    the task at the start of the turn, at `first_version`; `before` is the task before the client's answer, None for a new task.
    The agent has been away `tries` times since `began_at`.

    `stored` is the task as this process last read or wrote it: this turn's own, or that of the same request. While the turn
    holds `lease`, only its recording writes to the task. The log has the first `recorded` events of its run, beginning with the
    task. `away` is the reason if the agent was away at the end; the turn is retried at `due_at`, 0 for never.
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
        # A stream always has a waiting caller.
        self.returns_immediately = configuration.return_immediately and not call.streaming
        self.request = sent
        self._new_lease = deps.new_id()
        self.began_at = deps.now()

    @property
    def must_be_stored(self) -> bool:
        """True if the answer requires a stored task."""
        return self.returns_immediately or self.webhook is not None or bool(self.agent_turn.role)

    @property
    def repeats(self) -> bool:
        """True if a repeated request gets the stored answer: from user interfaces, which repeat requests, and from clients that
        ask for it.
        """
        return bool(self.deps.settings.repeat_seconds) and (self.call.for_ui or self._asks_for_repeats)

    def repeat_until(self, end: Event) -> float:
        """Return the time until which a repeated request gets this answer. Failures are not repeated."""
        answers = settles(end) and (end.status.state is TaskState.COMPLETED or end.status.state.interrupted)
        return self.deps.now() + self.deps.settings.repeat_seconds if answers and self.repeats else 0.0

    def open(self) -> None:
        """Resolve the turn's task and agent; nothing runs yet. Raises A2AError.

        If the turn continues a task, the client's message is stored with it. If the same request already has a task, the turn
        follows that one.
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
        """Resume a stored task by sending its request to the agent again."""
        stored = lease.stored
        self.first, self.first_version, self.agent_turn = stored.task, stored.version, agent_turn
        self.began_at, self.tries = payload.began_at or stored.created_at, payload.tries
        self.acquire(stored, lease.token)
        self.retry()

    def acquire(self, stored: StoredTask, lease: str) -> None:
        """Record that this process runs the task under the lease."""
        self.stored, self.lease, self.recorded = stored, lease, 1

    def _new_task(self) -> Task:
        assert self.call.task is not None, "resolve_task puts one there"
        message = self.request.message
        status = TaskStatus(state=TaskState.SUBMITTED, timestamp=timestamp())
        return Task(id=self.call.task.id, context_id=message.context_id, status=status, history=(message,))

    def _join_working(self, prior: StoredTask) -> None:
        """Join the turn of the same request. Raises A2AError if another request is being worked on."""
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
        # In this order: the new status moves the question into the history, ahead of the answer.
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
        """Store a new task. If the same request already has one and the turn `may_follow` it, return False; otherwise store a
        second one.

        Idempotent. Raises TooLarge, Unavailable.
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
            # Perhaps only the store's response was lost; a client told to retry would run the request twice.
            if (stored := self.deps.store.get(new.task.id, owner=self.owner)) is None:
                raise
            return stored

    def join(self, *, task_id: str | None = None) -> bool:
        """Follow the task of the same request and return True, if there is one (with `task_id`, only that task)."""
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
        """Leave the task to its current or next holder; further events of this run are discarded."""
        if self.enter(TurnState.FOLLOWING):
            self.call.cancellation.cancel()

    def queue(self) -> None:
        """Leave the task to the workers of its role or to the `tasks` function, and wake them, now or when it is due."""
        self.follow()
        self.deps.wakeups.publish(topic_of(self.agent_turn.role), self.first.id, due_at=self.due_at or None)

    def log_events(self, *, seen: int) -> TaskSubscription:
        """Return the stored events of the turn, without the first `seen` of this run."""
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
        """Return the resume payload with the agent's current notes."""
        return encode(ResumePayload.of(self.request, self.call, began_at=self.began_at, tries=self.tries))

    def _key(self) -> str:
        """Return the request key: a digest of caller, operation, and everything that was sent."""
        call = self.call
        parts = (self.owner, call.version, call.binding, "stream" if call.streaming else "send")
        content = "".join(f"{part}\n" for part in parts).encode() + encode(self.sent)
        return hashlib.blake2b(content, digest_size=20).hexdigest()

    def retry(self) -> None:
        """Allow retries from now on if the agent is away."""
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
        """Hand over when the last subscriber has left, on instances without CPU between requests."""
        if not self.deps.settings.runs_at_once:
            self.hand_over()

    def abandon(self, error: BaseException | None = None) -> bool:
        """See `LiveTurn.abandon`. Waiting callers get the error."""
        ends = super().abandon(error)
        if ends:
            self.relay.end(error)
        return ends

    def cancel(self) -> None:
        """End the run in CANCELED soon, and pass the cancellation on to the agent. Idempotent."""
        with self._changed:
            cancels, self._cancels = not self._cancels, True
        if cancels:
            self.deps.threads.run(self._cancel)

    def _cancel(self) -> None:
        call = self.call
        assert call.task is not None, "a task's turn has a task"
        notes = call.task.notes
        deadline = time.monotonic() + _AGENT_TASK_WAIT_SECONDS
        # A remote agent can be cancelled only once it has named its task.
        while not notes and time.monotonic() < deadline and not self.wait(OVER, _POLL_SECONDS):
            pass
        # A copy of the notes: the turn itself removes them when it ends.
        then = structs.replace(call.task, notes=dict(notes))
        call.cancellation.cancel()
        self.deps.agent.cancel(structs.replace(call, task=then))


class TaskTurns(LiveTurns[TaskTurn]):
    """The turns of this process, with lookup by task."""

    def of_task(self, task_id: str) -> TaskTurn | None:
        """Return the turn of a task that runs here, or whose end is not stored yet."""
        with self._lock:
            turns = list(self._turns)
        return next((turn for turn in reversed(turns) if turn.state in UNDER_WAY and turn.first.id == task_id), None)
