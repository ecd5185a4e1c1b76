"""A turn with a task: what it goes on with, whether the same request was made before, and how its task gets into the store.

Whoever waits for a turn that runs in this process, watches it or cancels it finds it here.
"""

import hashlib
import time

from msgspec import structs

from a2a_hub.a2a.agent import Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import UNSUPPORTED_OPERATION, A2AError
from a2a_hub.a2a.live_turn import OVER, UNDER_WAY, LiveTurn, LiveTurns, TurnState
from a2a_hub.a2a.model import Event, SendMessageConfiguration, SendMessageRequest, Task, TaskState, TaskStatus
from a2a_hub.a2a.relay import Relay
from a2a_hub.a2a.reply import status_update
from a2a_hub.task_store.store import (
    HUB,
    AlreadyRunning,
    LeaseLost,
    NewTask,
    StoredTask,
    TaskEnded,
    TaskExists,
    Unavailable,
    WrongVersion,
)
from a2a_hub.tasks.leased_writer import find_appended
from a2a_hub.tasks.parts import TaskParts
from a2a_hub.tasks.resume_payload import ResumePayload, encode
from a2a_hub.tasks.subscription import TaskSubscription
from a2a_hub.tasks.task_resolution import resolve_task, start_of_turn
from a2a_hub.tasks.updates import updates

_UNTOLD_SECONDS = 0.5
_LOOK_SECONDS = 0.01


