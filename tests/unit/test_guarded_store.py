"""A store that is away: one operation at a time waits for it, and all others fail at once."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from a2a_hub.task_store.factory import GuardedStore
from a2a_hub.task_store.store import Contended, Store, StoreError, TaskEnded, Unavailable


class Slow:
    """A store whose operations take `seconds`, and then fail with `error` unless that is None."""

    def __init__(self) -> None:
        self.now, self.seconds, self.calls = 0.0, 10.0, 0
        self.error: StoreError | None = Unavailable("no answer")
        self.meanwhile: Callable[[], None] = lambda: None

    def get(self, *_: Any, **__: Any) -> None:
        self.calls += 1
        self.meanwhile()
        self.now += self.seconds
        if self.error is not None:
            raise self.error

    def wait(self, *_: Any, **__: Any) -> bool:
        self.now += self.seconds
        return False


def _opened() -> tuple[Slow, Store]:
    slow = Slow()
    return slow, cast("Store", GuardedStore(cast("Store", slow), "sqlite", clock=lambda: slow.now))


def _get(store: Store) -> type[BaseException] | None:
    try:
        store.get("t", owner=None)
    except StoreError as error:
        return type(error)
    return None


def test_after_one_that_waited_in_vain_the_next_fail_at_once_until_a_trial() -> None:
    slow, store = _opened()
    assert [_get(store) for _ in range(4)] == [Unavailable] * 4
    assert (slow.calls, slow.now) == (1, 10.0)
    slow.now += 1
    assert [_get(store) for _ in range(4)] == [Unavailable] * 4
    assert (slow.calls, slow.now) == (2, 21.0)
    slow.now, slow.error = slow.now + 1, None
    assert [_get(store) for _ in range(3)] == [None] * 3


def test_while_one_tries_no_other_waits() -> None:
    slow, store = _opened()
    _get(store)
    slow.now += 1
    others: list[type[BaseException] | None] = []
    slow.error, slow.meanwhile = None, lambda: others.append(_get(store))
    assert _get(store) is None
    assert (others, slow.calls) == ([Unavailable], 2)


def test_what_fails_soon_or_of_others_who_write_delays_nobody() -> None:
    slow, store = _opened()
    slow.seconds = 0.1
    assert [_get(store) for _ in range(3)] == [Unavailable] * 3
    slow.seconds, slow.error = 10.0, Contended("others write")
    assert [_get(store) for _ in range(3)] == [Contended] * 3
    assert slow.calls == 6


def test_a_refusal_is_an_answer_and_a_wait_for_others_none() -> None:
    slow, store = _opened()
    _get(store)
    assert not store.wait("t", after=1, timeout_seconds=1)
    slow.error = TaskEnded("t")
    assert [_get(store) for _ in range(2)] == [TaskEnded] * 2


def test_a_trial_that_others_keep_from_writing_ends_the_outage() -> None:
    slow, store = _opened()
    _get(store)
    slow.now, slow.error = slow.now + 1, Contended("others write")
    assert _get(store) is Contended
    slow.error = None
    assert _get(store) is None


def test_the_cause_is_that_of_the_operation_that_waited() -> None:
    slow, store = _opened()
    slow.error = Unavailable("no answer")
    slow.error.__cause__ = cause = OSError("reset")
    for _ in range(2):
        with pytest.raises(Unavailable) as failed:
            store.get("t", owner=None)
        assert failed.value.__cause__ is cause
