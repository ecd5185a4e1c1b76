"""A run whose store goes away, whose lease runs out, or whose task another run has taken."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from functions.hub.run_endpoint import PATH, RunEndpoint
from shared.a2a.agent import Turn
from shared.a2a.call import Call
from shared.a2a.errors import UNAVAILABLE, A2AError
from shared.a2a.model import (
    CancelTaskRequest,
    Task,
    TaskState,
)
from shared.a2a.reply import Piece, Progress, Question, Text
from shared.http import Request
from shared.identity.principal import TASKS_FUNCTION, Principal
from shared.task_store.store import HUB
from tests.fakes.kept_tasks import (
    PATIENCE_SECONDS,
    Instance,
    a_call,
    artifacts,
    settled,
    states,
    statuses,
    stored,
    tasks,
    terminal,
    text_of,
    until,
)

# Less than the store waits for another process.
_SOON_SECONDS = 5.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.db"


class Steps:
    """A script that says one text after the other, each when the test lets it."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts
        self._let = threading.Semaphore(0)
        self.reached = threading.Semaphore(0)

    def __call__(self, _: Call) -> Iterator[Piece]:
        for text in self._texts:
            self.reached.release()
            assert self._let.acquire(timeout=PATIENCE_SECONDS)
            yield Text(text)

    def let(self, count: int = 1) -> None:
        self._let.release(count)

    def await_step(self) -> None:
        assert self.reached.acquire(timeout=PATIENCE_SECONDS)


def at_once(text: str) -> Callable[[Call], Iterator[Piece]]:
    return lambda _: iter((Text(text),))


def test_who_waits_gets_the_answer_though_the_store_is_away(file: Path) -> None:
    steps = Steps("answer")
    instance = Instance(file, steps)
    instance.far.away = True
    answers: list[object] = []
    waiting = threading.Thread(target=lambda: answers.append(instance.send("hello")))
    waiting.start()
    steps.await_step()
    time.sleep(0.1)
    steps.let()
    waiting.join(PATIENCE_SECONDS)
    instance.far.away = False
    assert [text_of(answer) for answer in answers] == ["answer"]  # type: ignore[arg-type]


def test_who_waits_gets_the_answer_though_the_store_lets_nobody_write(file: Path) -> None:
    steps = Steps("answer")
    instance = Instance(file, steps)
    with closing(sqlite3.connect(file, isolation_level=None)) as other, ThreadPoolExecutor() as threads:
        other.execute("BEGIN IMMEDIATE")
        answer = threads.submit(instance.send, "hello")
        steps.await_step()
        until(lambda: instance.far.asked["create"])
        steps.let()
        assert text_of(answer.result(timeout=_SOON_SECONDS)) == "answer"
        other.execute("ROLLBACK")


def test_a_lease_that_ran_out_before_the_run_began_is_nothing_to_run(file: Path) -> None:
    instance = Instance(file, at_once("answer"), runs_at_once=False)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)

    def refuse_late(*_: object) -> Turn:
        instance.far.ahead_seconds = 3600
        raise A2AError(UNAVAILABLE, "Too late")

    instance.agent.send = refuse_late  # type: ignore[method-assign, assignment]
    request = Request(method="POST", path=PATH, read_body=lambda _: json.dumps({"taskId": task.id}).encode())
    principal = Principal(subject=TASKS_FUNCTION)
    answer = RunEndpoint(instance.kept.starter).handle(request, principal, {"requestId": "r"})
    assert answer is not None
    assert (answer.status, answer.body) == (200, b'{"state":null}')
    assert instance.get(task.id).status.state is TaskState.SUBMITTED


def test_a_stream_outlasts_an_outage_and_its_task_is_stored_in_the_end(file: Path) -> None:
    instance = Instance(file, Steps("one ", "two"))
    steps = instance.agent.script
    assert isinstance(steps, Steps)
    instance.far.away = True
    events = instance.stream("hello")
    first = next(events)
    assert isinstance(first, Task)
    steps.let(2)
    until(lambda: instance.far.refused > 2)
    instance.far.away = False
    assert states(list(events)) == [TaskState.WORKING, TaskState.COMPLETED]
    assert text_of(settled(instance, first.id)) == "one two"


