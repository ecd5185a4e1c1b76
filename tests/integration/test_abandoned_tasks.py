"""Tasks whose workers died: ended where that was asked for or where too many have tried, else given to the next one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from a2a_hub.a2a.model import Message, Part, Role, Task, TaskState, TaskStatus, text_of
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import HUB, Lease, NewTask
from functions.tasks.workers.leasing import Leasing, WorkerWaits
from functions.tasks.workers.wire import status_event
from tests.fakes.counted import counted

ROLES = ("developer", "architect")
UNTAKEN_SECONDS = 3600.0


class Scene:
    """A store whose time is the test's, and the leasing over it."""

    def __init__(self, folder: Path) -> None:
        self.now = 1_000_000.0
        self.store = SqliteTaskStore(folder / "tasks.sqlite3", clock=lambda: self.now, new_token=new_id)
        self.leasing = Leasing(
            self.store,
            WorkerWaits(poll_seconds=60, at_once=8, clock=lambda: self.now),
            max_attempts=2,
            untaken_seconds=UNTAKEN_SECONDS,
            now=lambda: self.now,
            assigned=lambda _: None,
        )

    def task(self, text: str = "Fix it", *, role: str = "developer") -> str:
        task_id = new_id()
        message = Message(message_id=new_id(), role=Role.USER, parts=(Part(text=text),), task_id=task_id)
        status = TaskStatus(state=TaskState.SUBMITTED)
        task = Task(id=task_id, context_id="c", status=status, history=(message,))
        self.store.create(NewTask(task=task, owner="somebody", role=role))
        return task_id

    def lease(self) -> Lease | None:
        return self.leasing.lease("worker", ROLES, seconds=30, wait_seconds=0)

    def begun(self, task_id: str, times: int) -> None:
        """Workers have taken the task and died."""
        for _ in range(times):
            assert self.leasing.lease("worker", ROLES, seconds=30, wait_seconds=0, task_id=task_id)
            self.now += 31

    def state(self, task_id: str) -> TaskState:
        stored = self.store.get(task_id, owner=None)
        assert stored
        return stored.task.status.state

    def said(self, task_id: str) -> str:
        """Return what the user reads at the end."""
        stored = self.store.get(task_id, owner=None)
        assert stored
        assert stored.task.status.message is not None
        return text_of(stored.task.status.message)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    scene.store.close()


def test_a_worker_that_has_left_while_it_waited_is_given_nothing(scene: Scene) -> None:
    scene.task()
    left = scene.leasing.lease("worker", ROLES, seconds=30, wait_seconds=5, is_connected=lambda: False)
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
    lease = scene.leasing.lease("worker", ROLES, seconds=30, wait_seconds=0, task_id=task_id)
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
    with counted() as sums:
        assert scene.leasing.end_abandoned(ROLES) == 1
    assert sums["a2a_hub.work.abandoned", "task"] == 1
    assert scene.state(task_id) is TaskState.FAILED
    assert "started 2 times" in scene.said(task_id)


def test_a_conversation_may_take_more_turns_than_a_turn_may_take_attempts(scene: Scene) -> None:
    task_id = scene.task()
    for _ in range(5):
        lease = scene.lease()
        assert lease
        assert lease.stored.attempt == 1
        asked = status_event(lease.stored.task, TaskState.INPUT_REQUIRED, "Which page?")
        scene.store.append(task_id, [asked], lease=lease.token)
        said = structs.replace(lease.stored.task.history[0], message_id=new_id())
        scene.store.append(task_id, [said, status_event(lease.stored.task, TaskState.SUBMITTED)])


@pytest.mark.parametrize(
    ("text", "said"), [("Fix it", "Nobody has taken up"), ("直してください", "引き受けられなかった")]
)
def test_a_task_that_nobody_takes_fails_in_the_end_with_a_sentence(scene: Scene, text: str, said: str) -> None:
    task_id = scene.task(text)
    scene.now += UNTAKEN_SECONDS - 1
    assert scene.leasing.end_abandoned(None) == 0
    later = scene.task(text)
    scene.now += 2
    assert scene.leasing.end_abandoned(None) == 1
    assert (scene.state(task_id), scene.state(later)) == (TaskState.FAILED, TaskState.SUBMITTED)
    assert said in scene.said(task_id)


def test_a_task_that_was_answered_or_worked_on_of_late_is_not_one_that_nobody_takes(scene: Scene) -> None:
    worked_on = scene.task()
    scene.now += UNTAKEN_SECONDS
    scene.begun(worked_on, 1)
    assert scene.leasing.end_abandoned(None) == 0


def test_the_role_of_a_dead_workers_task_need_not_be_in_the_table_any_more(scene: Scene) -> None:
    cancelled, tried = scene.task(role="astronomer"), scene.task(role="astronomer")
    for _ in range(2):
        for task_id in (cancelled, tried):
            scene.store.lease("worker", seconds=30, roles=["astronomer"], task_id=task_id)
        scene.now += 31
    scene.store.request_cancel(cancelled)
    assert scene.leasing.end_abandoned(ROLES) == 0
    assert scene.leasing.end_abandoned(None) == 2
    assert (scene.state(cancelled), scene.state(tried)) == (TaskState.CANCELED, TaskState.FAILED)
    assert "started 2 times" in scene.said(tried)


def test_what_the_hub_runs_itself_it_ends_itself(scene: Scene) -> None:
    task_id = scene.task(role=HUB)
    scene.store.request_cancel(task_id)
    assert scene.leasing.end_abandoned(None) == 0
    scene.now += UNTAKEN_SECONDS + 1
    assert scene.leasing.end_abandoned(None) == 1
    assert scene.state(task_id) is TaskState.CANCELED


def test_without_roles_there_is_nothing_to_sweep(scene: Scene) -> None:
    task_id = scene.task()
    scene.begun(task_id, 2)
    assert scene.leasing.end_abandoned([]) == 0
