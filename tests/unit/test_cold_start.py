"""What a process loads at its start is not searched for garbage; what comes after it is. A module can be left out meanwhile."""

import gc
import importlib
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.runtime.cold_start import without_collector, without_module


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


@pytest.fixture
def optional_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = "module_of_test_loading"
    (tmp_path / f"{name}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def test_a_module_that_is_left_out_cannot_be_imported_meanwhile_and_can_afterwards(
    optional_module: str,
) -> None:
    with without_module(optional_module), pytest.raises(ImportError):
        importlib.import_module(optional_module)
    assert importlib.import_module(optional_module).__name__ == optional_module


def test_a_module_that_is_loaded_already_is_not_taken_away(optional_module: str) -> None:
    loaded = importlib.import_module(optional_module)
    with without_module(optional_module):
        assert importlib.import_module(optional_module) is loaded
    assert importlib.import_module(optional_module) is loaded
