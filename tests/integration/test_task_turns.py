"""The turns of a task that asks its client something, whoever runs them, and whoever dies in between (A2A 1.0.1 §3.4)."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import CancelTaskRequest, Message, Task, TaskState, TaskStatus
from a2a_hub.a2a.reply import Piece, Question, Text, status_update
from a2a_hub.task_store.store import HUB, NewTask
from tests.fakes.task_instance import (
    OWNER,
    PATIENCE_SECONDS,
    Instance,
    a_call,
    settled,
    stored,
    terminal,
    text_of,
    until,
)

TURNS = 8


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.db"


def asks_again(call: Call) -> Iterator[Piece]:
    """Asks until the last turn."""
    assert call.task
    yield Text(f"{call.task.turn}, ")
    if call.task.turn < TURNS:
        yield Question("And then?")


def _asked(instance: Instance) -> Task:
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    if task.status.state is TaskState.SUBMITTED and not instance.runs_at_once:
        instance.run_again(task.id)
    return settled(instance, task.id)


@pytest.mark.parametrize("runs_at_once", [True, False], ids=["at once", "queued"])
def test_a_task_has_as_many_turns_as_it_needs_each_with_its_own_artifact(file: Path, runs_at_once: bool) -> None:
    instance = Instance(file, asks_again, runs_at_once=runs_at_once)
    task = _asked(instance)
    for turn in range(2, TURNS + 1):
        instance.send(f"answer {turn}", at_once=True, task_id=task.id)
        if not runs_at_once:
            instance.run_again(task.id)
        task = settled(instance, task.id)
    assert task.status.state is TaskState.COMPLETED
    assert text_of(task) == "".join(f"{turn}, " for turn in range(1, TURNS + 1))
    assert [message.parts[0].text for message in task.history if message.role == "ROLE_USER"] == [
        "hello",
        *(f"answer {turn}" for turn in range(2, TURNS + 1)),
    ]


def test_a_message_that_names_a_task_in_another_context_is_refused_and_changes_nothing(file: Path) -> None:
    instance = Instance(file, asks_again)
    task = _asked(instance)
    with pytest.raises(A2AError) as refused:
        instance.send("answer", task_id=task.id, context_id="another")
    assert (refused.value.kind.reason, refused.value.fields) == (
        "INVALID_PARAMS",
        (("message.contextId", "is not the context of the task that message.taskId names"),),
    )
    assert instance.get(task.id) == task


def test_who_waits_for_a_turn_that_another_runs_gets_its_answer(file: Path) -> None:
    def ask(call: Call) -> Iterator[Piece]:
        yield Text("answer") if call.task and call.task.turn > 1 else Question("Which?")

    here, runner = Instance(file, ask, runs_at_once=False), Instance(file, ask)
    task = _asked(here)
    answers: list[Task | Message] = []
    waiting = threading.Thread(target=lambda: answers.append(here.send("this one", task_id=task.id)))
    waiting.start()
    until(lambda: here.store.due([HUB], limit=1))
    runner.run_again(task.id)
    waiting.join(PATIENCE_SECONDS)
    assert [text_of(answer) for answer in answers] == ["answer"]
    assert (here.agent.asked, runner.agent.asked) == (1, 1)


def test_a_question_that_is_told_can_be_answered_though_its_turn_ended_while_it_was_being_stored(
    file: Path,
) -> None:
    created, appended, may_ask = threading.Event(), threading.Event(), threading.Event()

    def asks(call: Call) -> Iterator[Piece]:
        assert may_ask.wait(PATIENCE_SECONDS)
        yield Question("And then?")

    instance = Instance(file, asks, store_seconds=0.0)
    instance.far.held |= {"create": created, "append": appended}
    results: list[Task | Message] = []
    asking = threading.Thread(target=lambda: results.append(instance.send("hello")))
    asking.start()
    until(lambda: instance.far.asked["create"] == 1)
    # Whoever waits for the turn would store it as well, and be later.
    later = instance.far.held["create"] = threading.Event()
    may_ask.set()
    created.set()
    until(lambda: instance.far.asked["append"] == 1)
    later.set()
    threading.Timer(0.3, appended.set).start()
    asking.join(PATIENCE_SECONDS)
    (task,) = results
    assert isinstance(task, Task)
    assert task.status.state is TaskState.INPUT_REQUIRED
    assert instance.get(task.id).status.state is TaskState.INPUT_REQUIRED


def test_of_two_answers_to_one_question_one_counts(file: Path) -> None:
    def ask(call: Call) -> Iterator[Piece]:
        yield Text("answer") if call.task and call.task.turn > 1 else Question("Which?")

    instances = [Instance(file, ask) for _ in range(4)]
    task = _asked(instances[0])
    ready = threading.Barrier(len(instances))
    refused: list[A2AError] = []

    def answer(instance: Instance) -> None:
        ready.wait(PATIENCE_SECONDS)
        try:
            instance.send("this one", task_id=task.id)
        except A2AError as error:
            refused.append(error)

    threads = [threading.Thread(target=answer, args=(instance,)) for instance in instances]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert {error.kind.reason for error in refused} == {"UNSUPPORTED_OPERATION"}
    assert len(refused) == len(instances) - 1
    assert sum(instance.agent.asked for instance in instances) == 2
    assert len(terminal(instances[0], task.id)) == 1
    assert text_of(settled(instances[0], task.id)) == "answer"


def test_a_task_is_cancelled_or_answered_and_never_both(file: Path) -> None:
    def ask(call: Call) -> Iterator[Piece]:
        yield Text("answer") if call.task and call.task.turn > 1 else Question("Which?")

    answering, cancelling = Instance(file, ask), Instance(file, ask)
    refused: list[str] = []
    for _ in range(20):
        task = _asked(answering)
        ready = threading.Barrier(2)

        def cancel(task_id: str = task.id, ready: threading.Barrier = ready) -> None:
            ready.wait(PATIENCE_SECONDS)
            try:
                cancelling.kept.operations.cancel(CancelTaskRequest(id=task_id), a_call())
            except A2AError as error:
                refused.append(error.kind.reason)

        thread = threading.Thread(target=cancel)
        thread.start()
        ready.wait(PATIENCE_SECONDS)
        try:
            answering.send("this one", task_id=task.id)
        except A2AError as error:
            refused.append(error.kind.reason)
        thread.join(PATIENCE_SECONDS)
        assert settled(answering, task.id).status.state.terminal
        assert len(terminal(answering, task.id)) == 1
    assert set(refused) <= {"TASK_NOT_CANCELABLE", "UNSUPPORTED_OPERATION"}


def test_a_run_that_asks_something_while_it_is_cancelled_elsewhere_is_cancelled(file: Path) -> None:
    ask, asked = threading.Event(), threading.Event()

    def slow(_: Call) -> Iterator[Piece]:
        asked.set()
        assert ask.wait(PATIENCE_SECONDS)
        yield Question("Which?")

    # So late a look that the question is stored before the cancellation is seen.
    running, elsewhere = Instance(file, slow, look_seconds=5.0), Instance(file, slow)
    task = running.send("hello", at_once=True)
    assert isinstance(task, Task)
    assert asked.wait(PATIENCE_SECONDS)
    results: list[Task] = []
    thread = threading.Thread(
        target=lambda: results.append(elsewhere.kept.operations.cancel(CancelTaskRequest(id=task.id), a_call()))
    )
    thread.start()
    until(lambda: any(each.cancel_requested for each in stored(running)))
    ask.set()
    thread.join(PATIENCE_SECONDS)
    assert [result.status.state for result in results] == [TaskState.CANCELED]


def test_a_task_that_its_worker_completes_while_it_is_being_cancelled_can_no_longer_be(file: Path) -> None:
    instance = Instance(file, asks_again)
    status = TaskStatus(state=TaskState.SUBMITTED)
    new = NewTask(task=Task(id="task-1", context_id="c", status=status), owner=OWNER, role="developer")
    task = instance.store.create(new).task
    lease = instance.store.lease("worker", seconds=60, roles=("developer",), task_id=task.id)
    assert lease is not None
    refused: list[str] = []

    def cancel() -> None:
        try:
            instance.kept.operations.cancel(CancelTaskRequest(id=task.id), a_call())
        except A2AError as error:
            refused.append(error.kind.reason)

    thread = threading.Thread(target=cancel)
    thread.start()
    until(lambda: any(each.cancel_requested for each in stored(instance)))
    instance.store.append(task.id, [status_update(task, TaskState.COMPLETED, at="")], lease=lease.token)
    thread.join(PATIENCE_SECONDS)
    assert refused == ["TASK_NOT_CANCELABLE"]
