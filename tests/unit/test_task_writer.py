"""Writing to a task under a lease: whoever comes back after another has written, writes nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.model import TaskState
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import HUB, Lease, LeaseLost
from a2a_hub.tasks.recorder import StorePatience, Writer
from tests.contract.task_store.stores import Clock, chunk, created, events_of, status, texts

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


def _writer(store: SqliteTaskStore, lease: Lease, clock: Clock) -> Writer:
    patience = StorePatience(0.0, clock=clock, pause=lambda _: None)
    return Writer(store, lease.stored, lease.token, holder="this one", seconds=_SECONDS, patience=patience)


def test_a_lease_that_ran_out_is_taken_again_where_nobody_has_written(
    store: SqliteTaskStore, clock: Clock
) -> None:
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
