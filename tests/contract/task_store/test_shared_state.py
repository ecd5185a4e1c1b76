"""The state that instances share: conversations, and the use of quotas."""

import functools

import pytest

from a2a_hub.task_store.store import MAX_CONVERSATION_BYTES, QuotaClaim, TooLarge
from tests.contract.task_store.stores import Clock, Store, at_once


def test_a_conversation_is_known_to_every_instance_and_to_its_owner_alone(
    store: Store, other: Store, clock: Clock
) -> None:
    until = clock() + 100
    assert store.conversation("owner", "c") is None
    store.put_conversation("owner", "c", b"first", expires_at=until)
    store.put_conversation("owner", "", b"of no context", expires_at=until)
    assert other.conversation("owner", "c") == b"first"
    other.put_conversation("owner", "c", b"second", expires_at=until)
    assert store.conversation("owner", "c") == b"second"
    assert store.conversation("owner", "") == b"of no context"
    assert store.conversation("owner2", "c") is None
    assert store.conversation("owner", "d") is None


def test_a_conversation_is_forgotten_when_its_time_is_over(store: Store, clock: Clock) -> None:
    store.put_conversation("owner", "c", b"data", expires_at=clock() + 10)
    store.put_conversation("owner", "d", b"data", expires_at=clock() + 1000)
    clock.pass_by(20)
    assert store.conversation("owner", "c") is None
    assert store.purge(ended_before=0.0, limit=10) == 0
    assert store.conversation("owner", "c") is None
    assert store.conversation("owner", "d") == b"data"


def test_a_conversation_has_a_largest_size(store: Store, clock: Clock) -> None:
    until = clock() + 100
    store.put_conversation("owner", "c", b"x" * MAX_CONVERSATION_BYTES, expires_at=until)
    with pytest.raises(TooLarge):
        store.put_conversation("owner", "c", b"x" * (MAX_CONVERSATION_BYTES + 1), expires_at=until)


def test_claims_share_the_limit_and_nobody_gets_what_others_have(store: Store, other: Store, clock: Clock) -> None:
    until = clock() + 100
    assert store.claim_quota("k", "one", amount=7, limit=10, expires_at=until) == 7
    assert other.claim_quota("k", "two", amount=7, limit=10, expires_at=until) == 3
    assert other.claim_quota("k", "three", amount=1, limit=10, expires_at=until) == 0
    assert other.claim_quota("another", "two", amount=7, limit=10, expires_at=until) == 7
    assert store.claim_quota("k", "one", amount=8, limit=10, expires_at=until) == 7
    assert store.claim_quota("k", "one", amount=2, limit=10, expires_at=until) == 2
    assert other.claim_quota("k", "two", amount=9, limit=10, expires_at=until) == 8
    assert store.claim_quota("k", "one", amount=9, limit=5, expires_at=until) == 0


def test_a_claim_that_expired_is_free_for_others(store: Store, clock: Clock) -> None:
    assert store.claim_quota("k", "one", amount=10, limit=10, expires_at=clock() + 10) == 10
    clock.pass_by(20)
    assert store.claim_quota("k", "two", amount=10, limit=10, expires_at=clock() + 10) == 10
    assert store.claim_quota("k", "one", amount=1, limit=10, expires_at=clock() + 10) == 0


def test_claims_are_shown_by_the_beginning_of_their_counters(store: Store, clock: Clock) -> None:
    until, soon = clock() + 100, clock() + 10
    for counter, holder, expires_at in (
        ("b/1", "y", until),
        ("b/1", "x", until),
        ("a", "x", until),
        ("b/2", "z", soon),
    ):
        store.claim_quota(counter, holder, amount=2, limit=10, expires_at=expires_at)
    first, second = (QuotaClaim(counter="b/1", holder=holder, amount=2, expires_at=until) for holder in "xy")
    third = QuotaClaim(counter="b/2", holder="z", amount=2, expires_at=soon)
    assert store.quota_claims("b/", limit=10) == [first, second, third]
    assert store.quota_claims("b/", limit=1) == [first]
    assert len(store.quota_claims("", limit=10)) == 4
    assert store.quota_claims("c", limit=10) == []
    clock.pass_by(20)
    assert store.quota_claims("b/", limit=10) == [first, second]
    store.purge(ended_before=0.0, limit=10)
    store.claim_quota("b/1", "x", amount=0, limit=10, expires_at=until)
    assert store.quota_claims("b/", limit=10) == [second]


def test_of_many_who_claim_at_once_no_more_than_the_limit_is_given(store: Store, other: Store, clock: Clock) -> None:
    until = clock() + 100
    claims = [
        functools.partial((store, other)[at % 2].claim_quota, "k", str(at), amount=3, limit=10, expires_at=until)
        for at in range(8)
    ]
    assert sorted(amount for amount in at_once(claims) if isinstance(amount, int)) == [0, 0, 0, 0, 1, 3, 3, 3]