class TaskTurn(LiveTurn):
    """One turn under way. It goes on when its client leaves: a task's owner can come back to it.

    Known from `TurnState.ROUTED` on: `request` is the one that was sent, with the hub's ids, and `agent_turn` the agent's answer
    to it. `first` is the task as the turn begins, in its `first_version`; `before` that before its client answered it, None for a
    new one; `answered` the stored task with that answer. Since the turn began at `began_at`, its agent was away `tries` times.

    `version` is how far the task's log is this turn's, 0 while it is not stored, and `shown` the number of its events in there;
    the recording alone writes them. `elsewhere` is the task that somebody else works on, or has answered. `due_at` is the time of
    the next try of a turn whose agent was away, 0 otherwise.
    """

    agent_turn: Turn
    first: Task
    first_version = 1
    before: Task | None = None
    answered: StoredTask | None = None
    tries = 0
    elsewhere: StoredTask | None = None
    version = 0
    shown = 0
    due_at = 0.0
    _cancels = False
    _requests = 0

    def __init__(self, sent: SendMessageRequest, call: Call, parts: TaskParts) -> None:
        super().__init__(sent, call)
        assert call.principal is not None, "without an owner nothing is stored"
        configuration = sent.configuration or SendMessageConfiguration()
        self.parts = parts
        self.owner, self._asks_for_repeats = call.owner, call.principal.repeats
        self.webhook = configuration.task_push_notification_config
        # A stream is waited for in any case.
        self.returns_immediately = configuration.return_immediately and not call.streaming
        self.request = sent
        self.began_at = parts.now()

    @property
    def must_be_stored(self) -> bool:
        """True if there is no answer without a stored task."""
        return self.returns_immediately or self.webhook is not None or bool(self.agent_turn.role)

    @property
    def repeats(self) -> bool:
        """True if the caller gets an answer again: a user interface, which repeats by itself, or a client that says so."""
        return bool(self.parts.settings.repeat_seconds) and (self.call.for_ui or self._asks_for_repeats)

    def repeat_until(self, state: TaskState) -> float:
        """Return the time until which the turn is repeated if it ends in this state. A failure is not remembered."""
        answers = state is TaskState.COMPLETED or state.interrupted
        return self.parts.now() + self.parts.settings.repeat_seconds if answers and self.repeats else 0.0

    def open(self) -> None:
        """Find the turn's task and its agent; nothing runs yet. Raises A2AError.

        If the turn goes on with a task, the client's message is in its log then. If the same request has a task already, that is
        the turn's, and is `elsewhere`.
        """
        parts = self.parts
        try:
            self.request, self.call, prior = resolve_task(self.sent, self.call, parts)
        except A2AError:
            if not (self.repeats and self.join()):
                raise
            return
        if prior is None:
            self.agent_turn = parts.agent.send(self.request, self.call)
            assert self.call.task is not None, "resolve_task puts one there"
            status = TaskStatus(state=TaskState.SUBMITTED, timestamp=parts.message_factory.timestamp())
            message = self.request.message
            self.first = Task(id=self.call.task.id, context_id=message.context_id, status=status, history=(message,))
        elif not prior.task.status.state.settled:
            self._join_working(prior)
        elif not (self.repeats and self.join()):
            self.agent_turn = Turn(events=iter(()), role=prior.role)
            if prior.role == HUB:
                self.agent_turn = parts.agent.send(self.request, self.call)
            self.first = self.before = prior.task
            self._answer(prior)

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
        state = TaskState.SUBMITTED if self.agent_turn.role else TaskState.WORKING
        working = status_update(prior.task, state, self.parts.message_factory.timestamp())
        # In this order, since the new status puts the question before the answer.
        events: list[Event] = [working, self.request.message]
        try:
            stored = self.parts.store.append(
                prior.task.id,
                events,
                expected_version=prior.version,
                payload=self.payload(),
                request_key=self._key(),
                push=self.parts.configs.with_message(self.webhook, self.call.version, task_id=prior.task.id),
                reopens=prior.task.status.state.terminal,
            )
        except (WrongVersion, TaskEnded, LeaseLost):
            self._join_working(prior)
            return
        except Unavailable:
            if (found := find_appended(self.parts.store, prior, events)) is None:
                raise
            stored = found
        self.answered, self.first, self.first_version = stored, stored.task, stored.version

    def create(self, task: Task, *, lease: str = "", joins: bool = True) -> StoredTask:
        """Store a new task, and return it, or if it `joins` that of the same request. Raises TooLarge, Unavailable."""
        new = NewTask(
            task=task,
            owner=self.owner,
            role=self.agent_turn.role,
            payload=self.payload(),
            request_key=self._key() if joins else "",
            lease=lease,
            lease_seconds=self.parts.settings.lease_times.seconds,
            push=self.parts.configs.with_message(self.webhook, self.call.version, task_id=task.id),
        )
        try:
            return self.parts.store.create(new)
        except AlreadyRunning as running:
            return running.stored
        except (TaskExists, Unavailable):
            # Only the answer may be lost; a client who is told to send it again would have it done twice.
            if (stored := self.parts.store.get(task.id, owner=self.owner)) is None:
                raise
            return stored

    def join(self, *, task_id: str | None = None) -> bool:
        """Return True if the same request has a task (this one, if it is named), which the turn follows then."""
        other = self.parts.store.running(self.owner, self._key())
        if other is None or task_id not in (None, other.task.id):
            return False
        self.agent_turn = Turn(events=iter(()), role=other.role)
        self.follow(other)
        return True

    def follow(self, other: StoredTask) -> None:
        """Follow the task of the same request: nothing more of this turn counts."""
        self.before, self.first, self.first_version = start_of_turn(self.parts.store, other)
        self.give_up(other)

    def give_up(self, elsewhere: StoredTask | None = None) -> None:
        """Somebody else has the task, or will have it: what this run says from now on is not what became of it."""
        self.elsewhere = elsewhere
        if self.enter(TurnState.WAITING) and self._relay is not None:
            self.call.cancellation.cancel()

    def log(self, *, resumes: bool = False) -> TaskSubscription:
        """Return the turn's events as the store has them; if it `resumes`, only those that its run has not shown here."""
        resumes = resumes and self.elsewhere is None
        return TaskSubscription(
            self.parts.store,
            self.first,
            after=self.version if resumes else self.first_version,
            ends_when_waiting=True,
            streams=self.parts.streams,
            timestamp=self.parts.message_factory.timestamp,
            shows_task=not resumes,
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

    def run(self, state: TurnState) -> None:
        """Prepare the run of the turn, in this state."""
        if self.returns_immediately or self.webhook is not None or (self.call.streaming and not self.call.for_ui):
            # Nobody waits who would rather hear of a failure soon.
            self.retry()
        events = updates(
            self.agent_turn.events,
            self.first,
            cancellation=self.call.cancellation,
            timestamp=self.parts.message_factory.timestamp,
            allows_message=state is not TurnState.RECORDED,
        )
        self.enter(state, relay=Relay(events))

    def ended(self) -> None:
        """The agent has ended: so has the turn, unless the store is to have its end."""
        if not self.enter(TurnState.ENDING):
            self.enter(TurnState.SETTLED)

    def abandon(self, error: BaseException | None = None) -> bool:
        """See `LiveTurn.abandon`. Whoever waits gets the error."""
        ends = super().abandon(error)
        if ends and self._relay is not None:
            self._relay.end(error)
        return ends

    def attend(self) -> None:
        """A request waits for the turn, until it calls `leave`."""
        with self._changed:
            self._requests += 1

    def leave(self) -> None:
        """A request no longer waits for the turn, which is left to the queue after the last one where there is no processor time
        between requests.
        """
        with self._changed:
            self._requests -= 1
            is_last = not self._requests
        if is_last and not self.parts.settings.runs_at_once:
            self.hand_over()

    def cancel(self) -> None:
        """End the run in CANCELED, soon, and tell whoever works for it; called again, nothing changes."""
        with self._changed:
            cancels, self._cancels = not self._cancels, True
        if cancels:
            self.parts.threads.run(self._cancel)

    def _cancel(self) -> None:
        call = self.call
        assert call.task is not None, "a task's turn has a task"
        notes = call.task.notes
        deadline = time.monotonic() + _UNTOLD_SECONDS
        # Until the agent has said what its task is, nobody can tell it to stop.
        while not notes and time.monotonic() < deadline and not self.wait(OVER, _LOOK_SECONDS):
            pass
        # With the notes as they are now: the turn takes them back when it ends.
        then = structs.replace(call.task, notes=dict(notes))
        call.cancellation.cancel()
        self.parts.agent.cancel(structs.replace(call, task=then))


class TaskTurns(LiveTurns[TaskTurn]):
    """The turns of this process, by their tasks, too."""

    def of_task(self, task_id: str) -> TaskTurn | None:
        """Return the turn of a task that runs here, or whose end is yet to be stored."""
        with self._lock:
            turns = list(self._turns)
        return next((turn for turn in reversed(turns) if turn.state in UNDER_WAY and turn.first.id == task_id), None)
