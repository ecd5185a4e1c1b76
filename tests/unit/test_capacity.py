"""The limits of a process: what is in use, by whom, and that it is given back once."""

import pytest

from a2a_hub.http.admission import BoundedCounter, Capacity, Limits, Overloaded


def test_what_does_not_fit_takes_nothing() -> None:
    counter = BoundedCounter(10)
    assert counter.acquire(8)
    assert not counter.acquire(3)
    assert counter.acquire(2)
    counter.release(10)
    assert counter.used == 0


def test_what_is_there_already_counts_even_beyond_the_limit() -> None:
    counter = BoundedCounter(10)
    counter.add(15)
    assert not counter.acquire(1)
    counter.release(15)
    assert counter.acquire(10)


def test_a_caller_and_all_callers_have_so_many_streams() -> None:
    capacity = Capacity(Limits(streams=3, caller_streams=2))
    close = capacity.open_stream("a")
    capacity.open_stream("a")
    with pytest.raises(Overloaded):
        capacity.open_stream("a")
    capacity.open_stream("b")
    with pytest.raises(Overloaded):
        capacity.open_stream("c")
    close()
    close()
    capacity.open_stream("c")
    with pytest.raises(Overloaded):
        capacity.open_stream("d")


def test_turns_that_nobody_waits_for_count() -> None:
    capacity = Capacity(Limits(turns=2))
    capacity.check_turns()
    capacity.count_turns(lambda: 2)
    with pytest.raises(Overloaded):
        capacity.check_turns()
