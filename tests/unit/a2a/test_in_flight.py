"""Identical requests run once while one of them runs, and only those."""

import threading
from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from a2a_hub.a2a.in_flight import InFlight
from a2a_hub.a2a.relay import Relay

PATIENCE_SECONDS = 30.0


class Work:
    """Runs when it is called, says so, and ends when the test lets it."""

    def __init__(self, *, error: Exception | None = None) -> None:
        self.started = threading.Event()
        self.may_end = threading.Event()
        self.runs = 0
        self._error = error

    def __call__(self) -> int:
        self.runs += 1
        self.started.set()
        assert self.may_end.wait(PATIENCE_SECONDS)
        if self._error is not None:
            raise self._error
        return self.runs


class Shared:
    """A key whose reading can be waited for: a second look-up means that an identical request has arrived."""

    def __init__(self) -> None:
        self.looked_up = threading.Semaphore(0)

    def __hash__(self) -> int:
        self.looked_up.release()
        return 1

    def __eq__(self, other: object) -> bool:
        return self is other


def _ran_twice() -> int:
    raise AssertionError("an identical request ran a second time")


def test_identical_requests_run_once_and_all_get_the_result() -> None:
    in_flight, work, key = InFlight(), Work(), Shared()
    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(in_flight.once, key, "content", work)
        assert work.started.wait(PATIENCE_SECONDS)
        while key.looked_up.acquire(blocking=False):
            pass
        others = [pool.submit(in_flight.once, key, "content", _ran_twice) for _ in range(4)]
        for _ in others:
            assert key.looked_up.acquire(timeout=PATIENCE_SECONDS)
        work.may_end.set()
        assert [each.result(PATIENCE_SECONDS) for each in (first, *others)] == [1] * 5
    assert work.runs == 1


def test_all_who_joined_get_the_error() -> None:
    in_flight, work, key = InFlight(), Work(error=KeyError("broken")), Shared()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(in_flight.once, key, "content", work)
        assert work.started.wait(PATIENCE_SECONDS)
        while key.looked_up.acquire(blocking=False):
            pass
        other = pool.submit(in_flight.once, key, "content", _ran_twice)
        assert key.looked_up.acquire(timeout=PATIENCE_SECONDS)
        work.may_end.set()
        for each in (first, other):
            with pytest.raises(KeyError, match="broken"):
                each.result(PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("first_key", "first_content", "second_key", "second_content"),
    [
        (("ada", "m-1"), "hello", ("bob", "m-1"), "hello"),
        (("ada", "m-1"), "hello", ("ada", "m-2"), "hello"),
        (("ada", "m-1"), "hello", ("ada", "m-1"), "goodbye"),
        (None, "hello", None, "hello"),
    ],
    ids=["another caller", "another message", "another content", "no caller"],
)
def test_other_requests_run_for_themselves(
    first_key: Hashable, first_content: str, second_key: Hashable, second_content: str
) -> None:
    in_flight, first, second = InFlight(), Work(), Work()
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(in_flight.once, first_key, first_content, first)
        assert first.started.wait(PATIENCE_SECONDS)
        two = pool.submit(in_flight.once, second_key, second_content, second)
        assert second.started.wait(PATIENCE_SECONDS)
        first.may_end.set()
        second.may_end.set()
        assert (one.result(PATIENCE_SECONDS), two.result(PATIENCE_SECONDS)) == (1, 1)


def test_a_request_that_has_ended_runs_again() -> None:
    in_flight, work = InFlight(), Work()
    work.may_end.set()
    assert [in_flight.once("key", "content", work) for _ in range(3)] == [1, 2, 3]


def test_a_request_that_failed_runs_again() -> None:
    in_flight, failing, working = InFlight(), Work(error=KeyError("broken")), Work()
    failing.may_end.set()
    working.may_end.set()
    with pytest.raises(KeyError):
        in_flight.once("key", "content", failing)
    assert in_flight.once("key", "content", working) == 1


class Source:
    """Makes relays over `count` events that wait for the test."""

    def __init__(self, count: int = 3) -> None:
        self.made = 0
        self.may_go = threading.Event()
        self.abandoned = threading.Event()
        self._count = count

    def relay(self) -> Relay[int]:
        self.made += 1
        return Relay(self._events(), on_abandoned=self.abandoned.set)

    def _events(self) -> Iterator[int]:
        for number in range(self._count):
            assert self.may_go.wait(PATIENCE_SECONDS)
            yield number


def test_identical_streams_share_one_run_and_see_the_same_events() -> None:
    in_flight, source = InFlight(), Source()
    streams = [in_flight.subscription("key", "content", source.relay, idle_seconds=PATIENCE_SECONDS) for _ in range(3)]
    source.may_go.set()
    assert [list(stream) for stream in streams] == [[0, 1, 2]] * 3
    assert source.made == 1


def test_streams_of_other_callers_or_contents_are_their_own() -> None:
    in_flight, source = InFlight(), Source()
    source.may_go.set()
    for key, content in (("ada", "x"), ("bob", "x"), ("ada", "y"), (None, "x"), (None, "x")):
        stream = in_flight.subscription(key, content, source.relay, idle_seconds=PATIENCE_SECONDS)
        assert list(stream) == [0, 1, 2]
    assert source.made == 5


def test_an_abandoned_stream_is_not_joined() -> None:
    in_flight, source = InFlight(), Source()
    first = in_flight.subscription("key", "content", source.relay, idle_seconds=PATIENCE_SECONDS)
    first.close()
    assert source.abandoned.is_set()
    second = in_flight.subscription("key", "content", source.relay, idle_seconds=PATIENCE_SECONDS)
    source.may_go.set()
    assert list(second) == [0, 1, 2]
    assert source.made == 2


def test_a_stream_that_one_of_two_has_left_goes_on() -> None:
    in_flight, source = InFlight(), Source()
    first, second = (
        in_flight.subscription("key", "content", source.relay, idle_seconds=PATIENCE_SECONDS) for _ in range(2)
    )
    first.close()
    assert not source.abandoned.is_set()
    source.may_go.set()
    assert list(second) == [0, 1, 2]


def test_a_stream_that_has_ended_is_not_joined() -> None:
    in_flight, source = InFlight(), Source()
    source.may_go.set()
    for _ in range(2):
        stream = in_flight.subscription("key", "content", source.relay, idle_seconds=PATIENCE_SECONDS)
        assert list(stream) == [0, 1, 2]
    assert source.made == 2


def test_a_stream_whose_making_fails_leaves_nothing_behind() -> None:
    in_flight, source = InFlight(), Source()

    def broken() -> Relay[int]:
        raise KeyError("broken")

    with pytest.raises(KeyError):
        in_flight.subscription("key", "content", broken, idle_seconds=PATIENCE_SECONDS)
    source.may_go.set()
    stream = in_flight.subscription("key", "content", source.relay, idle_seconds=PATIENCE_SECONDS)
    assert list(stream) == [0, 1, 2]
