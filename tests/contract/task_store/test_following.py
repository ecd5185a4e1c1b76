"""Readers of a log, on whichever instance it is written."""

import threading

from a2a_hub.a2a.model import TaskState
from a2a_hub.task_store.log_watch import Reader
from a2a_hub.task_store.store import Entry
from tests.contract.task_store.stores import Clock, Store, chunk, created, status

LONG_SECONDS = 30.0
# A stream looks at its log from time to time, also when nothing woke it: a report may get lost.
LOOK_SECONDS, MAX_POLLS = 5.0, 12


class Follower:
    """Somebody who reads a log and sleeps until woken when there is nothing to read."""

    def __init__(self, store: Store, task_id: str, *, after: int) -> None:
        self.woken = threading.Event()
        self.reader: Reader = store.follow(task_id, after=after, wake=self.woken.set)

    def read(self, count: int) -> list[Entry]:
        """The next entries, exactly so many."""
        found: list[Entry] = []
        looks = 0
        while len(found) < count:
            new = self.reader.take()
            found += new
            if not new:
                looks += not self.woken.wait(LOOK_SECONDS)
                assert looks < MAX_POLLS
                self.woken.clear()
        assert len(found) == count
        return found


def test_a_reader_has_every_entry_once_and_in_order(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    followers = [Follower(one, id_, after=0) for one in (store, store, other, other)]
    for at in range(12):
        (store, other)[at % 2].append(id_, [status(id_, TaskState.WORKING, said=str(at))] * (1 + at % 3))
    log = store.entries(id_, after=0)
    assert [entry.sequence for entry in log] == list(range(1, 25 + 1))
    for follower in followers:
        assert follower.read(len(log)) == log
        assert follower.reader.take() == []


def test_a_reader_begins_where_it_was_told(store: Store) -> None:
    id_ = created(store).task.id
    store.append(id_, [status(id_, TaskState.WORKING)] * 4)
    first = Follower(store, id_, after=3)
    assert [entry.sequence for entry in first.read(2)] == [4, 5]
    late = Follower(store, id_, after=1)
    assert [entry.sequence for entry in late.read(4)] == [2, 3, 4, 5]


def test_who_reads_slowly_gets_large_entries_a_few_at_a_time(roomy: Store, other: Store) -> None:
    id_ = created(roomy).task.id
    fast, slow = Follower(roomy, id_, after=1), Follower(roomy, id_, after=1)
    for _ in range(6):
        roomy.append(id_, [chunk(id_, "x" * 150_000, append=False)])
    expected = other.entries(id_, after=1)
    assert fast.read(6) == expected
    first = slow.reader.take()
    assert len(first) < 6
    assert first + slow.read(6 - len(first)) == expected


def test_a_task_that_does_not_exist_is_gone(store: Store) -> None:
    follower = Follower(store, "none", after=0)
    assert follower.woken.wait(LONG_SECONDS)
    assert follower.reader.gone
    assert follower.reader.take() == []


def test_who_reads_a_deleted_task_hears_of_it(store: Store, other: Store, clock: Clock) -> None:
    id_ = created(store).task.id
    followers = [Follower(one, id_, after=0) for one in (store, other)]
    store.append(id_, [status(id_, TaskState.INPUT_REQUIRED)])
    for follower in followers:
        follower.read(2)
        assert not follower.reader.gone
    assert other.purge(ended_before=clock.pass_by(10), limit=10) == 1
    for follower in followers:
        for _ in range(MAX_POLLS):
            assert follower.reader.take() == []
            if follower.reader.gone:
                break
            follower.woken.wait(LOOK_SECONDS)
            follower.woken.clear()
        assert follower.reader.gone


def test_who_left_is_not_woken(store: Store) -> None:
    id_ = created(store).task.id
    left, stays = Follower(store, id_, after=1), Follower(store, id_, after=1)
    left.reader.close()
    left.reader.close()
    left.woken.clear()
    store.append(id_, [status(id_, TaskState.WORKING)])
    assert len(stays.read(1)) == 1
    assert not left.woken.is_set()
    stays.reader.close()
    again = Follower(store, id_, after=1)
    assert len(again.read(1)) == 1
