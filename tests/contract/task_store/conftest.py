"""Every test of this folder runs against each store."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.firestore import FirestoreTaskStore
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.task_record import DEFAULT_TASK_BYTES
from tests.contract.task_store.stores import Clock, Store
from tests.fakes.emulators import PROJECT

LARGEST_TASK = 200_000


class OpenStore(Protocol):
    """Opens one more store on the same data, as another instance does."""

    def __call__(self, *, max_task_bytes: int = LARGEST_TASK) -> Store: ...


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "firestore"])
def kind(request: pytest.FixtureRequest) -> str:
    """Of the store under test."""
    return str(request.param)


@pytest.fixture
def new_data(
    kind: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[], OpenStore]]:
    """Makes empty data, and gives what opens stores on them."""
    if kind == "firestore":
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", request.getfixturevalue("firestore_emulator"))
    with contextlib.ExitStack() as stack:

        def made() -> OpenStore:
            name = f"tests-{random_hex()}"

            def open_one(*, max_task_bytes: int = LARGEST_TASK) -> Store:
                store: Store
                if kind == "sqlite":
                    store = SqliteTaskStore(
                        tmp_path / name, clock=clock, new_token=random_hex, max_task_bytes=max_task_bytes
                    )
                else:
                    store = FirestoreTaskStore(
                        project=PROJECT,
                        database=name,
                        clock=clock,
                        new_token=random_hex,
                        max_task_bytes=max_task_bytes,
                    )
                stack.callback(store.close)
                return store

            return open_one

        yield made


@pytest.fixture
def open_store(new_data: Callable[[], OpenStore]) -> OpenStore:
    return new_data()


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
    return open_store(max_task_bytes=DEFAULT_TASK_BYTES)
