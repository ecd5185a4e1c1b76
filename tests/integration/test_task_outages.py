"""A run whose store goes away, or whose process does."""

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import CancelTaskRequest, Task, TaskState
from a2a_hub.a2a.reply import Piece, Progress, Question, Text
from a2a_hub.task_store.store import HUB
from tests.fakes.counted import counted
from tests.fakes.task_instance import (
    PATIENCE_SECONDS,
    Instance,
    a_call,
    settled,
    states,
    statuses,
    stored,
    tasks,
    terminal,
    text_of,
    until,
)
from tests.fakes.task_scripts import Steps, at_once

# Less than the store waits for another process.
_SOON_SECONDS = 5.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.db"


def test_who_waits_gets_the_answer_though_the_store_is_away(file: Path) -> None:
    steps = Steps("answer")
    instance = Instance(file, steps)
    instance.far.away = True
    answers: list[object] = []
    waiting = threading.Thread(target=lambda: answers.append(instance.send("hello")))
    waiting.start()
    steps.await_step()
    until(lambda: instance.far.asked["create"])
    steps.let()
    waiting.join(PATIENCE_SECONDS)
    instance.far.away = False
    assert [text_of(answer) for answer in answers] == ["answer"]  # type: ignore[arg-type]


@pytest.mark.parametrize("text_only", [False, True])
def test_a_question_in_a_conversation_is_answered_though_the_store_is_away(file: Path, text_only: bool) -> None:
    instance = Instance(file, at_once("answer"))
    instance.far.away = True
    assert text_of(instance.send("hello", context_id="a-conversation", text_only=text_only)) == "answer"
    events = list(instance.stream("hello", context_id="a-conversation", text_only=text_only))
    assert states(events)[-1] is TaskState.COMPLETED


def test_what_somebody_waits_for_is_stored_as_soon_as_the_store_is_back(file: Path) -> None:
    steps = Steps("answer")
    instance = Instance(file, steps)
    instance.far.away = True
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(instance.send, "hello")
        until(lambda: instance.far.refused > 2)
        instance.far.away = False
        (task,) = until(lambda: tasks(instance))
        assert not task.status.state.terminal
        steps.let()
        assert text_of(answer.result(PATIENCE_SECONDS)) == "answer"
    assert text_of(settled(instance, task.id)) == "answer"


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


@pytest.mark.parametrize("is_silent", [False, True])
def test_a_task_whose_file_is_deleted_while_it_streams_is_in_the_new_file_with_all_its_events(
    file: Path, is_silent: bool
) -> None:
    steps = Steps("one ", "two")
    instance = Instance(file, steps)
    events = instance.stream("hello")
    first = next(events)
    assert isinstance(first, Task)
    steps.let()
    until(lambda: [task for task in tasks(instance) if text_of(task) == "one "])
    file.unlink()
    if is_silent:
        assert [text_of(task) for task in until(lambda: tasks(instance))] == ["one "]
    steps.let()
    assert states(list(events)) == [TaskState.WORKING, TaskState.COMPLETED]
    assert text_of(instance.get(first.id)) == "one two"
    log = [entry.event for entry in instance.store.entries(first.id, after=0)]
    assert (states(log), len(terminal(instance, first.id))) == ([TaskState.WORKING, TaskState.COMPLETED], 1)


def test_a_task_whose_file_is_deleted_in_its_second_turn_keeps_its_first_one(file: Path) -> None:
    go_on = threading.Event()

    def asks_first(call: Call) -> Iterator[Piece]:
        if call.task is None or call.task.turn == 1:
            yield Question("which one?")
            return
        yield Text("this ", more=True)
        assert go_on.wait(PATIENCE_SECONDS)
        yield Text("one", more=True)

    instance = Instance(file, asks_first)
    asked = instance.send("hello")
    assert isinstance(asked, Task)
    events = instance.stream("that one", task_id=asked.id)
    next(events)
    until(lambda: [task for task in tasks(instance) if text_of(task) == "this "])
    file.unlink()
    go_on.set()
    assert states(list(events))[-1] is TaskState.COMPLETED
    task = instance.get(asked.id)
    assert text_of(task) == "this one"
    assert [text_of(message) for message in task.history] == ["hello", "which one?", "that one"]


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
        until(lambda: any(b"task-1" in each.payload for each in stored(instance)))
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


@pytest.mark.parametrize(("deaths", "becomes"), [(1, TaskState.COMPLETED), (2, TaskState.FAILED)])
def test_a_task_that_kills_every_process_that_runs_it_fails_with_a_sentence(
    file: Path, deaths: int, becomes: TaskState
) -> None:
    instance = Instance(file, at_once("answer"), runs_at_once=False, max_attempts=2)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    for attempt in range(deaths):
        instance.far.ahead_seconds = 100.0 * attempt
        assert instance.store.lease("dies", seconds=1, roles=[HUB], task_id=task.id)
    instance.far.ahead_seconds = 1000.0
    with counted() as sums:
        assert instance.run_again(task.id) is becomes
    failed = becomes is TaskState.FAILED
    assert sums["a2a_hub.work.abandoned", "task"] == failed
    assert bool(instance.get(task.id).status.message) is failed
    assert instance.agent.asked == (0 if failed else 1)


def test_a_result_that_is_too_large_is_a_failed_task_in_stream_and_store_alike(file: Path) -> None:
    instance = Instance(file, at_once("x" * 100_000), max_task_bytes=20_000)
    events = list(instance.stream("hello"))
    first = events[0]
    assert isinstance(first, Task)
    assert states(events)[-1] is TaskState.FAILED
    assert settled(instance, first.id).status == statuses(events)[-1].status


def test_a_message_that_is_too_large_for_its_task_is_refused_with_a_reason(file: Path) -> None:
    def ask(_: Call) -> Iterator[Piece]:
        yield Question("Which?")

    instance = Instance(file, ask, max_task_bytes=20_000)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    settled(instance, task.id)
    for request in ({"task_id": task.id}, {}):
        with pytest.raises(A2AError, match="larger than a task may be"):
            instance.send("x" * 30_000, at_once=True, **request)
