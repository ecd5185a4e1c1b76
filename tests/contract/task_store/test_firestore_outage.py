"""A Firestore that goes away and comes back."""

import contextlib
import threading
import time
from collections.abc import Iterator

import pytest

from a2a_hub.a2a.model import TaskState
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.firestore import FirestoreTaskStore
from a2a_hub.task_store.store import StoredTask, Unavailable, WrongVersion
from tests.contract.task_store.stores import created, status
from tests.fakes.emulators import PROJECT
from tests.fakes.tcp_proxy import TcpProxy

SECONDS = 60.0


@pytest.fixture
def line(firestore_emulator: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[TcpProxy]:
    with TcpProxy(firestore_emulator) as line:
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", line.address)
        yield line


@pytest.fixture
def far(line: TcpProxy) -> Iterator[FirestoreTaskStore]:
    """A store at the other end of the line."""
    store = FirestoreTaskStore(
        project=PROJECT,
        database=f"tests-{random_hex()}",
        clock=time.time,
        new_token=random_hex,
        read_seconds=1.5,
    )
    yield store
    store.close()


def _read(store: FirestoreTaskStore, task_id: str) -> StoredTask | None:
    """Asks until the store is back."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return store.get(task_id, owner=None)
        except Unavailable:
            assert time.monotonic() < deadline


def test_what_was_stored_is_there_after_an_outage(line: TcpProxy, far: FirestoreTaskStore) -> None:
    made = created(far)
    line.cut()
    with pytest.raises(Unavailable):
        far.append(made.task.id, [status(made.task.id, TaskState.WORKING)])
    with pytest.raises(Unavailable):
        created(far)
    line.mend()
    assert _read(far, made.task.id) == made
    assert far.append(made.task.id, [status(made.task.id, TaskState.COMPLETED)]).version == 2


def test_an_append_whose_answer_was_lost_can_be_asked_for_again(line: TcpProxy) -> None:
    armed = False

    def clock() -> float:
        """Asked for the time after the head was read, and before the commit."""
        if armed:
            line.lose_answers()
        return time.time()

    store = FirestoreTaskStore(
        project=PROJECT,
        database=f"tests-{random_hex()}",
        clock=clock,
        new_token=random_hex,
        read_seconds=1.5,
    )
    made = created(store)
    event = status(made.task.id, TaskState.WORKING)
    armed = True
    with pytest.raises(Unavailable):
        store.append(made.task.id, [event], expected_version=1)
    assert line.answer_lost.is_set()
    armed = False
    line.mend()
    assert _read(store, made.task.id)
    with contextlib.suppress(WrongVersion):
        store.append(made.task.id, [event], expected_version=1)
    assert [entry.event for entry in store.entries(made.task.id, after=0)] == [made.task, event]
    store.close()


def test_who_waits_waits_through_an_outage(line: TcpProxy, far: FirestoreTaskStore) -> None:
    made = created(far)
    line.cut()
    assert far.wait(made.task.id, after=1, timeout_seconds=0.05) is False
    results: list[bool] = []
    thread = threading.Thread(target=lambda: results.append(far.wait(made.task.id, after=1, timeout_seconds=SECONDS)))
    thread.start()
    line.mend()
    assert _read(far, made.task.id) == made
    far.append(made.task.id, [status(made.task.id, TaskState.WORKING)])
    thread.join(SECONDS)
    assert results == [True]
