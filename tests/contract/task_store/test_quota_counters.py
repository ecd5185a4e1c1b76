"""Counters of two instances over each store: one limit together, few claims, and what operators see of them."""

from a2a_hub.diagnosis.report import Outcome
from a2a_hub.quota.quotas import Counters
from functions.hub.store_examination import examine_quotas
from tests.contract.task_store.stores import Clock, Store


def test_two_instances_keep_one_rate_and_one_gauge(store: Store, other: Store, clock: Clock) -> None:
    first, second = (Counters(each, now=clock, most_wait_seconds=60) for each in (store, other))
    passed = sum(each.take("requests/hanako", 40, seconds=60) == 0 for _ in range(40) for each in (first, second))
    held = [give for _ in range(10) for each in (first, second) if (give := each.hold("streams/hanako", 10))]
    assert 32 <= passed <= 42
    assert 8 <= len(held) <= 12
    shown = {step.check: step for step in examine_quotas(store)}
    assert {step.outcome for step in shown.values()} == {Outcome.OK}
    assert shown["requests"].message.startswith("1 of callers and routes in use; hanako/")
    assert shown["streams"].message.startswith("1 of callers and routes in use; hanako: ")
