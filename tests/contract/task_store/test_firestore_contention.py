"""A Firestore that aborts commits, as it does where many write to the same documents."""

from collections.abc import Iterator

import grpc
import pytest

from a2a_hub.a2a.model import TaskState
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.firestore import FirestoreTaskStore
from tests.contract.task_store.stores import Clock, created, status, webhook
from tests.fakes.emulators import PROJECT
from tests.fakes.grpc_proxy import GrpcProxy


@pytest.fixture
def store(firestore_emulator: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[FirestoreTaskStore]:
    """Every other commit is aborted, the first one not."""
    with GrpcProxy(firestore_emulator, {"Commit": (2, grpc.StatusCode.ABORTED)}) as line:
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", line.address)
        store = FirestoreTaskStore(project=PROJECT, database=f"tests-{random_hex()}", clock=clock, new_token=random_hex)
        yield store
        store.close()


def test_a_config_is_deleted_all_the_same(store: FirestoreTaskStore) -> None:
    for _ in range(2):
        id_ = created(store).task.id
        store.put_config(webhook(id_), delivered=0)
        store.delete_config(id_, "p")
        assert store.configs(id_) == []


def test_old_tasks_are_deleted_all_the_same(store: FirestoreTaskStore, clock: Clock) -> None:
    for _ in range(3):
        id_ = created(store).task.id
        store.put_config(webhook(id_), delivered=0)
        store.append(id_, [status(id_, TaskState.COMPLETED)])
    assert store.purge(ended_before=clock.pass_by(10), limit=10) == 3
    assert store.due_deliveries(limit=10) == []
    assert store.purge(ended_before=clock.pass_by(10), limit=10) == 0
