"""What a process loads at its start is not searched for garbage; what comes after it is."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from shared.loading import without_collector


class _Ring:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _unfrozen() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_what_was_made_is_returned_and_the_collector_rested_meanwhile_and_works_again() -> None:
    assert without_collector(gc.isenabled) is False
    assert gc.isenabled()


def test_what_was_loaded_is_left_alone_and_what_comes_after_is_collected() -> None:
    loaded = weakref.ref(without_collector(_Ring))
    after = weakref.ref(_Ring())
    gc.collect()
    assert loaded() is not None
    assert after() is None


def test_a_load_that_fails_leaves_the_collector_at_work() -> None:
    with pytest.raises(ZeroDivisionError):
        without_collector(lambda: 1 // 0)
    assert gc.isenabled()
