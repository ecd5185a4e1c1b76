"""Waiting for a log to go on."""

import threading
import time

from a2a_hub.a2a.model import TaskState
from tests.contract.task_store.stores import Store, created, status

LONG_SECONDS = 30.0


def _waiting(store: Store, task_id: str, *, after: int) -> tuple[threading.Thread, list[bool]]:
    results: list[bool] = []
    thread = threading.Thread(
        target=lambda: results.append(store.wait(task_id, after=after, timeout_seconds=LONG_SECONDS))
    )
    thread.start()
    return thread, results


def test_who_is_behind_does_not_wait(store: Store) -> None:
    id_ = created(store).task.id
    assert store.wait(id_, after=0, timeout_seconds=LONG_SECONDS) is True


def test_waiting_ends_when_nothing_comes_in_time(store: Store) -> None:
    id_ = created(store).task.id
    started = time.monotonic()
    assert store.wait(id_, after=1, timeout_seconds=0.05) is False
    assert 0.05 <= time.monotonic() - started < 10
    assert store.wait(id_, after=1, timeout_seconds=0) is False


def test_a_task_that_is_not_there_has_no_next_entry(store: Store) -> None:
    assert store.wait("none", after=0, timeout_seconds=0.05) is False


def test_who_waits_is_woken_by_this_instance(store: Store) -> None:
    id_ = created(store).task.id
    thread, results = _waiting(store, id_, after=1)
    store.append(id_, [status(id_, TaskState.WORKING)])
    thread.join(LONG_SECONDS / 2)
    assert results == [True]


def test_who_waits_is_woken_by_another_instance(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    for version in range(1, 4):
        thread, results = _waiting(store, id_, after=version)
        other.append(id_, [status(id_, TaskState.WORKING)])
        thread.join(LONG_SECONDS / 2)
        assert results == [True]


def test_who_comes_and_goes_misses_nothing(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    for version in range(1, 40):
        thread, results = _waiting(store, id_, after=version)
        other.append(id_, [status(id_, TaskState.WORKING)])
        thread.join(LONG_SECONDS / 2)
        assert results == [True]


def test_every_subscriber_reads_the_same_events_in_the_same_order(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    seen: list[list[int]] = [[], [], [], []]

    def follow(at: int) -> None:
        subscribed = (store, other)[at % 2]
        after = 0
        while after < 12:
            assert subscribed.wait(id_, after=after, timeout_seconds=LONG_SECONDS)
            new = [entry.sequence for entry in subscribed.entries(id_, after=after)]
            seen[at] += new
            after = new[-1]

    threads = [threading.Thread(target=follow, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for at in range(11):
        (store, other)[at % 2].append(id_, [status(id_, TaskState.WORKING, said=str(at))])
    for thread in threads:
        thread.join(LONG_SECONDS)
    assert seen == [list(range(1, 13))] * 4
