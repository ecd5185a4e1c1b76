"""Counters of two instances over each store: one limit together, few claims, and what operators see of them."""

from functools import partial

from a2a_hub.diagnosis.report import Outcome
from a2a_hub.quota.quotas import Counters
from functions.hub.store_examination import examine_quotas
from tests.contract.task_store.stores import Clock, Store, at_once


def test_two_instances_keep_one_rate_and_one_gauge(store: Store, other: Store, clock: Clock) -> None:
    first, second = (Counters(each, now=clock, max_wait_seconds=60) for each in (store, other))
    passed = sum(each.take("requests/hanako", 40, seconds=60) == 0 for _ in range(40) for each in (first, second))
    held = [give for _ in range(10) for each in (first, second) if (give := each.hold("streams/hanako", 10))]
    assert 32 <= passed <= 42
    assert 8 <= len(held) <= 12
    shown = {step.check: step for step in examine_quotas(store)}
    assert {step.outcome for step in shown.values()} == {Outcome.OK}
    assert shown["requests"].message.startswith("1 of callers and routes in use; hanako/")
    assert shown["streams"].message.startswith("1 of callers and routes in use; hanako: ")


def test_of_many_that_claim_the_only_one_at_once_one_gets_it(store: Store, other: Store, clock: Clock) -> None:
    def claim(instance: Store, holder: str) -> int:
        return instance.claim_quota("confirmed/call", holder, amount=1, limit=1, expires_at=clock() + 60)

    claimed = at_once([partial(claim, (store, other)[number % 2], str(number)) for number in range(6)])
    assert sorted(claimed, key=str) == [0, 0, 0, 0, 0, 1]
    assert claim(store, "late") == 0
    assert not list(examine_quotas(store))
