"""Turns as they start: the same request once, and by whoever is sooner."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.agent import Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import UNAVAILABLE, A2AError
from a2a_hub.a2a.model import Event, SendMessageRequest, Task, TaskState, TaskStatus
from a2a_hub.a2a.reply import Piece, Question, Text, status_update
from tests.fakes.hub import settle
from tests.fakes.task_instance import PATIENCE_SECONDS, Instance, settled, states, tasks, text_of, until
from tests.fakes.task_scripts import Steps, at_once

SAME: dict[str, Any] = {"message_id": "m", "context_id": "c"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.db"


def ask(call: Call) -> Iterator[Piece]:
    """Has to know one thing more."""
    yield Text("answer") if call.task and call.task.turn > 1 else Question("Which?")


def test_of_the_same_request_started_twice_at_the_same_moment_one_runs_and_is_stored(file: Path) -> None:
    steps = Steps("answer")
    instance = Instance(file, steps, store_seconds=0)
    instance.far.held["running"] = nobody_else = threading.Event()
    with ThreadPoolExecutor() as threads:
        answers = [threads.submit(instance.send, "hello", **SAME) for _ in range(2)]
        until(lambda: instance.far.asked["running"])
        nobody_else.set()
        until(lambda: tasks(instance))
        steps.let()
        assert [text_of(each.result(PATIENCE_SECONDS)) for each in answers] == ["answer"] * 2
    settle()
    assert (instance.agent.asked, instance.far.asked["create"], len(tasks(instance))) == (1, 1, 1)


def test_the_same_stream_opened_twice_is_one_task(file: Path) -> None:
    steps = Steps("answer")
    instance = Instance(file, steps)
    streams = [instance.stream("hello", **SAME) for _ in range(2)]
    firsts = {each.id for each in map(next, streams) if isinstance(each, Task)}
    steps.let()
    assert [states(list(stream))[-1] for stream in streams] == [TaskState.COMPLETED] * 2
    settle()
    assert firsts == {task.id for task in tasks(instance)}
    assert len(firsts) == instance.agent.asked == 1


def test_a_follow_up_whose_runner_is_sooner_has_the_runners_answer(file: Path) -> None:
    here, runner = Instance(file, ask), Instance(file, ask)
    asked = here.send("hello")
    assert isinstance(asked, Task)
    here.far.held["lease"] = later = threading.Event()
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(here.send, "this", task_id=asked.id)
        until(lambda: here.far.asked["lease"])
        assert runner.run_again(asked.id) is TaskState.COMPLETED
        later.set()
        result = answer.result(PATIENCE_SECONDS)
    # A task that its client knows stays one.
    assert isinstance(result, Task)
    assert text_of(result) == "answer"
    assert (here.agent.asked, runner.agent.asked) == (1, 1)


def test_what_an_agent_notes_after_its_question_is_kept(file: Path) -> None:
    asked, noted = threading.Event(), threading.Event()

    def notes_late(request: SendMessageRequest, call: Call) -> Turn:
        def events() -> Iterator[Event]:
            assert call.task
            task = Task(id=call.task.id, context_id=request.message.context_id, status=waits)
            yield status_update(task, TaskState.INPUT_REQUIRED, at="")
            asked.set()
            assert noted.wait(PATIENCE_SECONDS)
            call.task.notes["theirs"] = "task-1"

        return Turn(events=events())

    waits = TaskStatus(state=TaskState.WORKING)
    instance = Instance(file, at_once("none"))
    instance.agent.send = notes_late  # type: ignore[method-assign]
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    assert asked.wait(PATIENCE_SECONDS)
    looks = instance.far.asked["get"]
    until(lambda: instance.far.asked["get"] > looks + 2)
    noted.set()
    settled(instance, task.id)
    stored = instance.store.get(task.id, owner=None)
    assert stored is not None
    assert b"task-1" in stored.payload


def test_a_turn_that_its_agent_refuses_when_it_is_run_again_fails_with_the_reason(file: Path) -> None:
    instance = Instance(file, at_once("answer"), runs_at_once=False)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)

    def refuse(*_: object) -> Turn:
        raise A2AError(UNAVAILABLE, "There is no such skill any more")

    instance.agent.send = refuse  # type: ignore[method-assign, assignment]
    assert instance.run_again(task.id) is TaskState.FAILED
    said = instance.get(task.id).status.message
    assert said is not None
    assert said.parts[0].text == "There is no such skill any more"
