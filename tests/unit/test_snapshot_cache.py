"""Folds of late are remembered within bounds, and those of tasks that ended not at all."""

from msgspec.structs import replace

from a2a_hub.a2a.model import TaskState
from a2a_hub.task_store.store import NewTask
from a2a_hub.task_store.task_log import RememberedFolds
from a2a_hub.task_store.task_record import TaskRecord, first_head
from tests.contract.task_store.stores import a_task

TASK = a_task()


def _head(*, size: int, version: int = 1, state: TaskState = TaskState.WORKING) -> TaskRecord:
    head = first_head(NewTask(task=TASK, owner="owner"), number=1, size=size, now=0.0)
    return replace(head, version=version, state=state)


def test_what_was_remembered_first_is_forgotten_when_it_is_too_much() -> None:
    folds, head = RememberedFolds(), _head(size=12_000_000)
    for key in ("one", "two", "one", "three"):
        folds.remember(key, head, TASK)
    assert [folds.nearest(key, head)[1] for key in ("one", "two", "three")] == [TASK, None, TASK]


def test_a_task_that_ended_is_forgotten() -> None:
    folds = RememberedFolds()
    folds.remember("one", _head(size=10), TASK)
    ended = _head(size=20, version=2, state=TaskState.COMPLETED)
    folds.remember("one", ended, TASK)
    assert folds.nearest("one", ended) == (0, None)


def test_a_fold_of_a_later_version_than_the_readers_is_none_for_it() -> None:
    folds = RememberedFolds()
    folds.remember("one", _head(size=20, version=2), TASK)
    assert folds.nearest("one", _head(size=10, version=1)) == (0, None)
    assert folds.nearest("one", _head(size=30, version=3)) == (2, TASK)
