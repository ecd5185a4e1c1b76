"""Readers of a log whose source of news is silent, or whose store is away."""

import threading

import pytest

from a2a_hub.task_store.log_watch import LogWatch, Sized
from a2a_hub.task_store.store import Entry, Unavailable
from tests.contract.task_store.stores import a_task

LONG_SECONDS = 30.0


class Silent:
    """A source that reports nothing."""

    def start(self, watch: LogWatch) -> None: ...

    def add(self, task_id: str, *, after: int) -> None: ...

    def remove(self, task_id: str) -> None: ...

    def close(self) -> None: ...


class Stored:
    """A log, and a store that may be away."""

    def __init__(self, count: int) -> None:
        self.entries = [Entry(sequence, a_task()) for sequence in range(1, count + 1)]
        self.reads = 0
        self.away = False

    def read(self, _: str, after: int) -> list[Sized]:
        self.reads += 1
        if self.away:
            raise Unavailable("away")
        return [(entry, 10) for entry in self.entries[after:]]


def test_a_log_of_which_nothing_was_heard_for_long_is_read() -> None:
    stored = Stored(3)
    watch = LogWatch(Silent(), stored.read, silence_seconds=-1.0)
    woken = threading.Event()
    first = watch.follow("t", after=1, wake=lambda: None)
    second = watch.follow("t", after=0, wake=woken.set)
    assert first.take() == stored.entries[1:]
    assert woken.is_set()
    assert second.take() == stored.entries
    assert second.take() == []


def test_who_waits_reads_what_the_source_has_lost() -> None:
    stored = Stored(1)

    class Losing(Silent):
        def add(self, task_id: str, *, after: int) -> None:  # noqa: ARG002
            stored.entries.append(Entry(2, a_task()))

    watch = LogWatch(Losing(), stored.read)
    assert watch.wait("t", after=1, timeout_seconds=LONG_SECONDS)
    assert not watch.wait("t", after=2, timeout_seconds=0.05)


@pytest.mark.parametrize("version", [0, 3])
def test_a_log_is_not_read_without_need(version: int) -> None:
    stored = Stored(3)
    watch = LogWatch(Silent(), stored.read)
    reader = watch.follow("t", after=3, wake=lambda: None)
    watch.advance("t", version)
    assert reader.take() == []
    assert stored.reads == 0
    assert reader.gone is (version == 0)


def test_who_could_not_read_during_an_outage_is_woken_afterwards() -> None:
    stored = Stored(3)
    stored.away = True
    watch = LogWatch(Silent(), stored.read)
    woken = threading.Event()
    reader = watch.follow("t", after=0, wake=woken.set)
    watch.advance("t", 3)
    assert woken.is_set()
    woken.clear()
    assert reader.take() == []
    stored.away = False
    assert woken.wait(LONG_SECONDS)
    assert reader.take() == stored.entries
    watch.close()


def test_entries_are_read_once_for_all() -> None:
    stored = Stored(3)
    watch = LogWatch(Silent(), stored.read)
    readers = [watch.follow("t", after=0, wake=lambda: None) for _ in range(5)]
    watch.advance("t", 3)
    assert [reader.take() for reader in readers] == [stored.entries] * 5
    assert stored.reads == 1
