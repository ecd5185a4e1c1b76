"""What is Firestore's own: its indices, its limits, and a service that is away."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.model import TaskState
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store import firestore_records as queries
from a2a_hub.task_store.firestore import FirestoreTaskStore
from a2a_hub.task_store.firestore_client import Contention, Database
from a2a_hub.task_store.store import HUB, Position, TaskQuery, Unavailable
from local.ports import LOOPBACK, free_ports
from tests.contract.task_store.stores import Clock, chunk, created, status, texts, webhook
from tests.fakes.emulators import PROJECT

ROOT = Path(__file__).resolve().parents[3]
INDICES = json.loads((ROOT / "firestore.indexes.json").read_text())


@pytest.fixture
def database(firestore_emulator: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)
    database = Database(PROJECT, f"tests-{random_hex()}", read_seconds=8)
    yield database
    database.close()


def _opened(database: Database, *, clock: Clock | None = None) -> FirestoreTaskStore:
    return FirestoreTaskStore(
        project=PROJECT,
        database=database._database,
        clock=clock or time.time,
        new_token=random_hex,
        read_seconds=3.0,
    )


def _needs(query: Any) -> tuple[tuple[str, str], ...]:
    """The composite index of a query with conditions and an order: what is equal first, then what it is ordered by."""
    message = query._to_protobuf()
    where = message.where
    filters = list(where.composite_filter.filters) or [where]
    equal = sorted(one.field_filter.field.field_path for one in filters if one.field_filter.op.name in ("EQUAL", "IN"))
    orders = [(order.field.field_path, order.direction.name) for order in message.order_by]
    return (*((path, "ASCENDING") for path in equal), *(one for one in orders if one[0] != "__name__"))


def _every_query(database: Database) -> list[Any]:
    found: list[Any] = [queries.waiting(database, "o", "c")]
    for context_id in (None, "c"):
        for states in ((), (TaskState.WORKING,), (TaskState.WORKING, TaskState.SUBMITTED)):
            for updated_since in (None, 1.0):
                chosen = TaskQuery(context_id=context_id, states=states, updated_since=updated_since)
                newest = queries.newest(database, "o", chosen)
                found += [newest, queries.page(database, newest, limit=2, after=Position(1.0, "t"))]
    return found


def test_every_query_has_its_index_and_every_index_its_query(database: Database) -> None:
    needed = {_needs(query) for query in _every_query(database)}
    needed.add((("role", "ASCENDING"), ("due_at", "ASCENDING")))
    # A sum takes an index of its field.
    needed.add((("owner_key", "ASCENDING"), ("size", "ASCENDING")))
    listed = [tuple((field["fieldPath"], field["order"]) for field in index["fields"]) for index in INDICES["indexes"]]
    assert sorted(listed) == sorted(tuple(sorted(index, key=lambda field: _PLACE.index(field[0]))) for index in needed)


_PLACE = ["owner_key", "context_key", "role", "state", "updated_at", "due_at", "size"]


def test_what_no_question_is_asked_about_is_not_indexed() -> None:
    exempt = [(one["collectionGroup"], one["fieldPath"]) for one in INDICES["fieldOverrides"]]
    assert [one["indexes"] for one in INDICES["fieldOverrides"]] == [[]] * len(exempt)
    records = ("snapshot", "work", "owner", "context_id", "request_key", "token")
    others = [("log", "body"), ("chunks", "body"), ("pushes", "push")]
    others += [("log", "bodies"), ("conversations", "data"), ("claims", "claims")]
    assert exempt == [*(("tasks", field) for field in records), *others]


def test_no_document_is_larger_than_firestore_allows(database: Database) -> None:
    store = _opened(database)
    id_ = created(store).task.id
    store.append(id_, [chunk(id_, "x" * 400_000, append=at > 0) for at in range(4)], payload=b"w" * 3_000_000)
    store.append(id_, [chunk(id_, "y" * 4_000_000)])
    stored = store.get(id_, owner=None)
    assert stored
    assert sum(len(text or "") for text in texts(stored)) == 5_600_000
    task = database.collection("tasks").document(id_)
    sizes = [len(task.get().get("work")) + len(str(task.get().to_dict()))]
    for name in ("log", "chunks"):
        documents = [one.to_dict() for one in task.collection(name).stream()]
        sizes += [sum(map(len, one.get("bodies", [one.get("body")]))) for one in documents if _has_bytes(one)]
    assert max(sizes) < 1_000_000
    assert sum(sizes) > 8_000_000
    store.close()


def _has_bytes(document: dict[str, Any]) -> bool:
    return "bodies" in document or isinstance(document["body"], bytes)


def test_a_snapshot_that_was_replaced_is_not_kept(database: Database) -> None:
    store = _opened(database)
    id_ = created(store).task.id
    for at in range(4):
        store.append(id_, [chunk(id_, "x" * 900_000, append=at > 0)])
    task = database.collection("tasks").document(id_)
    name, count = task.get().get("snapshot")
    kept = {one.id.rpartition("-")[0] for one in task.collection("chunks").stream()}
    logged = {one.get("body")[0] for one in task.collection("log").stream() if isinstance(one.get("body"), list)}
    assert kept == {name, *logged}
    assert count > 1
    store.close()


def test_nothing_is_left_of_a_purged_task(database: Database) -> None:
    clock = Clock()
    store = _opened(database, clock=clock)
    id_ = created(store, request_key="key", payload=b"w" * 1_000_000).task.id
    store.put_config(webhook(id_), delivered=0)
    store.append(id_, [chunk(id_, "x" * 1_000_000, append=False)], request_key="another")
    store.append(id_, [status(id_, TaskState.COMPLETED)])
    assert store.purge(ended_before=clock.pass_by(10), limit=10) == 1
    task = database.collection("tasks").document(id_)
    left = [one.reference.path for one in task.collection("log").stream()]
    left += [one.reference.path for one in task.collection("chunks").stream()]
    for name in ("tasks", "pushes", "requests"):
        left += [one.reference.path for one in database.collection(name).stream()]
    assert left == []
    store.close()


def test_a_service_that_is_away_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", f"{LOOPBACK}:{free_ports(1)[0]}")
    store = FirestoreTaskStore(project=PROJECT, database="d", clock=time.time, new_token=random_hex, read_seconds=0.2)
    with pytest.raises(Unavailable):
        store.get("t", owner=None)
    with pytest.raises(Unavailable):
        created(store)
    with pytest.raises(Unavailable):
        store.due([HUB], limit=1)
    with pytest.raises(Unavailable):
        store.delete_config("t", "p")
    store.close()


def test_a_change_is_tried_again_for_a_while_and_not_for_ever() -> None:
    database = Database(PROJECT, "d", read_seconds=1, contention_seconds=0.05)
    attempts = iter([Contention, Contention, None])

    def attempt() -> str:
        if contention := next(attempts):
            raise contention
        return "done"

    def always_behind() -> str:
        raise Contention

    assert database.with_retries(attempt) == "done"
    with pytest.raises(Unavailable):
        database.with_retries(always_behind)


def test_google_is_imported_on_the_first_use_only() -> None:
    program = (
        "import sys, time\n"
        "from a2a_hub.task_store.firestore import FirestoreTaskStore\n"
        "FirestoreTaskStore(project='p', database='d', clock=time.time, new_token=str)\n"
        "heavy = ('google.api', 'google.auth', 'google.cloud.', 'grpc')\n"
        "sys.stderr.write(','.join(name for name in sys.modules if name.startswith(heavy)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ran.stderr.strip() == ""
