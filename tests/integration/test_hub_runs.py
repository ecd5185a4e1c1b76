"""The tasks function has the hub run what nobody runs; a hub that takes a request and dies without a word is no obstacle."""

import itertools
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.http.client import HttpClient
from a2a_hub.identity.principal import TASKS_FUNCTION
from a2a_hub.identity.signed_principal import HEADER, PrincipalSigner
from a2a_hub.runtime.ids import random_hex
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import HUB
from a2a_hub.telemetry.log import Log
from functions.tasks.hub_runs import HubRunStarter
from tests.contract.task_store.stores import created
from tests.fakes.http_server import Exchange, HttpServer

PATIENCE_SECONDS = 20.0
SIGNER = PrincipalSigner(("a-key-that-signs-for-the-tasks-function",), now=time.time)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTaskStore]:
    store = SqliteTaskStore(tmp_path / "tasks.db", clock=time.time, new_token=random_hex)
    yield store
    store.close()


class SilentHub(HttpServer):
    """Takes every request, and never answers any."""

    def __init__(self) -> None:
        super().__init__(self._be_silent)
        self.asked = threading.Semaphore(0)

    def await_question(self) -> None:
        assert self.asked.acquire(timeout=PATIENCE_SECONDS)

    def _be_silent(self, exchange: Exchange) -> None:
        self.asked.release()
        exchange.wait_until_left()


def _runs(store: SqliteTaskStore, hub: HttpServer, *, repeat_after_seconds: float) -> HubRunStarter:
    log = Log(lambda _: None, clock=time.monotonic, new_id=random_hex, function="tasks")
    return HubRunStarter(
        store,
        hub_url=hub.url,
        http=HttpClient(),
        signer=SIGNER,
        tokens=None,
        log=log,
        threads=Threads("hub run"),
        repeat_after_seconds=repeat_after_seconds,
    )


def test_the_hub_is_asked_once_for_each_due_task_as_the_tasks_function(store: SqliteTaskStore) -> None:
    ids = {created(store).task.id for _ in range(3)}
    with SilentHub() as hub:
        runs = _runs(store, hub, repeat_after_seconds=3600)
        assert (runs.start_due(), runs.start_due()) == (3, 0)
        for _ in ids:
            hub.await_question()
        assert {received.json["taskId"] for received in hub.received} == ids
        for received in hub.received:
            verified = SIGNER.verify(received.headers[HEADER], method="POST", path=received.path)
            assert verified is not None
            assert verified[0].subject == TASKS_FUNCTION


def test_a_task_that_is_due_again_is_asked_for_again_though_nobody_has_answered(
    store: SqliteTaskStore,
) -> None:
    ids = [created(store).task.id for _ in range(20)]
    with SilentHub() as hub:
        runs = _runs(store, hub, repeat_after_seconds=0)
        assert runs.start_due() == 16
        assert runs.start_due() == 16
        for _ in range(32):
            hub.await_question()
        # Whoever asked for more at once would take all of the hub's threads.
        assert {received.json["taskId"] for received in hub.received} == set(ids[:16])


def test_no_more_than_sixteen_tasks_are_run_at_once(store: SqliteTaskStore) -> None:
    ids = [created(store).task.id for _ in range(20)]
    with SilentHub() as hub:
        runs = _runs(store, hub, repeat_after_seconds=3600)
        assert runs.start_due() == 16
        for task_id in ids[:16]:
            assert store.lease("the hub", seconds=60, roles=[HUB], task_id=task_id)
        assert len(store.due([HUB], limit=20)) == 4
        assert runs.start_due() == 0


def test_a_task_with_a_running_lease_is_left_alone(store: SqliteTaskStore) -> None:
    task_id = created(store).task.id
    assert store.lease("somebody", seconds=60, roles=[HUB], task_id=task_id)
    with SilentHub() as hub:
        assert _runs(store, hub, repeat_after_seconds=0).start_due() == 0


def test_a_hub_that_cannot_be_reached_is_asked_again_at_the_next_look(store: SqliteTaskStore) -> None:
    created(store)
    refusing = HttpServer(lambda _: None, listens=False)
    with refusing:
        runs = _runs(store, refusing, repeat_after_seconds=3600)
        for _ in itertools.repeat(None, 3):
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not runs.start_due():
                assert time.monotonic() < deadline
                time.sleep(0.01)
