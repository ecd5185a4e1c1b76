"""Push configs, and how far each receiver is."""

import functools

import msgspec
import pytest

from a2a_hub.a2a.model import TaskState
from a2a_hub.task_store.store import Delivery, NewTask, TaskExists, UnknownTask, WrongVersion
from tests.contract.task_store.stores import Clock, Store, a_task, at_once, created, status, webhook


def _ids(deliveries: list[Delivery]) -> list[str | None]:
    return [delivery.push.config.id for delivery in deliveries]


def _grown(store: Store) -> str:
    """A task with a config whose receiver has everything but one entry."""
    id_ = created(store).task.id
    store.put_config(webhook(id_), delivered=1)
    store.append(id_, [status(id_, TaskState.WORKING)])
    return id_


def test_configs_are_kept_in_the_order_in_which_they_came(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    for name in ("b", "a", "c"):
        store.put_config(webhook(id_, name), delivered=1)
    assert other.configs(id_) == [Delivery(push=webhook(id_, name), delivered=1) for name in ("b", "a", "c")]
    assert "secret" not in repr(other.configs(id_))
    assert store.configs("none") == []
    with pytest.raises(UnknownTask):
        store.put_config(webhook("none"), delivered=0)


def test_a_config_is_replaced_in_its_place(store: Store) -> None:
    id_ = created(store).task.id
    for name in ("a", "b"):
        store.put_config(webhook(id_, name), delivered=0)
    replaced = webhook(id_, "a", url="https://elsewhere.example/")
    store.put_config(replaced, delivered=1)
    assert [delivery.push for delivery in store.configs(id_)] == [replaced, webhook(id_, "b")]


def test_a_config_can_be_deleted_twice(store: Store) -> None:
    id_ = created(store).task.id
    store.put_config(webhook(id_), delivered=0)
    store.delete_config(id_, "p")
    store.delete_config(id_, "p")
    store.delete_config("none", "p")
    assert store.configs(id_) == []
    assert store.due_deliveries(limit=10) == []


def test_configs_of_tasks_that_grew_are_due(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    store.put_config(webhook(id_, "behind"), delivered=0)
    store.put_config(webhook(id_, "level"), delivered=1)
    assert _ids(other.due_deliveries(limit=10)) == ["behind"]
    store.append(id_, [status(id_, TaskState.WORKING)])
    assert sorted(map(str, _ids(other.due_deliveries(limit=10)))) == ["behind", "level"]
    assert len(other.due_deliveries(limit=1)) == 1


def test_a_delivery_is_claimed_by_one(store: Store, other: Store) -> None:
    _grown(store)
    (delivery,) = store.due_deliveries(limit=10)
    claims = [functools.partial((store, other)[at % 2].claim_delivery, delivery, seconds=30) for at in range(6)]
    assert sorted(map(str, at_once(claims))) == ["False"] * 5 + ["True"]
    assert other.due_deliveries(limit=10) == []


def test_a_claim_that_ran_out_can_be_taken_over(store: Store, other: Store, clock: Clock) -> None:
    _grown(store)
    (delivery,) = store.due_deliveries(limit=10)
    assert store.claim_delivery(delivery, seconds=30)
    clock.pass_by(31)
    assert other.due_deliveries(limit=10) == [delivery]
    assert other.claim_delivery(delivery, seconds=30)


def test_what_was_delivered_is_not_due_until_the_task_grows(store: Store, other: Store) -> None:
    id_ = _grown(store)
    (delivery,) = store.due_deliveries(limit=10)
    assert store.claim_delivery(delivery, seconds=30)
    store.save_delivery(msgspec.structs.replace(delivery, delivered=2))
    assert other.due_deliveries(limit=10) == []
    assert other.claim_delivery(delivery, seconds=30) is False
    other.append(id_, [status(id_, TaskState.COMPLETED)])
    assert [due.delivered for due in store.due_deliveries(limit=10)] == [2]


def test_an_entry_that_came_during_the_delivery_is_due_at_once(store: Store) -> None:
    id_ = _grown(store)
    (delivery,) = store.due_deliveries(limit=10)
    assert store.claim_delivery(delivery, seconds=30)
    store.append(id_, [status(id_, TaskState.COMPLETED)])
    assert store.due_deliveries(limit=10) == []
    store.save_delivery(msgspec.structs.replace(delivery, delivered=2))
    assert [due.delivered for due in store.due_deliveries(limit=10)] == [2]


def test_a_failed_attempt_is_due_again_at_its_time(store: Store, clock: Clock) -> None:
    _grown(store)
    (delivery,) = store.due_deliveries(limit=10)
    assert store.claim_delivery(delivery, seconds=30)
    failed = msgspec.structs.replace(delivery, failures=1, next_attempt_at=clock() + 60)
    store.save_delivery(failed)
    assert store.due_deliveries(limit=10) == []
    assert store.claim_delivery(delivery, seconds=30) is False
    assert store.claim_delivery(failed, seconds=30) is False
    clock.pass_by(61)
    assert store.due_deliveries(limit=10) == [failed]
    assert store.claim_delivery(failed, seconds=30)


def test_a_sender_that_comes_late_takes_nothing_back(store: Store, other: Store, clock: Clock) -> None:
    id_ = _grown(store)
    (delivery,) = store.due_deliveries(limit=10)
    assert store.claim_delivery(delivery, seconds=30)
    clock.pass_by(31)
    assert other.claim_delivery(delivery, seconds=30)
    other.save_delivery(msgspec.structs.replace(delivery, delivered=2))
    store.save_delivery(msgspec.structs.replace(delivery, failures=1))
    assert [config.delivered for config in other.configs(id_)] == [2]
    assert other.due_deliveries(limit=10) == []


def test_a_config_that_is_replaced_while_somebody_sends_is_due_at_once(store: Store, other: Store) -> None:
    id_ = _grown(store)
    (delivery,) = store.due_deliveries(limit=10)
    assert store.claim_delivery(delivery, seconds=30)
    other.put_config(webhook(id_, url="https://elsewhere.example/"), delivered=0)
    assert _ids(store.due_deliveries(limit=10)) == ["p"]


def test_what_was_given_up_is_not_due_any_more(store: Store) -> None:
    id_ = _grown(store)
    (delivery,) = store.due_deliveries(limit=10)
    assert store.claim_delivery(delivery, seconds=30)
    store.save_delivery(msgspec.structs.replace(delivery, failures=9, dead="refused for a day"))
    store.append(id_, [status(id_, TaskState.COMPLETED)])
    assert store.due_deliveries(limit=10) == []
    assert [config.dead for config in store.configs(id_)] == ["refused for a day"]
    store.put_config(webhook(id_), delivered=0)
    assert _ids(store.due_deliveries(limit=10)) == ["p"]


def test_an_attempt_at_a_config_that_is_gone_or_another_one_changes_nothing(store: Store) -> None:
    id_ = _grown(store)
    (delivery,) = store.due_deliveries(limit=10)
    assert store.claim_delivery(delivery, seconds=30)
    store.delete_config(id_, "p")
    store.save_delivery(msgspec.structs.replace(delivery, delivered=2))
    assert store.configs(id_) == []
    replaced = webhook(id_, url="https://elsewhere.example/")
    store.put_config(replaced, delivered=0)
    store.save_delivery(msgspec.structs.replace(delivery, delivered=2))
    assert store.configs(id_) == [Delivery(push=replaced)]
    assert store.claim_delivery(delivery, seconds=30) is False


def test_a_config_that_comes_with_a_task_is_stored_with_it(store: Store, other: Store) -> None:
    new = NewTask(task=a_task(id_="t"), owner="owner", push=webhook("t"))
    store.create(new)
    assert other.configs("t") == [Delivery(push=webhook("t"))]
    assert _ids(other.due_deliveries(limit=10)) == ["p"]
    with pytest.raises(TaskExists):
        other.create(msgspec.structs.replace(new, push=webhook("t", "another")))
    other.put_config(webhook("t", "q"), delivered=0)
    assert [delivery.push.config.id for delivery in store.configs("t")] == ["p", "q"]


def test_a_config_that_comes_with_an_answer_gets_what_follows(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    store.put_config(webhook(id_, "first"), delivered=1)
    store.append(id_, [status(id_, TaskState.WORKING)], push=webhook(id_, "second"))
    assert [(each.push.config.id, each.delivered) for each in other.configs(id_)] == [
        ("first", 1),
        ("second", 1),
    ]
    assert sorted(map(str, _ids(other.due_deliveries(limit=10)))) == ["first", "second"]


def test_a_config_that_comes_with_an_answer_replaces_one_in_its_place(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    for name in ("a", "b"):
        store.put_config(webhook(id_, name), delivered=1)
    replaced = webhook(id_, "a", url="https://elsewhere.example/")
    store.append(id_, [status(id_, TaskState.WORKING)], push=replaced)
    assert [delivery.push for delivery in other.configs(id_)] == [replaced, webhook(id_, "b")]
    assert {delivery.delivered for delivery in other.configs(id_)} == {1}


def test_what_is_not_written_brings_no_config(store: Store) -> None:
    id_ = created(store).task.id
    with pytest.raises(WrongVersion):
        store.append(id_, [status(id_, TaskState.WORKING)], expected_version=7, push=webhook(id_))
    assert store.configs(id_) == []


def test_whoever_delivers_is_woken_for_each_task_that_falls_behind_and_for_no_other(store: Store) -> None:
    woken: list[str] = []
    store.on_undelivered(woken.append)
    quiet = created(store).task.id
    store.append(quiet, [status(quiet, TaskState.WORKING)])
    assert woken == []
    id_ = created(store).task.id
    store.put_config(webhook(id_), delivered=0)
    assert woken == [id_]
    (due,) = store.due_deliveries(limit=10)
    assert store.claim_delivery(due, seconds=30)
    store.save_delivery(Delivery(push=due.push, delivered=1))
    store.append(id_, [status(id_, TaskState.WORKING)])
    assert woken == [id_, id_]
