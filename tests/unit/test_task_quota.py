"""The quotas of stored tasks: exact near the limits, and far from them without waiting for the store."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from a2a_hub.a2a.errors import ServiceUnavailable
from a2a_hub.quota.limits import CallerLimits, Quota, QuotaExceeded
from a2a_hub.quota.quotas import TaskQuota
from a2a_hub.task_store.store import Usage
from tests.fakes.quota_ledger import Clock


class Store:
    """The usage that a test sets; `reads` counts how often it is read."""

    def __init__(self, *, tasks: int = 0, size_bytes: int = 0, active: int = 0) -> None:
        self.now = Usage(tasks=tasks, size_bytes=size_bytes, active=active)
        self.reads = 0
        self.is_away = False

    def usage(self, _owner: str) -> Usage:
        self.reads += 1
        if self.is_away:
            raise ServiceUnavailable
        return self.now


class Instance:
    """A quota whose reads in the background happen when a test says so."""

    def __init__(self, store: Store, **limits: int) -> None:
        self.clock = Clock()
        self.waiting: list[Callable[[], object]] = []
        none = {"running_tasks": 0, "stored_tasks": 0, "stored_megabytes": 0}
        self.quota = TaskQuota(
            CallerLimits(**none | limits), cast("Any", store), now=self.clock, run=self.waiting.append
        )

    def admit(self) -> None:
        self.quota.check_new_task("hanako")

    def settle(self) -> None:
        while self.waiting:
            self.waiting.pop()()


@pytest.mark.parametrize(
    ("store", "limits", "quota"),
    [
        (Store(active=3), {"running_tasks": 3}, Quota.RUNNING_TASKS),
        (Store(tasks=3), {"stored_tasks": 3}, Quota.STORED_TASKS),
        (Store(size_bytes=3_000_000), {"stored_megabytes": 3}, Quota.STORED_BYTES),
    ],
)
def test_who_has_reached_a_limit_gets_no_further_task_until_there_is_room(
    store: Store, limits: dict[str, int], quota: Quota
) -> None:
    instance = Instance(store, **limits)
    instance.admit()
    instance.settle()
    with pytest.raises(QuotaExceeded) as refused:
        instance.admit()
    assert refused.value.quota is quota
    assert int(refused.value.headers["retry-after"]) > 0
    store.now = Usage(tasks=0, size_bytes=0, active=0)
    instance.admit()


def test_tasks_that_were_made_here_count_before_the_store_is_read_again() -> None:
    store = Store()
    instance = Instance(store, running_tasks=5)
    for _ in range(5):
        instance.admit()
    assert store.reads == 0
    store.now = Usage(tasks=5, size_bytes=0, active=5)
    with pytest.raises(QuotaExceeded):
        instance.admit()


def test_a_task_that_is_admitted_while_the_usage_is_read_still_counts() -> None:
    store = Store()
    instance = Instance(store, running_tasks=1)
    instance.quota.check_new_task("hanako")
    (read,) = instance.waiting
    read()
    store.now = Usage(tasks=1, size_bytes=0, active=1)
    with pytest.raises(QuotaExceeded):
        instance.admit()


def test_short_tasks_in_a_row_are_no_running_ones() -> None:
    instance = Instance(Store(), running_tasks=2)
    for _ in range(50):
        instance.admit()


def test_far_from_a_limit_nobody_waits_for_the_store_and_it_is_read_once_in_some_seconds() -> None:
    store = Store()
    instance = Instance(store, running_tasks=1000)
    for _ in range(100):
        instance.admit()
    assert (store.reads, len(instance.waiting)) == (0, 1)
    instance.settle()
    instance.clock.seconds += 5
    for _ in range(100):
        instance.admit()
    assert (store.reads, len(instance.waiting)) == (1, 1)


def test_nobody_is_refused_while_the_store_is_away() -> None:
    store = Store(active=9)
    instance = Instance(store, running_tasks=3)
    instance.admit()
    instance.settle()
    store.is_away = True
    for _ in range(10):
        instance.admit()


def test_without_limits_the_store_is_not_asked() -> None:
    store = Store()
    instance = Instance(store)
    instance.admit()
    instance.settle()
    assert store.reads == 0
