"""A run whose lease runs out: it takes it again, or another run has its task."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.agent import Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import UNAVAILABLE, A2AError
from a2a_hub.a2a.model import Event, Task, TaskState
from a2a_hub.a2a.reply import Piece, Text
from a2a_hub.http.messages import Request
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import TASKS_FUNCTION, Principal
from a2a_hub.task_store.store import HUB
from functions.hub.endpoints import RUN_PATH, RunEndpoint
from tests.fakes.task_instance import (
    PATIENCE_SECONDS,
    Compared,
    Instance,
    artifacts,
    settled,
    states,
    tasks,
    text_of,
    until,
)
from tests.fakes.task_scripts import Steps, at_once


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.db"


def test_a_lease_that_ran_out_before_the_run_began_is_nothing_to_run(file: Path) -> None:
    instance = Instance(file, at_once("answer"), runs_at_once=False)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)

    def refuse_late(*_: object) -> Turn:
        instance.far.ahead_seconds = 3600
        raise A2AError(UNAVAILABLE, "Too late")

    instance.agent.send = refuse_late  # type: ignore[method-assign, assignment]
    request = Request(method="POST", path=RUN_PATH, read_body=lambda _: json.dumps({"taskId": task.id}).encode())
    caller = Caller(principal=Principal(subject=TASKS_FUNCTION))
    answer = RunEndpoint(instance.kept).handle(request, caller, {"requestId": "r"})
    assert answer is not None
    assert (answer.status, answer.body) == (200, b'{"state":null}')
    assert instance.get(task.id).status.state is TaskState.SUBMITTED


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


def test_what_a_run_said_that_was_not_stored_before_it_lost_its_task_is_not_shown_afterwards(file: Path) -> None:
    steps = Steps("stored, ", "too late", "never")
    loser, winner = Instance(file, steps), Instance(file, at_once("the new answer"))
    events = loser.stream("hello")
    first = next(events)
    steps.let(1)
    assert isinstance(first, Task)
    seen = [first, next(events), next(events)]
    until(lambda: len(loser.store.entries(first.id, after=1)) == 2)
    loser.far.held["append"] = goes_on = threading.Event()
    steps.let(1)
    until(lambda: loser.far.asked["append"] > loser.far.ended["append"])
    winner.far.ahead_seconds = 3600
    assert winner.run_again(first.id) == TaskState.COMPLETED
    goes_on.set()
    until(lambda: not len(loser.kept.operations.turns))
    assert [*seen, *events] == [entry.event for entry in winner.store.entries(first.id, after=0)]
    steps.let(1)


def test_who_waits_for_an_agent_that_says_nothing_sees_what_another_run_made_of_its_task(file: Path) -> None:
    goes_on, ended = threading.Event(), threading.Event()

    def silent(*_: object) -> Turn:
        def events() -> Iterator[Event]:
            goes_on.wait(PATIENCE_SECONDS)
            ended.set()
            yield from ()

        return Turn(events=events())

    winner = Instance(file, at_once("the new answer"))
    loser = Instance(file, at_once("none"), repeat_seconds=600.0, lease_seconds=0.3)
    loser.agent.send = silent  # type: ignore[method-assign, assignment]
    events = loser.stream("hello", repeats=True)
    (task,) = until(lambda: tasks(loser))
    winner.far.ahead_seconds = 3600
    assert winner.run_again(task.id) == TaskState.COMPLETED
    assert states(list(events))[-1] is TaskState.COMPLETED
    assert not ended.is_set()
    goes_on.set()


def test_who_waits_for_a_run_that_lost_its_task_gets_the_other_runs_answer(file: Path) -> None:
    steps = Steps("old")
    loser, winner = Instance(file, steps, store_seconds=0.01), Instance(file, at_once("new"))
    same: dict[str, Any] = {"message_id": "m", "context_id": "c"}
    with ThreadPoolExecutor() as threads:
        first = threads.submit(loser.send, "hello", metadata=(compared := Compared()), **same)
        (task,) = until(lambda: tasks(loser))
        joined = threads.submit(loser.send, "hello", metadata={}, **same)
        assert compared.joined.wait(PATIENCE_SECONDS)
        winner.far.ahead_seconds = 3600
        winner.run_again(task.id)
        steps.let()
        assert [text_of(each.result(PATIENCE_SECONDS)) for each in (first, joined)] == ["new", "new"]
    assert loser.agent.asked == 1


def test_who_joined_a_run_that_gave_way_to_the_same_request_elsewhere_gets_that_ones_answer(
    file: Path,
) -> None:
    def gives_way(call: Call) -> Iterator[Piece]:
        told = threading.Event()
        call.cancellation.on_cancel(told.set)
        assert told.wait(PATIENCE_SECONDS)
        yield Text("ours")

    steps = Steps("theirs")
    here, there = (Instance(file, script, store_seconds=0.01) for script in (gives_way, steps))
    here.far.held["create"] = stored_there = threading.Event()
    same: dict[str, Any] = {"message_id": "m", "context_id": "c"}
    with ThreadPoolExecutor() as threads:
        answers = [threads.submit(here.send, "hello", metadata=(compared := Compared()), **same)]
        until(lambda: here.far.asked["create"])
        answers.append(threads.submit(here.send, "hello", metadata={}, **same))
        assert compared.joined.wait(PATIENCE_SECONDS)
        answers.append(threads.submit(there.send, "hello", metadata={}, **same))
        until(lambda: tasks(there))
        stored_there.set()
        until(lambda: not len(here.kept.operations.turns))
        steps.let()
        assert [text_of(each.result(PATIENCE_SECONDS)) for each in answers] == ["theirs"] * 3
    assert (here.agent.asked, there.agent.asked, len(tasks(there))) == (1, 1, 1)
