"""Counters: one limit over several instances, few claims, outages of the ledger, windows, bounded memory."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from a2a_hub.quota.quotas import GAUGE_SECONDS, Counters
from a2a_hub.telemetry.log import Log
from tests.fakes.quota_ledger import Clock, Ledger, counters


def _taken(instance: Counters, times: int, *, limit: int, name: str = "a") -> int:
    return sum(instance.take(name, limit, seconds=60) == 0 for _ in range(times))


def test_a_burst_passes_and_then_one_each_time_that_one_is_due() -> None:
    clock = Clock()
    instance = counters(None, clock)
    assert _taken(instance, 61, limit=60) == 60
    assert instance.take("a", 60, seconds=60) == pytest.approx(1)
    clock.seconds += 0.5
    assert instance.take("a", 60, seconds=60) == pytest.approx(0.5)
    clock.seconds += 0.5
    assert instance.take("a", 60, seconds=60) == 0
    assert instance.take("a", 60, seconds=60) == pytest.approx(1)


def test_waiting_costs_nothing_and_rest_saves_no_more_than_a_burst() -> None:
    clock = Clock()
    instance = counters(None, clock)
    assert _taken(instance, 10, limit=3) == 3
    clock.seconds += 3600
    assert _taken(instance, 4, limit=3) == 3


def test_each_subject_has_a_limit_of_its_own() -> None:
    instance = counters(None, Clock())
    assert [instance.take(subject, 1, seconds=60) == 0 for subject in "abab"] == [True, True, False, False]


def test_a_limit_may_change() -> None:
    instance = counters(None, Clock())
    assert [_taken(instance, 10, limit=limit) for limit in (3, 5)] == [3, 2]
    held = [len(_held(instance, 10, limit=limit)) for limit in (3, 5)]
    assert held == [3, 2]


def test_the_subject_that_has_not_called_for_longest_is_forgotten_first() -> None:
    instance = counters(None, Clock(), max_counters=2)
    for subject in ("a", "b", "a", "c"):
        instance.take(subject, 1, seconds=60)
    assert instance.take("a", 1, seconds=60) > 0
    assert instance.take("b", 1, seconds=60) == 0


def test_callers_at_once_get_no_more_than_one_after_another() -> None:
    clock = Clock()
    instance = Counters(cast("Any", Ledger(clock)), now=clock)
    ready = threading.Barrier(16)

    def passed(_: int) -> int:
        ready.wait()
        return _taken(instance, 20, limit=50)

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(passed, range(16))) == 50


@pytest.mark.parametrize("limit", [1, 3, 40, 120, 1000])
@pytest.mark.parametrize("instances", [2, 5])
def test_instances_keep_one_limit_and_overshoot_by_no_more_than_their_first_blocks(limit: int, instances: int) -> None:
    clock = Clock()
    ledger = Ledger(clock)
    several = [counters(ledger, clock) for _ in range(instances)]
    passed = sum(_taken(instance, 1, limit=limit) for _ in range(2 * limit) for instance in several)
    assert limit * 0.8 - instances < passed <= limit + instances * max(1, limit // 40)


def test_one_busy_instance_among_idle_ones_gets_the_whole_limit() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    assert _taken(counters(ledger, clock), 200, limit=120) == 120


def test_a_limit_takes_few_claims() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    assert _taken(counters(ledger, clock), 1000, limit=1000) == 1000
    assert ledger.calls < 30


def test_a_caller_who_asks_rarely_costs_no_claim() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    instance = counters(ledger, clock)
    for _ in range(10):
        assert _taken(instance, 1, limit=120) == 1
        clock.seconds += 60
    assert ledger.calls == 0


def test_the_next_window_has_the_whole_limit_again() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    first, second = counters(ledger, clock), counters(ledger, clock)
    assert _taken(first, 80, limit=60) == 60
    wait = second.take("a", 60, seconds=60) or second.take("a", 60, seconds=60)
    assert 0 < wait <= 60
    clock.seconds += wait
    assert second.take("a", 60, seconds=60) == 0
    assert _taken(second, 70, limit=60) == 59


@pytest.mark.parametrize("limit", [1, 20, 120])
@pytest.mark.parametrize("second_of_window", [5, 59])
def test_who_has_waited_as_long_as_told_is_admitted(limit: int, second_of_window: int) -> None:
    clock = Clock()
    clock.seconds += second_of_window
    instance = counters(Ledger(clock), clock)
    assert _taken(instance, limit, limit=limit) == limit
    clock.seconds += instance.take("a", limit, seconds=60)
    assert instance.take("a", limit, seconds=60) == 0


def test_while_the_ledger_is_away_each_instance_keeps_the_limit_and_refuses_nobody_else() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    first, second = counters(ledger, clock), counters(ledger, clock)
    ledger.is_away = True
    assert [_taken(each, 80, limit=60) for each in (first, second)] == [60, 60]
    assert ledger.calls == 2
    ledger.is_away = False
    clock.seconds += 60
    assert _taken(first, 80, limit=60) + _taken(second, 80, limit=60) <= 60 + 2


def test_a_ledger_that_does_not_answer_delays_nobody_for_long() -> None:
    clock = Clock()
    never = threading.Event()

    class Silent(Ledger):
        def claim_quota(self, *_: object, **__: object) -> int:
            never.wait(60)
            return 0

    instance = Counters(cast("Any", Silent(clock)), now=clock)
    assert _taken(instance, 80, limit=60) == 60
    never.set()


def test_a_late_answer_ends_what_looked_like_an_outage() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    work: list[Callable[[], object]] = []
    first = Counters(cast("Any", ledger), now=clock, run=work.append, max_wait_seconds=0.001)
    assert _taken(counters(ledger, clock), 60, limit=60) == 60
    assert _taken(first, 10, limit=60) == 10
    work.pop()()
    assert _taken(first, 10, limit=60) == 0


def test_an_outage_is_told_once_until_the_ledger_is_tried_again() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    ledger.is_away = True
    lines: list[bytes] = []
    log = Log(lines.append, clock=clock, new_id=lambda: "id", function="hub")
    instance = counters(ledger, clock, log=log)
    _taken(instance, 60, limit=60)
    assert len(lines) == 1
    clock.seconds += 60
    _taken(instance, 60, limit=60)
    assert len(lines) == 2


def _held(instance: Counters, times: int, *, limit: int) -> list[Callable[[], None]]:
    return [held for _ in range(times) if (held := instance.hold("a", limit)) is not None]


@pytest.mark.parametrize("with_ledger", [False, True])
def test_what_is_given_back_can_be_held_again(with_ledger: bool) -> None:
    clock = Clock()
    instance = counters(Ledger(clock) if with_ledger else None, clock)
    held = _held(instance, 5, limit=3)
    assert len(held) == 3
    held[0]()
    assert len(_held(instance, 2, limit=3)) == 1


def test_instances_hold_no_more_than_the_limit_together() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    several = [counters(ledger, clock) for _ in range(3)]
    held = [each for _ in range(30) for instance in several if (each := instance.hold("a", 20))]
    assert 14 <= len(held) <= 20 + 3


def test_what_one_instance_gives_back_another_can_hold() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    first, second = counters(ledger, clock), counters(ledger, clock)
    held = _held(first, 10, limit=10)
    assert len(held) == 10
    assert len(_held(second, 3, limit=10)) <= 1
    for give_back in held:
        give_back()
    assert first.renew() is False
    clock.seconds += 1
    assert len(_held(second, 9, limit=10)) == 9


def test_the_claim_of_what_is_held_lives_by_its_renewal_and_ends_with_a_killed_instance() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    instance = counters(ledger, clock)
    _held(instance, 10, limit=10)
    clock.seconds += GAUGE_SECONDS - 1
    assert instance.renew() is True
    clock.seconds += GAUGE_SECONDS - 1
    assert ledger.total("a") == 10
    clock.seconds += 2
    assert ledger.total("a") == 0


def test_gauges_of_an_instance_outlive_an_outage() -> None:
    clock = Clock()
    ledger = Ledger(clock)
    instance = counters(ledger, clock)
    held = _held(instance, 5, limit=10)
    ledger.is_away = True
    instance.renew()
    assert len(_held(instance, 10, limit=10)) == 5
    ledger.is_away = False
    clock.seconds += 60
    held.pop()()
    instance.renew()
    assert ledger.total("a") == 10
