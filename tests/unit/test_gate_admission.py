"""The rate limit of one caller: a burst, then as fast as it says, for as many callers as memory allows."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from functions.gate.admission import ConcurrencyLimit, RateLimit


class Clock:
    """Stands still until it is told to go on."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_burst_passes_and_then_one_each_time_that_one_is_due() -> None:
    clock = Clock()
    limit = RateLimit(60, clock=clock)
    assert [limit.seconds_to_wait("a") for _ in range(60)] == [0] * 60
    assert limit.seconds_to_wait("a") == pytest.approx(1)
    clock.seconds = 0.5
    assert limit.seconds_to_wait("a") == pytest.approx(0.5)
    clock.seconds = 1.0
    assert limit.seconds_to_wait("a") == 0
    assert limit.seconds_to_wait("a") == pytest.approx(1)


def test_waiting_costs_nothing_and_rest_saves_no_more_than_a_burst() -> None:
    clock = Clock()
    limit = RateLimit(3, clock=clock)
    assert [limit.seconds_to_wait("a") == 0 for _ in range(10)] == [True] * 3 + [False] * 7
    clock.seconds = 3600.0
    assert [limit.seconds_to_wait("a") == 0 for _ in range(4)] == [True] * 3 + [False]


def test_each_caller_has_a_limit_of_their_own() -> None:
    limit = RateLimit(1, clock=Clock())
    assert [limit.seconds_to_wait(subject) == 0 for subject in "abab"] == [True, True, False, False]


def test_zero_is_no_limit() -> None:
    limit = RateLimit(0, clock=Clock())
    assert not any(limit.seconds_to_wait("a") for _ in range(1000))


def test_the_one_who_has_not_called_for_longest_is_forgotten_first() -> None:
    limit = RateLimit(1, clock=Clock(), max_subjects=2)
    for subject in ("a", "b", "a", "c"):
        limit.seconds_to_wait(subject)
    assert limit.seconds_to_wait("a") > 0
    assert limit.seconds_to_wait("b") == 0


def test_callers_at_once_get_no_more_than_one_after_another() -> None:
    limit = RateLimit(50, clock=Clock())
    ready = threading.Barrier(16)

    def passed(_: int) -> int:
        ready.wait()
        return sum(limit.seconds_to_wait("a") == 0 for _ in range(20))

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(passed, range(16))) == 50


def test_each_caller_does_so_many_things_at_a_time_and_another_when_one_has_ended() -> None:
    limit = ConcurrencyLimit(2, wait_seconds=0)
    with limit.slot("a") as first, limit.slot("b") as anothers:
        with limit.slot("a") as second, limit.slot("a") as third:
            assert (first, anothers, second, third) == (True, True, True, False)
        with limit.slot("a") as fourth:
            assert fourth


def test_what_breaks_off_has_ended() -> None:
    limit = ConcurrencyLimit(1, wait_seconds=0)

    def breaks_off() -> None:
        with limit.slot("a") as may:
            assert may
            raise OSError("broke off")

    for _ in range(3):
        with pytest.raises(OSError, match="broke off"):
            breaks_off()


def test_who_finds_no_room_has_it_as_soon_as_one_ends() -> None:
    limit = ConcurrencyLimit(1, wait_seconds=60)
    begun, end = threading.Event(), threading.Event()

    def takes_its_time() -> None:
        with limit.slot("a"):
            begun.set()
            assert end.wait(30)

    def comes_later() -> bool:
        with limit.slot("a") as may:
            return may

    with ThreadPoolExecutor(5) as threads:
        first = threads.submit(takes_its_time)
        assert begun.wait(30)
        others = [threads.submit(comes_later) for _ in range(4)]
        end.set()
        first.result(30)
        assert all(other.result(30) for other in others)
