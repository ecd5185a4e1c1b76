"""Random lives of turns on two instances, against a small model: nothing is lost, nothing ends twice, nothing is mixed up."""

import contextlib
import itertools
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from a2a_hub.a2a.agent import TryLater
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import (
    CancelTaskRequest,
    Message,
    SubscribeToTaskRequest,
    Task,
    TaskState,
    TaskStatusUpdateEvent,
)
from a2a_hub.a2a.relay import EventSource
from a2a_hub.a2a.reply import Piece, Text
from a2a_hub.task_store.store import HUB, LeaseLost, StoredTask, TaskEnded, TaskQuery
from tests.fakes.task_instance import OWNER, Instance, a_call, statuses, text_of, until

MESSAGES = st.sampled_from(["m-1", "m-2", "m-3"])
WHERE = st.sampled_from([0, 1])
WHICH = st.integers(0, 20)
_LEASE_SECONDS = 30.0


class Agent:
    """Answers who asks, unless it is told to wait, or to be away for some requests."""

    def __init__(self) -> None:
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.away = 0

    def __call__(self, call: Call) -> Iterator[Piece]:
        assert call.task
        left = threading.Event()
        call.cancellation.on_cancel(left.set)
        yield Text("")
        until(lambda: self.goes_on.is_set() or left.is_set())
        if self.away and call.task.retries_until is not None:
            self.away -= 1
            raise TryLater("It is away.")
        yield Text("answered")


class Stream:
    """What a program has seen of a task's events."""

    def __init__(self, source: EventSource, instance: Instance) -> None:
        self.source = source
        self.instance = instance
        self.states: list[TaskState] = []
        self.task_id = ""
        self.ended = False

    def has_ended(self) -> bool:
        try:
            while (event := self.source.poll()) is not None:
                if isinstance(event, Task):
                    self.task_id = event.id
                elif isinstance(event, TaskStatusUpdateEvent):
                    self.states.append(event.status.state)
        except StopIteration:
            self.ended = True
        return self.ended


