"""The tasks function has the hub run what is due; a hub that takes a request and dies without a word is no obstacle."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.model import TaskState
from a2a_hub.http.client import HttpClient
from a2a_hub.identity.principal import TASKS_FUNCTION, Principal
from a2a_hub.identity.signed_principal import PrincipalSigner
from a2a_hub.queue.wakeups import Wakeups
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import HUB
from a2a_hub.telemetry.log import Log
from functions.tasks.hub_runs import HubRuns, Outcome, run_slots
from functions.tasks.slots import Slots
from tests.contract.task_store.stores import created, status
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.signatures import KEYS
from tests.integration.gates import principal_at

PATIENCE_SECONDS = 20.0
SIGNER = PrincipalSigner(KEYS["tasks"].private, now=time.time, audience="hub")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTaskStore]:
    store = SqliteTaskStore(tmp_path / "tasks.db", clock=time.time, new_token=random_hex)
    yield store
    store.close()


class Published(Wakeups):
    """Wake-ups that go nowhere."""

    def __init__(self) -> None:
        self.wakeups: list[tuple[str, str, float | None]] = []

    def publish(self, topic: str, task_id: str, *, due_at: float | None = None) -> None:
        self.wakeups.append((topic, task_id, due_at))

    def close(self) -> None:
        """Does nothing."""


def _runs(store: SqliteTaskStore, hub: HttpServer, *, wakeups: Published | None = None, at_once: int = 16) -> HubRuns:
    log = Log(lambda _: None, clock=time.monotonic, new_id=random_hex, function="tasks")
    return HubRuns(
        store,
        hub_url=hub.url,
        http=HttpClient(),
        signer=SIGNER,
        tokens=None,
        wakeups=wakeups or Published(),
        slots=run_slots(at_once),
        longest_seconds=60,
        log=log,
    )


def test_the_hub_is_asked_as_the_tasks_function_and_told_how_long_the_run_may_take(store: SqliteTaskStore) -> None:
    task_id = created(store).task.id
    with HttpServer(lambda exchange: exchange.json({"state": "completed"})) as hub:
        assert _runs(store, hub).run(task_id) is Outcome.DONE
    (received,) = hub.received
    assert received.json == {"taskId": task_id, "seconds": 60}
    assert principal_at(received) == Principal(subject=TASKS_FUNCTION)


def test_a_wakeup_that_comes_twice_or_of_a_task_that_is_not_there_asks_no_hub(store: SqliteTaskStore) -> None:
    leased, ended, workers = created(store).task.id, created(store).task.id, created(store, role="developer").task.id
    assert store.lease("the hub", seconds=60, roles=[HUB], task_id=leased)
    store.append(ended, [status(ended, TaskState.COMPLETED)])
    with HttpServer(lambda _: None, listens=False) as hub:
        runs = _runs(store, hub)
        assert [runs.run(each) for each in (leased, ended, workers, "nobodys")] == [Outcome.DONE] * 4


def test_a_hub_that_cannot_be_reached_or_refuses_is_asked_again_with_the_next_wakeup(store: SqliteTaskStore) -> None:
    task_id = created(store).task.id
    with HttpServer(lambda _: None, listens=False) as away:
        assert _runs(store, away).run(task_id) is Outcome.FAILED
    with HttpServer(lambda exchange: exchange.answer(503)) as full:
        assert _runs(store, full).run(task_id) is Outcome.FAILED


def test_the_task_of_a_hub_that_died_is_woken_for_when_its_lease_has_run_out(store: SqliteTaskStore) -> None:
    task_id, wakeups = created(store).task.id, Published()

    def die(exchange: Exchange) -> None:
        assert store.lease("the hub", seconds=60, roles=[HUB], task_id=task_id)
        exchange.reset()

    with HttpServer(die) as hub:
        assert _runs(store, hub, wakeups=wakeups).run(task_id) is Outcome.DONE
    stored = store.get(task_id, owner=None)
    assert stored is not None
    assert wakeups.wakeups == [("tasks", task_id, stored.lease_until)]


def test_one_that_finds_no_slot_comes_again(store: SqliteTaskStore) -> None:
    ids, asked, go_on = [created(store).task.id for _ in range(2)], threading.Event(), threading.Event()

    def wait(exchange: Exchange) -> None:
        asked.set()
        assert go_on.wait(PATIENCE_SECONDS)
        exchange.json({"state": "completed"})

    with HttpServer(wait) as hub:
        runs = _runs(store, hub, at_once=1)
        first = threading.Thread(target=runs.run, args=ids[:1])
        first.start()
        assert asked.wait(PATIENCE_SECONDS)
        assert runs.run(ids[1]) is Outcome.BUSY
        go_on.set()
        first.join()
        assert runs.run(ids[1]) is Outcome.DONE


@pytest.mark.parametrize(("at_once", "of_a_kind"), [(1, 1), (2, 1), (3, 2), (4, 3), (16, 12)])
def test_neither_fresh_nor_lost_work_takes_the_others_share(at_once: int, of_a_kind: int) -> None:
    for lost in (False, True):
        slots = run_slots(at_once)
        taken = [slots.acquire(str(number), lost) for number in range(at_once)]
        assert [slot is not None for slot in taken] == [True] * of_a_kind + [False] * (at_once - of_a_kind)
        others = [slots.acquire(f"other {number}", not lost) for number in range(at_once)]
        assert sum(slot is not None for slot in others) == at_once - of_a_kind
        assert slots.has_refused() == (at_once - of_a_kind > 0 or at_once == 1)
        assert not slots.has_refused()
        assert taken[0] is not None
        slots.release(taken[0])
        assert slots.acquire("the next", lost)


def test_a_task_that_is_due_again_though_nobody_has_answered_is_asked_for_again_in_its_own_slot() -> None:
    now = [0.0]
    slots = Slots(1, 1, clock=lambda: now[0])
    silent = slots.acquire("t", False)
    assert silent is not None
    assert slots.is_younger("t", 30)
    now[0] += 31
    assert not slots.is_younger("t", 30)
    again = slots.acquire("t", True, replaces=True)
    assert again is not None
    slots.release(silent)
    assert slots.is_younger("t", 30)
    assert slots.acquire("another", False) is None
    slots.release(again)
    assert slots.acquire("another", False)
