"""Every test of this folder runs against each store."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from shared.ids import random_hex
from shared.task_store.firestore import FirestoreTaskStore
from shared.task_store.head import DEFAULT_TASK_BYTES
from shared.task_store.sqlite import SqliteTaskStore
from tests.contract.task_store.stores import Clock, Store
from tests.fakes.emulators import PROJECT

LARGEST_TASK = 200_000


class OpenStore(Protocol):
    """Opens one more store on the same data, as another instance does."""

    def __call__(self, *, most_task_bytes: int = LARGEST_TASK) -> Store: ...


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "firestore"])
def open_store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OpenStore]:
    database = f"tests-{random_hex()}"
    if request.param == "firestore":
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", request.getfixturevalue("firestore_emulator"))
    with contextlib.ExitStack() as stack:

        def open_one(*, most_task_bytes: int = LARGEST_TASK) -> Store:
            store: Store
            if request.param == "sqlite":
                store = SqliteTaskStore(
                    tmp_path / "tasks.db", clock=clock, new_token=random_hex, most_task_bytes=most_task_bytes
                )
            else:
                store = FirestoreTaskStore(
                    project=PROJECT,
                    database=database,
                    clock=clock,
                    new_token=random_hex,
                    most_task_bytes=most_task_bytes,
                    look_seconds=0.02,
                )
            stack.callback(store.close)
            return store

        yield open_one


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    return open_store()


@pytest.fixture
def other(open_store: OpenStore) -> Store:
    """Another instance on the same data."""
    return open_store()


@pytest.fixture
def roomy(open_store: OpenStore) -> Store:
    """A store with the room for a task that it has by default."""
    return open_store(most_task_bytes=DEFAULT_TASK_BYTES)
