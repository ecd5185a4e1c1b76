"""Requests that are sent again after their answer: user interfaces, and clients that say so, get the same answer again."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Task, TaskArtifactUpdateEvent, TaskState
from a2a_hub.a2a.reply import Failure, Piece, Question, Text
from tests.fakes.task_instance import PATIENCE_SECONDS, Instance, stored, tasks, text_of, until
from tests.fakes.task_scripts import Steps, at_once

SAME: dict[str, Any] = {"message_id": "m", "context_id": "c"}
WHO = pytest.mark.parametrize(
    "who", [{"text_only": True}, {"repeats": True}], ids=["a person", "a client that says so"]
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.db"


def ask(call: Call) -> Iterator[Piece]:
    yield Text("answer") if call.task and call.task.turn > 1 else Question("Which?")


@WHO
def test_the_same_request_has_the_same_answer_on_every_instance(file: Path, who: dict[str, bool]) -> None:
    here, there = (Instance(file, at_once(text), repeat_seconds=600) for text in ("first", "second"))
    answers = [each.send("hello", **SAME, **who) for each in (here, there, here)]
    assert text_of(answers[0]) == "first"
    assert answers == answers[:1] * 3
    assert (here.agent.asked, there.agent.asked, len(tasks(here))) == (1, 0, 1)


@WHO
def test_the_same_stream_has_the_same_events_from_the_log(file: Path, who: dict[str, bool]) -> None:
    here, there = (Instance(file, at_once(text), repeat_seconds=600) for text in ("first", "second"))
    streams = [list(each.stream("hello", **SAME, **who)) for each in (here, there)]
    assert streams[0] == streams[1]
    assert len({each.id for events in streams for each in events if isinstance(each, Task)}) == 1
    assert there.agent.asked == 0


def test_of_two_that_arrive_at_two_instances_at_once_one_runs(file: Path) -> None:
    steps = Steps("answer")
    instances = [Instance(file, steps, repeat_seconds=600) for _ in range(2)]
    for each in instances:
        each.far.held["create"] = threading.Event()
    with ThreadPoolExecutor() as threads:
        answers = [threads.submit(each.send, "hello", text_only=True, **SAME) for each in instances]
        until(lambda: all(each.far.asked["create"] for each in instances))
        for each in instances:
            each.far.held["create"].set()
        steps.let(2)
        assert [text_of(each.result(PATIENCE_SECONDS)) for each in answers] == ["answer"] * 2
    assert sum(each.agent.asked for each in instances) == 1
    assert len(tasks(instances[0])) == 1


def test_a_question_that_is_repeated_is_no_answer_to_itself(file: Path) -> None:
    instance = Instance(file, ask, repeat_seconds=600)
    asked = [text_of(instance.send("hello", text_only=True, **SAME)) for _ in range(2)]
    assert asked == ["Which?"] * 2
    answer = [text_of(instance.send("this", text_only=True, message_id="m-2", context_id="c")) for _ in range(2)]
    assert answer == ["answer"] * 2
    assert (instance.agent.asked, len(tasks(instance))) == (2, 1)


def test_a_streamed_answer_that_is_repeated_has_its_own_turn_alone(file: Path) -> None:
    instance = Instance(file, ask, repeat_seconds=600)
    instance.send("hello", text_only=True, **SAME)
    streams = [list(instance.stream("this", text_only=True, message_id="m-2", context_id="c")) for _ in range(2)]
    said = [
        [text_of(Task(id="", status=each.status)) for each in events if isinstance(each, Task)] for events in streams
    ]
    assert said == [[""], [""]]
    shown = [sum(isinstance(each, TaskArtifactUpdateEvent) for each in events) for events in streams]
    assert shown == [1, 1]


def test_a_failure_is_not_remembered(file: Path) -> None:
    def fails(_: Call) -> Iterator[Piece]:
        yield Failure("Not today.")

    instance = Instance(file, fails, repeat_seconds=600)
    for _ in range(2):
        assert text_of(instance.send("hello", text_only=True, **SAME)) == "Not today."
    assert instance.agent.asked == 2


@pytest.mark.parametrize("seconds", [0.0, 600.0])
def test_a_program_gets_a_new_turn_and_so_does_everybody_where_nothing_is_repeated(file: Path, seconds: float) -> None:
    instance = Instance(file, at_once("answer"), repeat_seconds=seconds)
    for _ in range(2):
        assert text_of(instance.send("hello", text_only=seconds == 0.0, **SAME)) == "answer"
    assert (instance.agent.asked, len(tasks(instance))) == (2, 2 if seconds else 0)


def test_an_answer_is_forgotten_when_its_time_is_over(file: Path) -> None:
    instance = Instance(file, at_once("answer"), repeat_seconds=600)
    instance.send("hello", text_only=True, **SAME)
    instance.far.ahead_seconds = 601
    instance.send("hello", text_only=True, **SAME)
    assert instance.agent.asked == 2


def test_while_the_store_is_away_questions_are_answered_without_memory(file: Path) -> None:
    instance = Instance(file, at_once("answer"), repeat_seconds=600)
    instance.far.away = True
    for _ in range(2):
        assert text_of(instance.send("hello", text_only=True, **SAME)) == "answer"
    assert instance.agent.asked == 2
    instance.far.away = False
    assert all(each.task.status.state is TaskState.COMPLETED for each in stored(instance))
