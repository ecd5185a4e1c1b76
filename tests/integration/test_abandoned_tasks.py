"""Tasks whose workers died: ended where that was asked for or where too many have tried, else given to the next one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from functions.tasks.workers.events import Events
from functions.tasks.workers.leasing import Leasing
from shared.a2a.model import Message, Part, Role, Task, TaskState, TaskStatus
from shared.function import MINT
from shared.ids import new_id, timestamp
from shared.queue.bell import Bell
from shared.task_store.sqlite import SqliteTaskStore
from shared.task_store.store import Lease, NewTask

ROLES = ("developer", "architect")


class Scene:
    """A store whose time is the test's, and the leasing over it."""

    def __init__(self, folder: Path) -> None:
        self.now = 1_000_000.0
        self.store = SqliteTaskStore(folder / "tasks.sqlite3", clock=lambda: self.now, new_token=new_id)
        self.leasing = Leasing(
            self.store,
            Bell(),
            Events(MINT),
            most_attempts=2,
            look_seconds=60,
            waits_at_once=8,
            clock=lambda: self.now,
        )

    def task(self, text: str = "Fix it") -> str:
        task_id = new_id()
        message = Message(message_id=new_id(), role=Role.USER, parts=(Part(text=text),), task_id=task_id)
        status = TaskStatus(state=TaskState.SUBMITTED, timestamp=timestamp())
        task = Task(id=task_id, context_id="c", status=status, history=(message,))
        self.store.create(NewTask(task=task, owner="somebody", role="developer"))
        return task_id

    def lease(self) -> Lease | None:
        return self.leasing.lease("worker", ROLES, seconds=30, wait_seconds=0)

    def begun(self, task_id: str, times: int) -> None:
        """Workers have taken the task and died."""
        for _ in range(times):
            assert self.leasing.lease_named("worker", ROLES, seconds=30, task_id=task_id)
            self.now += 31

    def state(self, task_id: str) -> TaskState:
        stored = self.store.get(task_id, owner=None)
        assert stored
        return stored.task.status.state


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    scene.store.close()


def test_a_worker_that_has_left_while_it_waited_is_given_nothing(scene: Scene) -> None:
    scene.task()
    left = scene.leasing.lease("worker", ROLES, seconds=30, wait_seconds=5, is_there=lambda: False)
    assert left is None
    assert scene.lease() is not None


def test_a_dead_workers_task_goes_to_the_next_one_as_its_second_attempt(scene: Scene) -> None:
    task_id = scene.task()
    scene.begun(task_id, 1)
    assert scene.leasing.end_abandoned(ROLES) == 0
    lease = scene.lease()
    assert lease
    assert (lease.stored.task.id, lease.stored.attempt) == (task_id, 2)


def test_a_dead_workers_task_that_is_to_be_cancelled_is_ended_by_the_sweep(scene: Scene) -> None:
    task_id, other = scene.task(), scene.task()
    scene.begun(task_id, 1)
    lease = scene.leasing.lease_named("worker", ROLES, seconds=30, task_id=task_id)
    assert lease
    scene.store.request_cancel(task_id)
    assert scene.leasing.end_abandoned(ROLES) == 0
    scene.now += 31
    assert scene.leasing.end_abandoned(ROLES) == 1
    assert (scene.state(task_id), scene.state(other)) == (TaskState.CANCELED, TaskState.SUBMITTED)


def test_no_worker_is_given_a_task_that_is_to_be_cancelled(scene: Scene) -> None:
    task_id = scene.task()
    assert scene.lease()
    scene.store.request_cancel(task_id)
    scene.now += 31
    assert scene.lease() is None
    assert scene.state(task_id) is TaskState.CANCELED


def test_a_task_that_kills_its_workers_is_ended_by_the_sweep(scene: Scene) -> None:
    task_id = scene.task()
    scene.begun(task_id, 2)
    assert scene.leasing.end_abandoned(ROLES) == 1
    stored = scene.store.get(task_id, owner=None)
    assert stored
    assert stored.task.status.state is TaskState.FAILED
    assert stored.task.status.message is not None
    assert "begun 2 times" in (stored.task.status.message.parts[0].text or "")


def test_a_conversation_may_take_more_turns_than_a_turn_may_take_attempts(scene: Scene) -> None:
    task_id = scene.task()
    for _ in range(5):
        lease = scene.lease()
        assert lease
        assert lease.stored.attempt == 1
        asked = Events(MINT).status(lease.stored.task, TaskState.INPUT_REQUIRED, "Which page?")
        scene.store.append(task_id, [asked], lease=lease.token)
        said = structs.replace(lease.stored.task.history[0], message_id=new_id())
        scene.store.append(task_id, [said, Events(MINT).status(lease.stored.task, TaskState.SUBMITTED)])


def test_the_sweep_looks_at_workers_tasks_only(scene: Scene) -> None:
    assert scene.leasing.end_abandoned(()) == 0
