"""Recording a turn under a lease: which events and notes are stored, and who may no longer write."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.agent import Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Event, Message, Part, Role, SendMessageRequest, Task, TaskState
from a2a_hub.a2a.reply import status_update
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import HUB, Lease, LeaseLost, StoredTask, Unavailable
from a2a_hub.tasks.leased_writer import LeasedWriter
from tests.contract.task_store.stores import Clock, chunk, created, events_of, status, texts
from tests.fakes.task_instance import PATIENCE_SECONDS, Instance, settled, tasks, text_of, until
from tests.fakes.task_scripts import at_once

_SECONDS = 30.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[SqliteTaskStore]:
    store = SqliteTaskStore(tmp_path / "tasks.db", clock=clock, new_token=new_id)
    yield store
    store.close()


def _leased(store: SqliteTaskStore, task_id: str) -> Lease:
    lease = store.lease("another", seconds=_SECONDS, roles=(HUB,), task_id=task_id)
    assert lease is not None
    return lease


def _writer(store: SqliteTaskStore, lease: Lease, clock: Clock) -> LeasedWriter:
    return LeasedWriter(store, lease.stored, lease.token, holder="this one", seconds=_SECONDS, clock=clock)


def test_a_lease_that_ran_out_is_taken_again_where_nobody_has_written(store: SqliteTaskStore, clock: Clock) -> None:
    task_id = created(store).task.id
    writer = _writer(store, _leased(store, task_id), clock)
    clock.pass_by(_SECONDS + 1)
    writer.append([chunk(task_id, "mine", append=False)], b"")
    assert texts(writer.stored) == ["mine"]


@pytest.mark.parametrize("renews", [False, True])
def test_who_comes_back_after_another_has_written_writes_nothing_and_holds_nothing(
    store: SqliteTaskStore, clock: Clock, renews: bool
) -> None:
    task_id = created(store).task.id
    writer = _writer(store, _leased(store, task_id), clock)
    clock.pass_by(_SECONDS + 1)
    other = _leased(store, task_id)
    store.append(task_id, [status(task_id, TaskState.WORKING, said="theirs")], lease=other.token)
    store.release(task_id, other.token)
    write = writer.renew if renews else lambda: writer.append([chunk(task_id, "mine", append=False)], b"")
    with pytest.raises(LeaseLost):
        write()
    assert len(events_of(store, task_id)) == 2
    assert store.due([HUB], limit=1) == [task_id]


def test_a_lease_is_renewed_when_a_third_of_it_has_passed(store: SqliteTaskStore, clock: Clock) -> None:
    task_id = created(store).task.id
    writer = _writer(store, _leased(store, task_id), clock)
    for _ in range(4):
        clock.pass_by(0.4 * _SECONDS)
        writer.renew()
        assert store.due([HUB], limit=1) == []


class _LateStore(SqliteTaskStore):
    """A store whose first append takes effect late: as it is repeated."""

    late: Callable[[], object] | None = None

    def append(self, task_id: str, events: Sequence[Event], **options: Any) -> StoredTask:
        if self.late is None:
            self.late = lambda: SqliteTaskStore.append(self, task_id, events, **options)
            raise Unavailable("the answer is lost")
        self.late()
        return super().append(task_id, events, **options)


def test_an_append_that_takes_effect_late_is_there_once(tmp_path: Path, clock: Clock) -> None:
    store = _LateStore(tmp_path / "late.db", clock=clock, new_token=new_id)
    task_id = created(store).task.id
    writer = _writer(store, _leased(store, task_id), clock)
    events = [chunk(task_id, "once", append=False)]
    with pytest.raises(Unavailable):
        writer.append(events, b"")
    writer.append(events, b"")
    assert writer.stored.version == 2
    assert len(events_of(store, task_id)) == 2
    store.close()


def test_who_appended_before_another_went_on_has_lost_the_task_all_the_same(
    store: SqliteTaskStore, clock: Clock
) -> None:
    task_id = created(store).task.id
    writer = _writer(store, lease := _leased(store, task_id), clock)
    events = [chunk(task_id, "once", append=False)]
    # This append's answer was lost.
    store.append(task_id, events, lease=lease.token)
    clock.pass_by(_SECONDS + 1)
    other = _leased(store, task_id)
    store.append(task_id, [status(task_id, TaskState.WORKING, said="theirs")], lease=other.token)
    with pytest.raises(LeaseLost):
        writer.append(events, b"")
    assert len(events_of(store, task_id)) == 3


def _saying(instance: Instance, events: Callable[[Task, Call], Iterator[Event]]) -> None:
    """Let the instance's agent say these events of its task."""

    def send(request: SendMessageRequest, call: Call) -> Turn:
        assert call.task
        task = Task(id=call.task.id, context_id=request.message.context_id, status=status("", TaskState.WORKING).status)
        return Turn(events=events(task, call))

    instance.agent.send = send  # type: ignore[method-assign]


