"""The documents of Firestore that a task's life reads and writes: each is paid for."""

import time
from collections.abc import Iterator

import pytest

from a2a_hub.a2a.model import Event, TaskState
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.firestore import FirestoreTaskStore
from a2a_hub.task_store.store import NewTask
from tests.contract.task_store.stores import a_task, at_once, chunk, created, status
from tests.contract.task_store.test_following import Follower
from tests.fakes.emulators import PROJECT
from tests.fakes.firestore_meter import FirestoreMeter


class Metered:
    """An instance, and what it has cost."""

    def __init__(self, target: str, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.meter = FirestoreMeter(target)
        self.meter.__enter__()
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", self.meter.address)
        self.store = FirestoreTaskStore(project=PROJECT, database=database, clock=time.time, new_token=random_hex)
        assert self.store.numbered("nobody", 1) is None  # which connects
        self.meter.reads = 0

    def close(self) -> None:
        self.store.close()
        self.meter.__exit__()


@pytest.fixture
def instances(firestore_emulator: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Metered]]:
    """Two on the same data."""
    database = f"tests-{random_hex()}"
    found = [Metered(firestore_emulator, database, monkeypatch) for _ in range(2)]
    yield found
    for one in found:
        one.close()


def test_a_stream_of_200_events_costs_two_writes_a_batch_and_a_read_for_each_instance_that_follows(
    instances: list[Metered],
) -> None:
    runs, follows = instances
    task = a_task(state=TaskState.WORKING)
    runs.store.create(NewTask(task=task, owner="o", request_key="k", payload=b"{}", lease="lease", lease_seconds=30.0))
    here, there = Follower(runs.store, task.id, after=1), Follower(follows.store, task.id, after=1)
    events: list[Event] = [chunk(task.id, f"word {at} ", append=at > 0) for at in range(199)]
    # The first at once, then what comes in a second.
    batches = [events[:1]]
    batches += [events[at : at + 10] for at in range(1, 199, 10)]
    batches.append([status(task.id, TaskState.COMPLETED)])
    for at, batch in enumerate(batches):
        if at in (7, 14):
            runs.store.renew(task.id, "lease", seconds=30.0)
        runs.store.append(task.id, batch, lease="lease")
        assert [entry.event for entry in here.read(len(batch))] == batch
        assert [entry.event for entry in there.read(len(batch))] == batch
    meters = [each.meter for each in instances]
    assert sum(meter.writes for meter in meters) <= 60
    assert sum(meter.reads for meter in meters) <= 60


def test_another_subscriber_of_the_same_instance_costs_next_to_nothing(instances: list[Metered]) -> None:
    runs, follows = instances
    id_ = created(runs.store, state=TaskState.WORKING).task.id
    first = Follower(follows.store, id_, after=1)
    costs = []
    others = []
    for at in range(4):
        runs.store.append(id_, [chunk(id_, "x", append=at > 0)])
        first.read(1)
        before = follows.meter.reads
        stored = follows.store.get(id_, owner="owner")
        assert stored
        others.append(Follower(follows.store, id_, after=stored.version))
        costs.append(follows.meter.reads - before)
    before = follows.meter.reads
    runs.store.append(id_, [status(id_, TaskState.COMPLETED)])
    for follower in (first, *others):
        assert len(follower.read(1 if follower is first else len(others) - others.index(follower))) >= 1
    assert max(costs) <= 2
    assert follows.meter.reads - before <= 5


def test_no_document_is_written_by_every_creation_of_an_owner(instances: list[Metered]) -> None:
    runs, _ = instances

    def create_some() -> list[int]:
        return [created(runs.store).number for _ in range(20)]

    numbers = [number for some in at_once([create_some] * 15) if isinstance(some, list) for number in some]
    assert len(set(numbers)) == len(numbers) == 300
    assert max(numbers) < 300 + 64
    assert runs.meter.written["tasks"] == 300
    assert runs.meter.written["owners"] < 20


def test_numbers_of_a_person_are_consecutive(instances: list[Metered]) -> None:
    assert [created(each.store).number for each in instances] == [1, 2]


def test_who_holds_a_lease_writes_without_reading(instances: list[Metered]) -> None:
    runs, _ = instances
    id_ = created(runs.store).task.id
    lease = runs.store.lease("w", seconds=30, roles=[""], task_id=id_)
    assert lease
    before = runs.meter.reads
    runs.store.append(id_, [status(id_, TaskState.WORKING)], lease=lease.token)
    runs.store.renew(id_, lease.token, seconds=60)
    runs.store.release(id_, lease.token)
    assert runs.meter.reads == before


def test_who_holds_a_lease_sees_what_others_changed(instances: list[Metered]) -> None:
    runs, cancels = instances
    id_ = created(runs.store).task.id
    lease = runs.store.lease("w", seconds=30, roles=[""], task_id=id_)
    assert lease
    cancels.store.request_cancel(id_)
    assert runs.store.append(id_, [status(id_, TaskState.WORKING)], lease=lease.token).cancel_requested