def test_a_lease_that_ran_out_is_taken_again_where_nobody_else_has(file: Path) -> None:
    steps = Steps("one ", "two")
    instance = Instance(file, steps)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    steps.await_step()
    instance.far.ahead_seconds = 3600
    steps.let(2)
    assert text_of(settled(instance, task.id)) == "one two"
    assert (instance.agent.asked, instance.get(task.id).status.state) == (1, TaskState.COMPLETED)


def test_a_run_that_goes_on_here_is_not_begun_a_second_time_though_its_lease_ran_out(file: Path) -> None:
    steps = Steps("one ", "two")
    instance = Instance(file, steps)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    steps.await_step()
    until(lambda: instance.store.entries(task.id, after=1))
    instance.far.ahead_seconds = 3600
    assert instance.store.due([HUB], limit=1) == [task.id]
    assert instance.run_again(task.id) is None
    steps.let(2)
    assert text_of(settled(instance, task.id)) == "one two"
    assert instance.agent.asked == 1


def test_a_run_that_ended_while_the_store_was_away_is_not_begun_a_second_time(file: Path) -> None:
    steps = Steps("answer")
    instance = Instance(file, steps)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    steps.await_step()
    until(lambda: instance.store.entries(task.id, after=1))
    instance.far.away = True
    steps.let()
    until(lambda: instance.far.refused > 3)
    instance.far.ahead_seconds = 3600
    instance.far.away = False
    assert instance.run_again(task.id) is None
    assert text_of(settled(instance, task.id)) == "answer"
    assert instance.agent.asked == 1


def test_who_follows_a_run_that_lost_its_task_sees_what_became_of_it(file: Path) -> None:
    steps = Steps("old beginning, ", "old end")
    loser, winner = Instance(file, steps), Instance(file, at_once("the new answer"))
    events = loser.stream("hello")
    first = next(events)
    steps.let(1)
    assert isinstance(first, Task)
    seen = [next(events), next(events)]
    until(lambda: loser.store.entries(first.id, after=2))
    winner.far.ahead_seconds = 3600
    assert winner.run_again(first.id) == TaskState.COMPLETED
    steps.let(1)
    seen += list(events)
    assert states(seen)[-1] is TaskState.COMPLETED
    assert TaskState.CANCELED not in states(seen)
    said = [text_of(Task(id="", artifacts=(each.artifact,), status=first.status)) for each in artifacts(seen)]
    assert said[-1] == "the new answer"
    assert text_of(loser.get(first.id)) == "the new answer"


def test_who_waits_for_a_run_that_lost_its_task_gets_the_other_runs_answer(file: Path) -> None:
    steps = Steps("old")
    loser, winner = Instance(file, steps, store_seconds=0.01), Instance(file, at_once("new"))
    with ThreadPoolExecutor() as threads:
        first = threads.submit(loser.send, "hello", message_id="m", context_id="c")
        (task,) = until(lambda: tasks(loser))
        joined = threads.submit(loser.send, "hello", message_id="m", context_id="c")
        until(lambda: loser.far.asked["waiting"] == 2)
        winner.far.ahead_seconds = 3600
        winner.run_again(task.id)
        steps.let()
        assert [text_of(each.result(PATIENCE_SECONDS)) for each in (first, joined)] == ["new", "new"]
    assert loser.agent.asked == 1


@pytest.mark.parametrize("method", ["append", "create"])
def test_what_was_stored_though_the_store_did_not_say_so_is_stored_once(file: Path, method: str) -> None:
    instance = Instance(file, at_once("answer"))
    instance.far.loses_answer_to = method
    events = list(instance.stream("hello"))
    assert instance.far.lost.wait(PATIENCE_SECONDS)
    task = settled(instance, events[0].id)  # type: ignore[union-attr]
    assert text_of(task) == "answer"
    assert len(terminal(instance, task.id)) == 1


