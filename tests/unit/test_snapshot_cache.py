"""Folds of late are remembered within bounds, and those of tasks that ended not at all."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from a2a_hub.a2a.model import Artifact, Part, TaskState
from a2a_hub.task_store.store import NewTask
from a2a_hub.task_store.task_log import SnapshotCache
from a2a_hub.task_store.task_record import TaskRecord, new_record
from tests.contract.task_store.stores import a_task

TASK = a_task()


def _head(*, size: int, version: int = 1, state: TaskState = TaskState.WORKING, id_: str = "one") -> TaskRecord:
    record = new_record(NewTask(task=TASK, owner="owner"), number=1, size=size, now=0.0)
    return replace(record, id=id_, version=version, state=state)


def test_what_was_remembered_first_is_forgotten_when_it_is_too_much() -> None:
    snapshots = SnapshotCache()
    one, two, three = (_head(size=12_000_000, id_=id_) for id_ in ("one", "two", "three"))
    for record in (one, two, one, three):
        snapshots.put(record, TASK)
    assert [snapshots.nearest(record)[1] for record in (one, two, three)] == [TASK, None, TASK]


@pytest.mark.parametrize(
    ("parts", "fit"),
    [
        ([Part(text="x" * 1000)], 3),
        ([Part(text="word ")] * 50_000, 2),
        ([Part(data=[[]] * 3)], 0),
    ],
    ids=["a text", "a text word by word", "JSON"],
)
def test_what_is_remembered_is_bounded_by_the_memory_that_it_takes(parts: Sequence[Part], fit: int) -> None:
    snapshots = SnapshotCache()
    task = replace(TASK, artifacts=(Artifact(artifact_id="a", parts=tuple(parts)),))
    records = [_head(size=2_000_000, id_=id_) for id_ in ("one", "two", "three")]
    for record in records:
        snapshots.put(record, task)
    assert sum(snapshots.nearest(record)[1] is not None for record in records) == fit


def test_a_task_that_ended_is_forgotten() -> None:
    snapshots = SnapshotCache()
    snapshots.put(_head(size=10), TASK)
    ended = _head(size=20, version=2, state=TaskState.COMPLETED)
    snapshots.put(ended, TASK)
    assert snapshots.nearest(ended) == (0, None)


def test_a_fold_of_a_later_version_than_the_readers_is_none_for_it() -> None:
    snapshots = SnapshotCache()
    snapshots.put(_head(size=20, version=2), TASK)
    assert snapshots.nearest(_head(size=10, version=1)) == (0, None)
    assert snapshots.nearest(_head(size=30, version=3)) == (2, TASK)
