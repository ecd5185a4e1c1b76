"""An idle deployment hardly reads its store; work that is under way is looked after all the same."""

import time
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest

from a2a_hub.http.client import HttpClient
from a2a_hub.identity.signed_principal import PrincipalSigner
from a2a_hub.queue.wakeups import Wakeups
from a2a_hub.runtime.background import Background
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import HUB, Store
from a2a_hub.telemetry.log import Log
from functions.tasks.config import read
from functions.tasks.hub_runs import HubRuns, run_slots
from functions.tasks.wakeups import TaskWork
from functions.tasks.webhooks.delivery import deliverer
from functions.tasks.workers.leasing import Leasing, WorkerWaits
from tests.contract.task_store.stores import created
from tests.fakes.signatures import KEYS, TASKS_SETTINGS

_MINUTES = 60


class CountingStore:
    """A store that counts its calls."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        def counted(*arguments: Any, **named: Any) -> Any:
            self.calls[name] += 1
            return method(*arguments, **named)

        return counted


class Idle(Wakeups):
    """The sweeps of one process, in a time of the test's own."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.now = 1_000_000.0
        self.store = SqliteTaskStore(folder / "tasks.db", clock=lambda: self.now, new_token=random_hex)
        self.counting = CountingStore(self.store)
        counted = cast("Store", self.counting)
        config = read(
            {
                **TASKS_SETTINGS,
                "HUB_URL": "http://127.0.0.1:9",
                "TASK_STORE": f"sqlite:{folder / 'tasks.db'}",
                "GOOGLE_CLOUD_PROJECT": "p",
                **settings,
            }
        )
        self.woken: list[tuple[str, str, float | None]] = []
        log = Log(lambda _: None, clock=time.monotonic, new_id=random_hex, function="tasks")
        slots = run_slots(config.runs_at_once)
        runs = HubRuns(
            counted,
            hub_url=config.hub_url,
            http=HttpClient(),
            signer=PrincipalSigner(KEYS["tasks"].private, now=time.time, audience="hub"),
            tokens=None,
            wakeups=self,
            slots=slots,
            longest_seconds=config.run_seconds,
            log=log,
        )
        waits = WorkerWaits(poll_seconds=2, at_once=1, clock=lambda: self.now)
        leasing = Leasing(
            counted,
            waits,
            max_attempts=5,
            untaken_seconds=config.retention_seconds,
            now=lambda: self.now,
            assigned=lambda _: None,
        )
        self._background = Background(log, in_threads=False, now=lambda: self.now)
        TaskWork(
            counted,
            runs,
            slots,
            deliverer(config, counted, log, self),
            leasing,
            wakeups=self,
            background=self._background,
            config=config,
            now=lambda: self.now,
        )

    def publish(self, topic: str, task_id: str, *, due_at: float | None = None) -> None:
        self.woken.append((topic, task_id, due_at))

    def close(self) -> None:
        """Does nothing."""

    def pass_time(self, seconds: float, *, step: float) -> None:
        """Let time pass; whatever is due by the clock is done, every `step`."""
        end = self.now + seconds
        while self.now < end:
            self._background.run_due()
            self.now += step


@pytest.mark.parametrize(
    ("wakeups", "step"),
    [("local:http://127.0.0.1:9/wakeups", 1.0), ("pubsub", 60.0)],
    ids=["a process with threads", "requests of Cloud Scheduler"],
)
def test_an_idle_deployment_reads_its_store_less_than_once_in_ten_seconds(
    tmp_path: Path, wakeups: str, step: float
) -> None:
    idle = Idle(tmp_path, WAKEUPS=wakeups)
    idle.pass_time(_MINUTES * 60, step=step)
    assert 0 < idle.counting.calls.total() <= _MINUTES * 60 * 0.1, idle.counting.calls
    assert idle.woken == []
    idle.store.close()


def test_a_task_whose_process_died_is_woken_for_when_its_lease_has_run_out(tmp_path: Path) -> None:
    idle = Idle(tmp_path, WAKEUPS="local:http://127.0.0.1:9/wakeups")
    idle.pass_time(100, step=1)
    task_id = created(idle.store).task.id
    lease = idle.store.lease("a hub that dies", seconds=30, roles=[HUB], task_id=task_id)
    assert lease is not None
    while not idle.woken:
        idle.pass_time(0.5, step=0.5)
    assert idle.woken == [("tasks", task_id, None)]
    assert lease.stored.lease_until <= idle.now - 0.5 <= lease.stored.lease_until + 0.5
    idle.store.close()


def test_a_sweep_of_cloud_scheduler_comes_again_for_what_is_due_before_the_next(tmp_path: Path) -> None:
    idle = Idle(tmp_path, WAKEUPS="pubsub")
    soon, later = (created(idle.store).task.id for _ in range(2))
    for task_id, seconds in ((soon, 30), (later, 90)):
        assert idle.store.lease("a hub", seconds=seconds, roles=[HUB], task_id=task_id)
    idle.pass_time(60, step=60)
    assert idle.woken == [("sweeps", "tasks", 1_000_030.0)]
    idle.store.close()
