"""A relay's subscribers all see the same events in the same order; who leaves last ends the work."""

import threading
from collections.abc import Iterator

import pytest

from a2a_hub.a2a.relay import Abandoned, Relay
from a2a_hub.runtime.threads import Threads
from tests.fakes.waiting import Waiting

PATIENCE_SECONDS = 30.0
AT_ONCE = 0.001


class Tap(Iterator[int]):
    """Events that come when the test lets them."""

    def __init__(self, *, fail_at: int | None = None, stop_at: int = 1_000) -> None:
        self.open = threading.Semaphore(0)
        self.closed = threading.Event()
        self.asked = 0
        self._fail_at = fail_at
        self._stop_at = stop_at

    def __next__(self) -> int:
        self.asked += 1
        assert self.open.acquire(timeout=PATIENCE_SECONDS)
        if self.asked - 1 == self._fail_at:
            raise RuntimeError("the source failed")
        if self.asked - 1 == self._stop_at:
            raise StopIteration
        return self.asked - 1

    def let(self, count: int = 1) -> None:
        self.open.release(count)

    def close(self) -> None:
        self.closed.set()


def _joined(relay: Relay[int], *, idle_seconds: float = PATIENCE_SECONDS) -> Waiting[int]:
    return Waiting(relay.subscribe(), idle_seconds=idle_seconds)


def _started(source: Iterator[int]) -> tuple[Relay[int], Waiting[int], threading.Event, threading.Event]:
    abandoned, ended = threading.Event(), threading.Event()
    relay = Relay[int](on_left=abandoned.set, ends_when_left=True)
    subscription = _joined(relay)
    relay.start(source, Threads("test"), on_end=ended.set)
    return relay, subscription, abandoned, ended


def test_several_subscribers_see_the_same_events_in_the_same_order_whenever_they_joined() -> None:
    tap = Tap(stop_at=100)
    relay, first, _, _ = _started(tap)
    tap.let(10)
    assert [next(first) for _ in range(10)] == list(range(10))
    seen: list[list[int | None]] = [[] for _ in range(8)]
    joined = threading.Barrier(len(seen) + 1)

    def follow(events: list[int | None]) -> None:
        subscription = _joined(relay)
        joined.wait(PATIENCE_SECONDS)
        events.extend(subscription)

    threads = [threading.Thread(target=follow, args=(events,)) for events in seen]
    for thread in threads:
        thread.start()
    joined.wait(PATIENCE_SECONDS)
    tap.let(91)
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert seen == [list(range(100))] * 8
    assert list(first) == list(range(10, 100))


def test_a_silent_source_is_told_as_none_and_loses_nothing() -> None:
    tap = Tap(stop_at=1)
    relay, patient, _, _ = _started(tap)
    hasty = _joined(relay, idle_seconds=AT_ONCE)
    assert [next(hasty) for _ in range(3)] == [None, None, None]
    tap.let(2)
    assert list(patient) == [0]
    assert [event for event in hasty if event is not None] == [0]


def test_the_last_one_to_leave_ends_the_work_and_closes_the_source() -> None:
    tap = Tap()
    relay, first, abandoned, ended = _started(tap)
    second = _joined(relay)
    tap.let(3)
    assert [next(second) for _ in range(3)] == [0, 1, 2]
    first.close()
    first.close()
    assert not abandoned.is_set()
    second.close()
    assert abandoned.is_set()
    tap.let()
    assert ended.wait(PATIENCE_SECONDS)
    assert tap.closed.wait(PATIENCE_SECONDS)
    assert tap.asked == 4


def test_a_relay_that_all_have_left_cannot_be_joined() -> None:
    tap = Tap()
    relay, only, _, _ = _started(tap)
    only.close()
    with pytest.raises(Abandoned):
        relay.subscribe()
    tap.let()


def test_a_relay_that_has_ended_still_tells_its_events() -> None:
    tap = Tap(stop_at=2)
    relay, first, abandoned, _ = _started(tap)
    tap.let(3)
    assert list(first) == [0, 1]
    late = _joined(relay)
    assert list(late) == [0, 1]
    assert not abandoned.is_set()


def test_an_error_comes_after_all_events_to_every_subscriber_and_then_nothing() -> None:
    tap = Tap(fail_at=2)
    relay, first, abandoned, ended = _started(tap)
    second = _joined(relay)
    tap.let(3)
    for subscription in (first, second):
        assert [next(subscription), next(subscription)] == [0, 1]
        with pytest.raises(RuntimeError, match="the source failed"):
            next(subscription)
        assert list(subscription) == []
    assert ended.is_set()
    assert not abandoned.is_set()


def test_one_subscriber_that_leaves_takes_nothing_from_the_others() -> None:
    tap = Tap(stop_at=5)
    relay, first, abandoned, _ = _started(tap)
    leaver = _joined(relay)
    tap.let(2)
    assert next(leaver) == 0
    leaver.close()
    assert list(leaver) == []
    tap.let(4)
    assert list(first) == [0, 1, 2, 3, 4]
    assert not abandoned.is_set()


def test_where_no_thread_is_to_be_had_the_events_come_all_the_same() -> None:
    class Exhausted(Threads):
        def run(self, _: object) -> None:
            raise RuntimeError("can't start new thread")

    ended = threading.Event()
    relay = Relay[int]()
    subscription = _joined(relay)
    relay.start(iter([1, 2, 3]), Exhausted("test"), on_end=ended.set)
    assert ended.is_set()
    assert list(subscription) == [1, 2, 3]