@pytest.mark.parametrize("state", [TaskState.INPUT_REQUIRED, TaskState.COMPLETED])
def test_notes_that_follow_the_event_that_ends_a_turn_are_stored_with_it(tmp_path: Path, state: TaskState) -> None:
    said, may_end = threading.Event(), threading.Event()

    def events(task: Task, call: Call) -> Iterator[Event]:
        yield status_update(task, state, at="")
        said.set()
        assert may_end.wait(PATIENCE_SECONDS)
        assert call.task
        call.task.notes["theirs"] = "task-1"

    instance = Instance(tmp_path / "tasks.db", at_once("none"))
    _saying(instance, events)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    if state.interrupted:
        # The generator goes on behind a question; behind the end of a task nobody asks it for more.
        assert said.wait(PATIENCE_SECONDS)
        looks = instance.far.asked["get"]
        until(lambda: instance.far.asked["get"] > looks + 2)
        assert instance.get(task.id).status.state is TaskState.SUBMITTED
    may_end.set()
    assert settled(instance, task.id).status.state is state
    stored = instance.store.get(task.id, owner=None)
    assert stored is not None
    assert (b"task-1" in stored.payload, stored.lease_until) == (state.interrupted, 0.0)


def test_a_message_alone_that_takes_long_is_the_answer_of_its_task_too(tmp_path: Path) -> None:
    may_end = threading.Event()

    def events(_: Task, __: Call) -> Iterator[Event]:
        assert may_end.wait(PATIENCE_SECONDS)
        yield Message(message_id="m", role=Role.AGENT, parts=(Part(text="the answer"),))

    instance = Instance(tmp_path / "tasks.db", at_once("none"), store_seconds=0.01)
    _saying(instance, events)
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(instance.send, "hello")
        (task,) = until(lambda: tasks(instance))
        may_end.set()
        assert text_of(answer.result(PATIENCE_SECONDS)) == "the answer"
    ended = settled(instance, task.id)
    assert (ended.status.state, text_of(ended)) == (TaskState.COMPLETED, "the answer")


def test_a_run_that_ends_without_a_result_is_stored_as_failed(tmp_path: Path) -> None:
    def events(task: Task, _: Call) -> Iterator[Event]:
        yield chunk(task.id, "half of it", append=False)
        raise RuntimeError("the agent broke off")

    instance = Instance(tmp_path / "tasks.db", at_once("none"))
    _saying(instance, events)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    ended = settled(instance, task.id)
    assert (ended.status.state, text_of(ended)) == (TaskState.FAILED, "half of it")


def test_events_are_appended_at_once_and_then_in_batches(tmp_path: Path) -> None:
    first, may_end = threading.Event(), threading.Event()

    def events(task: Task, _: Call) -> Iterator[Event]:
        yield chunk(task.id, "0", append=False)
        assert first.wait(PATIENCE_SECONDS)
        for number in range(1, 200):
            yield chunk(task.id, f" {number}", append=True)
        assert may_end.wait(PATIENCE_SECONDS)
        yield status_update(task, TaskState.COMPLETED, at="")

    instance = Instance(tmp_path / "tasks.db", at_once("none"), batch_seconds=3600.0)
    _saying(instance, events)
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    until(lambda: instance.far.answered["append"])
    first.set()
    may_end.set()
    assert text_of(settled(instance, task.id)) == " ".join(map(str, range(200)))
    assert instance.far.answered["append"] == 2