class Turns(RuleBasedStateMachine):
    """Two instances on one store, which are stopped, die and are replaced."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.file = Path(self.folder.name) / "tasks.db"
        self.agent = Agent()
        self.ahead_seconds = 0.0
        self.numbers = itertools.count()
        self.instances = [self._new(), self._new()]
        self.accepted: list[str] = []
        self.streams: list[Stream] = []
        self.said: defaultdict[str, set[str]] = defaultdict(set)

    def _new(self) -> Instance:
        instance = Instance(
            self.file,
            self.agent,
            lease_seconds=_LEASE_SECONDS,
            max_attempts=100,
            repeat_seconds=600.0,
            ui_seconds=0.05,
            blocking_seconds=0.05,
            store_seconds=0.02,
        )
        instance.agent.retry_seconds = 600.0
        instance.far.ahead_seconds = self.ahead_seconds
        return instance

    def _kept(self) -> list[StoredTask]:
        return list(self.instances[0].store.list(OWNER, TaskQuery(), size=100, after=None).tasks)

    @rule(where=WHERE, message=MESSAGES)
    def a_person_asks(self, where: int, message: str) -> None:
        """Again and again the same: a user interface repeats."""
        answer = self.instances[where].send("hello", text_only=True, message_id=message, context_id=message)
        assert isinstance(answer, Message)
        self.said[message].add(text_of(answer))

    @rule(where=WHERE)
    def a_program_leaves_work(self, where: int) -> None:
        task = self.instances[where].send("hello", at_once=True, message_id=f"p-{next(self.numbers)}")
        assert isinstance(task, Task)
        self.accepted.append(task.id)

    @rule(where=WHERE, message=MESSAGES)
    def a_program_waits(self, where: int, message: str) -> None:
        answer = self.instances[where].send("hello", message_id=f"w-{message}")
        assert isinstance(answer, Task) or text_of(answer) == "answered"

    @rule(where=WHERE, message=MESSAGES)
    def a_program_streams(self, where: int, message: str) -> None:
        instance = self.instances[where]
        self.streams.append(Stream(instance.open_stream("hello", message_id=f"s-{message}"), instance))

    @precondition(lambda self: self.accepted)
    @rule(where=WHERE, which=WHICH)
    def somebody_subscribes(self, where: int, which: int) -> None:
        request = SubscribeToTaskRequest(id=self.accepted[which % len(self.accepted)])
        with contextlib.suppress(A2AError):
            instance = self.instances[where]
            events = instance.kept.operations.subscribe(request, a_call(streaming=True))
            self.streams.append(Stream(events, instance))

    @precondition(lambda self: self.accepted)
    @rule(where=WHERE, which=WHICH)
    def somebody_cancels(self, where: int, which: int) -> None:
        request = CancelTaskRequest(id=self.accepted[which % len(self.accepted)])
        with contextlib.suppress(A2AError):
            self.instances[where].kept.operations.cancel(request, a_call())

    @rule(goes_on=st.booleans(), away=st.sampled_from([0, 0, 1, 2]))
    def the_agent_changes(self, goes_on: bool, away: int) -> None:
        (self.agent.goes_on.set if goes_on else self.agent.goes_on.clear)()
        self.agent.away = away

    @rule(which=WHICH)
    def a_stream_is_left(self, which: int) -> None:
        if self.streams:
            self.streams.pop(which % len(self.streams)).source.close()

    @rule(where=WHERE)
    def an_instance_is_stopped(self, where: int) -> None:
        self.instances[where].kept.drain(seconds=0.5)
        self.instances[where] = self._new()

    @rule(where=WHERE)
    def an_instance_dies(self, where: int) -> None:
        """It reaches the store no more, and its leases run out."""
        self.instances[where].far.away = True
        self.instances[where] = self._new()
        self._pass_by(_LEASE_SECONDS + 1)

    @rule(where=WHERE)
    def due_work_is_run(self, where: int) -> None:
        instance = self.instances[where]
        if self.agent.goes_on.is_set():
            self._run_due(instance)

    def _run_due(self, instance: Instance) -> None:
        for task_id in instance.store.due([HUB], limit=100):
            with contextlib.suppress(LeaseLost, TaskEnded):
                instance.run_again(task_id)

    def _pass_by(self, seconds: float) -> None:
        self.ahead_seconds += seconds
        for instance in self.instances:
            instance.far.ahead_seconds = self.ahead_seconds

    def teardown(self) -> None:
        """Everything comes to its end."""
        self.agent.away = 0
        self.agent.goes_on.set()
        # The leases of the dead have run out, and it is time for every next try.
        self._pass_by(2 * _LEASE_SECONDS)

        def all_settled() -> bool:
            self._run_due(self.instances[0])
            if any(len(each.kept.operations.turns) for each in self.instances):
                # Its task may be yet to be stored.
                return False
            return all(each.task.status.state.settled for each in self._kept())

        until(all_settled)
        self._check_tasks()
        for stream in self.streams:
            self._check_stream(stream)
        self.folder.cleanup()

    def _check_tasks(self) -> None:
        kept = {each.task.id: each.task for each in self._kept()}
        assert set(self.accepted) <= set(kept)
        for task_id, task in kept.items():
            state = task.status.state
            assert state in (TaskState.COMPLETED, TaskState.CANCELED)
            assert state is TaskState.CANCELED or text_of(task) == "answered"
            log = [entry.event for entry in self.instances[0].store.entries(task_id, after=0)]
            ends = [each for each in statuses(log) if each.status.state.terminal]
            assert ends == log[-1:] or log == [task], "it ends once, or was stored when it had ended"
        asked = [task.history[0].message_id for task in kept.values()]
        for message in self.said:
            assert asked.count(message) <= 1, "a person's request is one task"
            assert self.said[message] <= {"answered", *(f"Task {number} goes on." for number in (None, *range(100)))}

    def _check_stream(self, stream: Stream) -> None:
        # One of an instance that died waits for the store.
        until(lambda: stream.has_ended() or stream.instance.far.away)
        if stream.states and stream.states[-1].terminal and not stream.instance.far.away:
            assert self.instances[0].get(stream.task_id).status.state is stream.states[-1]


Turns.TestCase.settings = settings(max_examples=20, stateful_step_count=15, deadline=None)
TestTurns = Turns.TestCase
