"""Turns that go on later or elsewhere: their agent is away, their process is stopped, or its request comes to its end."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from a2a_hub.a2a.agent import TryLater
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import (
    Event,
    SendMessageConfiguration,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a_hub.a2a.model import text_of as message_text
from a2a_hub.a2a.reply import Idle, Piece, Question, Text
from a2a_hub.queue.wakeups import NoWakeups
from a2a_hub.task_store.store import HUB
from tests.fakes.task_instance import (
    PATIENCE_SECONDS,
    Instance,
    a_call,
    a_request,
    artifacts,
    events_of,
    settled,
    states,
    statuses,
    stored,
    tasks,
    text_of,
    until,
)
from tests.fakes.task_scripts import Steps, at_once

RETRY_SECONDS = 600.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.db"


class Wakeups(NoWakeups):
    """Remembers what was published."""

    def __init__(self) -> None:
        self.published: list[tuple[str, float | None]] = []

    def publish(self, topic: str, task_id: str, *, due_at: float | None = None) -> None:  # noqa: ARG002 - the protocol's
        self.published.append((task_id, due_at))


class Away:
    """An agent that is away for the first `times` that it is asked. It notes what it is asked."""

    def __init__(self, times: int, *, seconds: float = 0.0) -> None:
        self.left = times
        self.tries_allowed: list[bool] = []
        self._seconds = seconds

    def __call__(self, call: Call) -> Iterator[Piece]:
        assert call.task
        self.tries_allowed.append(call.task.retries_until is not None)
        call.task.notes["asked"] = call.task.notes.get("asked", 0) + 1
        if self.left:
            self.left -= 1
            until_ = call.task.retries_until
            if until_ is None or time.time() + self._seconds >= until_:
                yield Text("It is away.")
                return
            raise TryLater("It is away.", seconds=self._seconds, cause="connection refused")
        yield Text(f"asked {call.task.notes['asked']} times")


def _instance(file: Path, script: object, *, retry_seconds: float = RETRY_SECONDS, **options: object) -> Instance:
    instance = Instance(file, script, **options)  # type: ignore[arg-type]
    instance.agent.retry_seconds = retry_seconds
    return instance


def _said(events: Sequence[Event]) -> list[str]:
    return [message_text(each.status.message) for each in statuses(events) if each.status.message]


def test_a_task_whose_agent_is_away_is_tried_again_and_says_so_meanwhile(file: Path) -> None:
    wakeups = Wakeups()
    instance = _instance(file, Away(1), wakeups=wakeups, runs_at_once=False)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    assert instance.run_again(task.id) is TaskState.WORKING
    waits = instance.get(task.id)
    assert waits.status.message is not None
    assert message_text(waits.status.message).startswith("It is away. Again in ")
    (_, (woken, due_at)) = wakeups.published
    assert due_at is not None
    assert (woken, instance.store.due([HUB], limit=1), stored(instance)[0].attempt) == (task.id, [], 0)
    assert instance.run_again(task.id) is None
    instance.far.ahead_seconds = 40.0
    assert instance.run_again(task.id) is TaskState.COMPLETED
    # What the agent noted is there in the next try.
    assert text_of(instance.get(task.id)) == "asked 2 times"


def test_the_process_that_runs_a_task_tries_again_by_itself(file: Path) -> None:
    instance = _instance(file, Away(1))
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    assert text_of(settled(instance, task.id)) == "asked 2 times"


def test_a_programs_stream_goes_on_through_the_tries(file: Path) -> None:
    instance = _instance(file, Away(1))
    events = list(instance.stream("hello"))
    assert states(events) == [TaskState.WORKING, TaskState.WORKING, TaskState.WORKING, TaskState.COMPLETED]
    (said,) = _said(events)
    assert said.startswith("It is away. Again in ")


def test_the_next_try_is_by_the_clock_and_the_task_by_the_id_that_the_engine_is_given(file: Path) -> None:
    wakeups, ids = Wakeups(), map("id-{}".format, itertools.count(1))
    options: dict[str, object] = {"wakeups": wakeups, "runs_at_once": False, "retry_seconds": 60.0}
    instance = _instance(file, Away(1, seconds=5.0), now=lambda: 4e9, new_id=lambda: next(ids), **options)  # type: ignore[arg-type]
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    assert task.id in {"id-1", "id-2"}
    assert instance.run_again(task.id) is TaskState.WORKING
    said = instance.get(task.id).status.message
    assert said is not None
    assert message_text(said) in {"It is away. Again in 6 s.", "It is away. Again in 7 s."}


def test_an_agent_that_stays_away_is_a_failure_when_the_time_is_over(file: Path) -> None:
    instance = _instance(file, Away(9, seconds=RETRY_SECONDS))
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    assert text_of(settled(instance, task.id)) == "It is away."


@pytest.mark.parametrize("text_only", [True, False])
@pytest.mark.parametrize("waits", [Idle(), Question("For which day?")])
def test_a_message_that_answers_no_question_is_not_tried_again_while_a_person_waits(
    file: Path, waits: Piece, *, text_only: bool
) -> None:
    tried_again: list[bool] = []

    def script(call: Call) -> Iterator[Piece]:
        assert call.task is not None
        tried_again.append(call.task.retries_until is not None)
        yield Text("Noted.")
        yield waits

    instance = _instance(file, script)
    instance.send("One", text_only=text_only)
    instance.send("Two", text_only=text_only, context_id="context")
    assert tried_again == [False, not (text_only and isinstance(waits, Idle))]


def test_the_failure_that_a_stream_shows_is_the_one_that_is_stored(file: Path) -> None:
    def away(_: Call) -> Iterator[Piece]:
        yield from ()
        raise TryLater("It is away.", seconds=RETRY_SECONDS)

    instance = _instance(file, away)
    first, *_, last = instance.stream("hello")
    assert isinstance(first, Task)
    settled(instance, first.id)
    assert [last] == [entry.event for entry in instance.store.entries(first.id, after=1)][-1:]
    assert _said([last]) == ["It is away."]


@pytest.mark.parametrize("text_only", [False, True], ids=["a program", "a person"])
def test_who_waits_hears_of_a_failure_at_once(file: Path, text_only: bool) -> None:
    instance = _instance(file, script := Away(1))
    assert text_of(instance.send("hello", text_only=text_only)) == "It is away."
    assert script.tries_allowed == [False]


def test_a_person_who_waits_no_longer_has_a_task_that_is_tried_again(file: Path) -> None:
    away, asked = threading.Event(), threading.Event()

    def script(call: Call) -> Iterator[Piece]:
        asked.set()
        assert away.wait(PATIENCE_SECONDS)
        yield from then(call)

    then = Away(1)
    instance = _instance(file, script, ui_seconds=0.1)
    assert text_of(instance.send("hello", text_only=True)) == "Task 1 goes on."
    away.set()
    assert text_of(settled(instance, tasks(instance)[0].id)) == "asked 2 times"
    assert then.tries_allowed[0]


def test_a_process_that_is_stopped_leaves_its_turns_to_another(file: Path) -> None:
    steps, wakeups = Steps("one ", "two"), Wakeups()
    stopped, other = Instance(file, steps, wakeups=wakeups), Instance(file, at_once("by another"))
    events = stopped.stream("hello")
    first = next(events)
    assert isinstance(first, Task)
    steps.let()
    stopped.kept.drain()
    assert wakeups.published == [(first.id, None)]
    assert len(stopped.kept.operations.turns) == 0
    assert stored(other)[0].attempt == 0
    # The last event says that the task goes on; whoever subscribes again finds the other instance.
    assert states(list(events))[-1] is TaskState.WORKING
    request = SubscribeToTaskRequest(id=first.id)
    rest = events_of(other.kept.operations.subscribe(request, a_call(streaming=True)))
    next(rest)
    assert other.run_again(first.id) is TaskState.COMPLETED
    assert states(list(rest))[-1] is TaskState.COMPLETED
    assert text_of(settled(other, first.id)) == "by another"
    steps.let()


def test_a_turn_is_taken_over_though_the_next_process_has_an_earlier_time(file: Path) -> None:
    steps = Steps("one ", "two")
    stopped, other = Instance(file, steps), Instance(file, at_once("by another"))
    stopped.far.ahead_seconds, other.far.ahead_seconds = -20.0, -10.0
    first = next(stopped.stream("hello"))
    assert isinstance(first, Task)
    steps.let()
    stopped.kept.drain()
    assert other.run_again(first.id) is TaskState.COMPLETED
    steps.let()


def test_notes_are_stored_before_a_process_stops(file: Path) -> None:
    noted = threading.Event()

    def script(call: Call) -> Iterator[Piece]:
        assert call.task
        if "theirs" in call.task.notes:
            yield Text(f"goes on with {call.task.notes['theirs']}")
            return
        call.task.notes["theirs"] = "task-1"
        noted.set()
        left = threading.Event()
        call.cancellation.on_cancel(left.set)
        assert left.wait(PATIENCE_SECONDS)
        yield Text("nothing")

    stopped, other = Instance(file, script, look_seconds=3600.0), Instance(file, script)
    task = stopped.send("hello", at_once=True)
    assert isinstance(task, Task)
    assert noted.wait(PATIENCE_SECONDS)
    stopped.kept.drain()
    assert other.run_again(task.id) is TaskState.COMPLETED
    assert text_of(other.get(task.id)) == "goes on with task-1"


def test_who_follows_a_task_in_a_process_that_stops_is_told_that_it_goes_on(file: Path) -> None:
    steps = Steps("answer")
    running, stopped = Instance(file, steps), Instance(file, steps)
    task = running.send("hello", at_once=True)
    assert isinstance(task, Task)
    steps.await_step()
    events = events_of(stopped.kept.operations.subscribe(SubscribeToTaskRequest(id=task.id), a_call(streaming=True)))
    next(events)
    stopped.kept.drain()
    assert states(list(events))[-1] is TaskState.WORKING
    steps.let()
    settled(running, task.id)


def test_a_person_reads_that_the_work_goes_on_when_a_process_stops(file: Path) -> None:
    steps = Steps("answer")
    instance = Instance(file, steps)
    events = instance.stream("hello", text_only=True)
    assert isinstance(next(events), Task)
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(instance.send, "hello", text_only=True)
        until(lambda: len(tasks(instance)) == 2)
        instance.kept.drain()
        assert text_of(answer.result(PATIENCE_SECONDS)).endswith("goes on.")
    rest = list(events)
    assert states(rest)[-1] is TaskState.COMPLETED
    assert [each.artifact.parts[0].text for each in artifacts(rest)] == ["Task 1 goes on."]
    steps.let(2)


def test_a_process_that_is_being_stopped_runs_and_takes_nothing(file: Path) -> None:
    queued, stopped = Instance(file, at_once("answer"), runs_at_once=False), Instance(file, at_once("answer"))
    task = queued.send("hello", at_once=True)
    assert isinstance(task, Task)
    stopped.kept.drain()
    requests: list[Callable[[], object]] = [
        lambda: stopped.send("hello"),
        lambda: stopped.open_stream("hello"),
        lambda: stopped.run_again(task.id),
    ]
    for request in requests:
        with pytest.raises(A2AError) as refused:
            request()
        assert refused.value.kind.http_status == 503
    assert queued.run_again(task.id) is TaskState.COMPLETED


def test_what_cannot_be_stored_ends_with_the_process(file: Path) -> None:
    steps = Steps("answer")
    instance = Instance(file, steps)
    instance.far.away = True
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(instance.send, "hello")
        steps.await_step()
        instance.kept.drain(seconds=0)
        error = answer.exception(PATIENCE_SECONDS)
        steps.let()
    assert isinstance(error, A2AError)
    assert error.kind.http_status == 503


@pytest.mark.parametrize("streaming", [False, True], ids=["send", "stream"])
def test_what_has_not_begun_when_a_process_stops_is_refused(file: Path, streaming: bool) -> None:
    instance = Instance(file, at_once("answer"))
    instance.far.held["running"] = goes_on = threading.Event()
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(instance.open_stream if streaming else instance.send, "hello")
        until(lambda: instance.far.asked["running"])
        instance.kept.drain(seconds=0)
        goes_on.set()
        error = answer.exception(PATIENCE_SECONDS)
    assert isinstance(error, A2AError)
    assert (error.kind.http_status, instance.agent.asked) == (503, 0)


def test_a_run_whose_request_comes_to_its_end_is_handed_to_the_next_one(file: Path) -> None:
    steps, wakeups = Steps("one ", "two"), Wakeups()
    first = Instance(file, steps, runs_at_once=False, wakeups=wakeups)
    second = Instance(file, at_once("by the next"))
    task = first.send("hello", at_once=True)
    assert isinstance(task, Task)
    steps.let()
    assert first.run_again(task.id, until_=time.time()) in (TaskState.SUBMITTED, TaskState.WORKING)
    assert wakeups.published[1:] == [(task.id, None)]
    assert second.run_again(task.id) is TaskState.COMPLETED
    assert text_of(second.get(task.id)) == "by the next"
    steps.let()


def test_a_task_is_found_though_its_stream_was_left_and_its_agent_failed_at_once(file: Path) -> None:
    fail = threading.Event()

    def fails(_: Call) -> Iterator[Piece]:
        assert fail.wait(PATIENCE_SECONDS)
        yield from (1 // 0 for _ in "x")  # type: ignore[misc]

    instance = Instance(file, fails)
    instance.far.held["create"] = slow = threading.Event()
    events = instance.open_stream("hello")
    first = next(events_of(events))
    assert isinstance(first, Task)
    events.close()
    fail.set()
    with ThreadPoolExecutor() as threads:
        found = threads.submit(instance.get, first.id)
        slow.set()
        assert found.result(PATIENCE_SECONDS).id == first.id
    assert settled(instance, first.id).status.state is TaskState.FAILED


def test_a_stream_that_asks_for_an_answer_at_once_is_a_stream_like_any_other(file: Path) -> None:
    instance = Instance(file, at_once("answer"), runs_at_once=False)
    request = a_request("hello", SendMessageConfiguration(return_immediately=True))
    events = list(events_of(instance.kept.stream(request, a_call(streaming=True))))
    assert states(events)[-1] is TaskState.COMPLETED
    assert instance.agent.asked == 1


def test_a_webhook_makes_a_turn_one_that_is_tried_again(file: Path) -> None:
    instance = _instance(file, script := Away(0))
    config = TaskPushNotificationConfig(url="https://93.184.215.14/told")
    request = a_request("hello", SendMessageConfiguration(task_push_notification_config=config))
    assert text_of(instance.kept.send(request, a_call())) == "asked 1 times"
    assert script.tries_allowed == [True]