def test_the_same_request_streamed_by_two_instances_at_once_is_two_tasks_that_can_be_found(
    file: Path,
) -> None:
    steps = Steps("answer"), Steps("answer")
    here, there = Instance(file, steps[0]), Instance(file, steps[1])
    here.far.away = there.far.away = True
    streams = [instance.stream("hello", message_id="same") for instance in (here, there)]
    firsts = [next(stream) for stream in streams]
    here.far.away = there.far.away = False
    for each in steps:
        each.let()
    for stream in streams:
        assert states(list(stream))[-1] is TaskState.COMPLETED
    for first in firsts:
        assert isinstance(first, Task)
        assert text_of(settled(here, first.id)) == "answer"


def test_a_run_that_never_pauses_hears_of_its_cancellation_elsewhere(file: Path) -> None:
    stop = threading.Event()

    def chatter(call: Call) -> Iterator[Piece]:
        while not (stop.wait(0.001) or call.cancellation.cancelled):
            yield Progress("on and on")

    running, elsewhere = Instance(file, chatter, look_seconds=0.5), Instance(file, chatter)
    task = running.send("hello", at_once=True)
    assert isinstance(task, Task)
    try:
        canceled = elsewhere.kept.operations.cancel(CancelTaskRequest(id=task.id), a_call())
    finally:
        stop.set()
    assert canceled.status.state is TaskState.CANCELED


def test_what_an_agent_notes_is_kept_before_it_says_anything(file: Path) -> None:
    note, go_on = threading.Event(), threading.Event()

    def silent(call: Call) -> Iterator[Piece]:
        assert call.task
        assert note.wait(PATIENCE_SECONDS)
        call.task.notes["theirs"] = "task-1"
        assert go_on.wait(2 * PATIENCE_SECONDS)
        yield Text("answer")

    instance = Instance(file, silent)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    try:
        until(lambda: instance.store.entries(task.id, after=1))
        note.set()
        until(lambda: any(b"task-1" in each.work for each in stored(instance)))
    finally:
        note.set()
        go_on.set()


def test_a_cancelled_task_whose_run_died_is_cancelled_with_its_agent_too(file: Path) -> None:
    instance = Instance(file, at_once("answer"), runs_at_once=False)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    instance.store.request_cancel(task.id)
    assert instance.run_again(task.id) is TaskState.CANCELED
    assert (instance.agent.cancelled, instance.agent.asked) == ([task.id], 0)


def test_a_task_that_kills_every_process_that_runs_it_fails_with_a_sentence(file: Path) -> None:
    instance = Instance(file, at_once("answer"), runs_at_once=False)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    for attempt in range(5):
        instance.far.ahead_seconds = 100.0 * attempt
        assert instance.store.lease("dies", seconds=1, roles=[HUB], task_id=task.id)
    instance.far.ahead_seconds = 1000.0
    assert instance.run_again(task.id) is TaskState.FAILED
    assert instance.get(task.id).status.message
    assert instance.agent.asked == 0


def test_a_result_that_is_too_large_is_a_failed_task_in_stream_and_store_alike(file: Path) -> None:
    instance = Instance(file, at_once("x" * 100_000), most_task_bytes=20_000)
    events = list(instance.stream("hello"))
    first = events[0]
    assert isinstance(first, Task)
    assert states(events)[-1] is TaskState.FAILED
    assert settled(instance, first.id).status == statuses(events)[-1].status


def test_a_message_that_is_too_large_for_its_task_is_refused_with_a_reason(file: Path) -> None:
    def ask(_: Call) -> Iterator[Piece]:
        yield Question("Which?")

    instance = Instance(file, ask, most_task_bytes=20_000)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    settled(instance, task.id)
    for request in ({"task_id": task.id}, {}):
        with pytest.raises(A2AError, match="larger than a task may be"):
            instance.send("x" * 30_000, at_once=True, **request)
