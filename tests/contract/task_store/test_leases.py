"""Who may run and write to a task."""

import functools

import pytest

from a2a_hub.a2a.model import TaskState
from a2a_hub.task_store.store import HUB, Lease, LeaseLost, NewTask, TaskEnded, UnknownTask, WrongVersion
from tests.contract.task_store.stores import Clock, Store, a_task, at_once, created, status


def _leased(store: Store, task_id: str, *, seconds: float = 30) -> Lease:
    lease = store.lease("somebody", seconds=seconds, roles=[HUB], task_id=task_id)
    assert lease
    return lease


def test_a_lease_is_the_first_attempt_at_its_task(store: Store, clock: Clock) -> None:
    id_ = created(store, payload=b"what to do").task.id
    lease = _leased(store, id_)
    assert lease.stored.attempt == 1
    assert lease.stored.payload == b"what to do"
    assert 29 < lease.stored.lease_until - clock() < 30
    assert lease.token not in repr(lease)
    assert store.get(id_, owner=None) == lease.stored


def test_a_leased_task_is_not_leased_again(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    _leased(store, id_)
    assert other.lease("other", seconds=30, roles=[HUB], task_id=id_) is None
    assert other.lease("other", seconds=30, roles=[HUB]) is None
    assert other.due([HUB], limit=10) == []


def test_of_many_who_ask_for_one_task_one_gets_it(store: Store, other: Store) -> None:
    for _ in range(3):
        id_ = created(store).task.id
        ask = [functools.partial((store, other)[at % 2].lease, "w", seconds=30, roles=[HUB]) for at in range(8)]
        leases = [lease for lease in at_once(ask) if lease is not None]
        assert [lease.stored.task.id for lease in leases if isinstance(lease, Lease)] == [id_]
        assert len(leases) == 1


def test_many_who_ask_get_different_tasks(store: Store, other: Store) -> None:
    ids = {created(store).task.id for _ in range(6)}
    ask = [functools.partial((store, other)[at % 2].lease, "w", seconds=30, roles=[HUB]) for at in range(6)]
    leases = at_once(ask)
    assert {lease.stored.task.id for lease in leases if isinstance(lease, Lease)} == ids


def test_the_task_of_the_roles_that_was_due_for_longest_comes_first(store: Store) -> None:
    first = created(store, role="writer").task.id
    second = created(store, role="reviewer").task.id
    third = created(store, role="writer").task.id
    hubs = created(store).task.id
    assert store.due(["writer", "reviewer"], limit=10) == [first, second, third]
    assert store.due(["writer", "reviewer"], limit=2) == [first, second]
    assert store.due([HUB], limit=10) == [hubs]
    assert store.due([], limit=10) == []
    lease = store.lease("w", seconds=30, roles=["reviewer", "writer"])
    assert lease
    assert lease.stored.task.id == first
    assert store.due(["writer"], limit=10) == [third]


def test_what_is_due_of_all_roles_is_found_without_naming_them(store: Store, clock: Clock) -> None:
    ids = []
    for role in (HUB, "developer", "astronomer", "developer"):
        ids.append(created(store, role=role).task.id)
        clock.pass_by(1)
    assert store.lease("worker", seconds=60, roles=["developer"], task_id=ids[1])
    assert store.due(None, limit=10) == [ids[0], ids[2], ids[3]]
    assert store.due(None, limit=1) == ids[:1]
    assert store.due([], limit=10) == []


def test_a_task_whose_lease_ran_out_comes_behind_those_that_were_due_before(store: Store, clock: Clock) -> None:
    first, second = created(store).task.id, created(store).task.id
    _leased(store, first)
    clock.pass_by(60)
    third = created(store).task.id
    assert store.due([HUB], limit=10) == [second, first, third]


def test_a_task_of_a_role_that_was_not_asked_for_is_not_given_out(store: Store) -> None:
    id_ = created(store, role="writer").task.id
    assert store.lease("w", seconds=30, roles=["reviewer"], task_id=id_) is None
    assert store.lease("w", seconds=30, roles=["reviewer", "writer"], task_id=id_)
    assert store.lease("w", seconds=30, roles=["writer"], task_id="none") is None


@pytest.mark.parametrize("state", [TaskState.SUBMITTED, TaskState.WORKING])
def test_submitted_and_working_tasks_are_given_out(store: Store, state: TaskState) -> None:
    id_ = created(store, state=state).task.id
    assert store.due([HUB], limit=10) == [id_]
    assert _leased(store, id_).stored.task.id == id_


@pytest.mark.parametrize("state", [state for state in TaskState if state.terminal or state.interrupted])
def test_tasks_that_ended_or_wait_for_their_client_are_not(store: Store, state: TaskState) -> None:
    id_ = created(store, state=state).task.id
    assert store.due([HUB], limit=10) == []
    assert store.lease("w", seconds=30, roles=[HUB], task_id=id_) is None


def test_only_the_holder_of_the_lease_writes(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    lease = _leased(store, id_)
    with pytest.raises(LeaseLost):
        other.append(id_, [status(id_, TaskState.FAILED)])
    with pytest.raises(LeaseLost):
        other.append(id_, [status(id_, TaskState.FAILED)], lease="guessed")
    with pytest.raises(LeaseLost):
        other.append(id_, [status(id_, TaskState.FAILED)], lease="")
    assert other.append(id_, [status(id_, TaskState.WORKING)], lease=lease.token).version == 2
    with pytest.raises(WrongVersion):
        store.append(id_, [status(id_, TaskState.WORKING)], lease=lease.token, expected_version=1)


def test_who_has_no_lease_cannot_write_as_if(store: Store) -> None:
    id_ = created(store).task.id
    with pytest.raises(LeaseLost):
        store.append(id_, [status(id_, TaskState.WORKING)], lease="guessed")
    with pytest.raises(LeaseLost):
        store.append(id_, [status(id_, TaskState.WORKING)], lease="")


def test_a_lease_that_ran_out_goes_to_the_next_one(store: Store, other: Store, clock: Clock) -> None:
    id_ = created(store).task.id
    old = _leased(store, id_)
    clock.pass_by(31)
    with pytest.raises(LeaseLost):
        store.append(id_, [status(id_, TaskState.WORKING)], lease=old.token)
    with pytest.raises(LeaseLost):
        store.renew(id_, old.token, seconds=30)
    assert other.due([HUB], limit=10) == [id_]
    new = other.lease("next", seconds=30, roles=[HUB])
    assert new
    assert (new.stored.task.id, new.stored.attempt) == (id_, 2)
    assert new.token != old.token
    with pytest.raises(LeaseLost):
        store.append(id_, [status(id_, TaskState.COMPLETED)], lease=old.token)
    store.release(id_, old.token)
    assert other.append(id_, [status(id_, TaskState.COMPLETED)], lease=new.token).version == 2


def test_a_lease_is_prolonged_from_now_on(store: Store, clock: Clock) -> None:
    id_ = created(store).task.id
    lease = _leased(store, id_)
    clock.pass_by(20)
    renewed = store.renew(id_, lease.token, seconds=30)
    assert 19 < renewed.lease_until - lease.stored.lease_until < 21
    assert renewed.attempt == 1
    clock.pass_by(20)
    store.append(id_, [status(id_, TaskState.WORKING)], lease=lease.token)
    with pytest.raises(LeaseLost):
        store.renew(id_, "guessed", seconds=30)
    with pytest.raises(UnknownTask):
        store.renew("none", lease.token, seconds=30)


def test_a_lease_that_is_given_back_is_free_at_once(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    lease = _leased(store, id_)
    store.release(id_, "guessed")
    assert other.due([HUB], limit=10) == []
    store.release(id_, lease.token)
    with pytest.raises(LeaseLost):
        store.append(id_, [status(id_, TaskState.WORKING)], lease=lease.token)
    assert _leased(other, id_).stored.attempt == 2
    store.release("none", lease.token)


@pytest.mark.parametrize("state", [TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED])
def test_a_task_that_asks_its_client_is_leased_by_nobody(store: Store, state: TaskState) -> None:
    id_ = created(store).task.id
    lease = _leased(store, id_)
    asked = store.append(id_, [status(id_, state)], lease=lease.token)
    assert asked.lease_until == 0.0
    with pytest.raises(LeaseLost):
        store.append(id_, [status(id_, TaskState.WORKING)], lease=lease.token)
    store.append(id_, [status(id_, TaskState.WORKING)])


@pytest.mark.parametrize("state", [TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED])
def test_with_its_clients_answer_the_attempts_at_a_task_begin_anew(
    store: Store, other: Store, state: TaskState
) -> None:
    id_ = created(store).task.id
    lease = _leased(store, id_)
    asked = store.append(id_, [status(id_, state)], lease=lease.token)
    assert asked.attempt == 1
    store.append(id_, [status(id_, TaskState.WORKING)])
    lease = _leased(other, id_)
    assert lease.stored.attempt == 1
    store.release(id_, lease.token)
    assert _leased(store, id_).stored.attempt == 2


def test_a_lease_ends_with_its_task(store: Store) -> None:
    id_ = created(store).task.id
    lease = _leased(store, id_)
    done = store.append(id_, [status(id_, TaskState.COMPLETED)], lease=lease.token)
    assert done.lease_until == 0.0
    with pytest.raises(LeaseLost):
        store.renew(id_, lease.token, seconds=30)
    with pytest.raises(TaskEnded):
        store.append(id_, [status(id_, TaskState.FAILED)], lease=lease.token)
    assert store.due([HUB], limit=10) == []


def test_a_task_can_be_leased_from_its_first_moment_on(store: Store, other: Store, clock: Clock) -> None:
    task = a_task()
    made = store.create(NewTask(task=task, owner="owner", lease="my-own", lease_seconds=30))
    assert made.attempt == 1
    assert other.due([HUB], limit=10) == []
    with pytest.raises(LeaseLost):
        other.append(task.id, [status(task.id, TaskState.WORKING)])
    store.append(task.id, [status(task.id, TaskState.WORKING)], lease="my-own")
    clock.pass_by(31)
    assert _leased(other, task.id).stored.attempt == 2


def test_the_runner_learns_of_a_cancellation_when_it_renews(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    lease = _leased(store, id_)
    assert other.request_cancel(id_).cancel_requested is True
    renewed = store.renew(id_, lease.token, seconds=30)
    assert renewed.cancel_requested is True
    assert store.append(id_, [status(id_, TaskState.CANCELED)], lease=lease.token).cancel_requested is True
    with pytest.raises(UnknownTask):
        store.request_cancel("none")


def test_a_cancelled_task_that_nobody_runs_is_still_given_out(store: Store) -> None:
    id_ = created(store).task.id
    store.request_cancel(id_)
    assert _leased(store, id_).stored.cancel_requested is True


def test_asking_twice_changes_nothing_the_second_time(store: Store) -> None:
    id_ = created(store, payload=b"same").task.id
    once = store.request_cancel(id_)
    assert store.request_cancel(id_) == once
    assert store.append(id_, [], payload=b"same") == once
    store.release(id_, "guessed")
    assert store.get(id_, owner=None) == once


def test_a_task_that_is_released_until_a_time_is_due_then_and_not_before(
    store: Store, other: Store, clock: Clock
) -> None:
    id_ = created(store).task.id
    lease = _leased(store, id_)
    store.release(id_, lease.token, due_at=clock() + 100)
    assert other.due([HUB], limit=10) == []
    assert other.lease("w", seconds=30, roles=[HUB], task_id=id_) is None
    clock.pass_by(101)
    assert other.due([HUB], limit=10) == [id_]
    assert _leased(other, id_).stored.attempt == 1


def test_a_cancelled_task_is_due_although_it_was_released_until_later(store: Store, clock: Clock) -> None:
    id_ = created(store).task.id
    store.release(id_, _leased(store, id_).token, due_at=clock() + 100)
    store.request_cancel(id_)
    assert store.due([HUB], limit=10) == [id_]


def test_operators_see_what_is_unfinished_and_who_holds_it(store: Store, other: Store, clock: Clock) -> None:
    waiting, leased = created(store, role="writer").task.id, created(store).task.id
    done = created(store, state=TaskState.COMPLETED).task.id
    deadline = _leased(store, leased).stored.lease_until
    found = other.unfinished(limit=10)
    assert [(each.id, each.role, each.holder, each.attempt) for each in found] == [
        (waiting, "writer", "", 0),
        (leased, HUB, "somebody", 1),
    ]
    assert found[1].lease_until == deadline
    assert done not in {each.id for each in found}
    assert len(other.unfinished(limit=1)) == 1


def test_the_next_time_when_something_is_due_is_known(store: Store, clock: Clock) -> None:
    assert store.next_due(None) is None
    id_ = created(store, role="writer").task.id
    lease = store.lease("w", seconds=30, roles=["writer"])
    assert lease
    assert store.next_due(["writer", "reader"]) == store.next_due(None) == lease.stored.lease_until
    assert store.next_due([HUB]) is None
    due_at = clock() + 500
    store.release(id_, lease.token, due_at=due_at)
    assert store.next_due(["writer"]) == due_at
    clock.pass_by(1000)
    assert store.next_due(["writer"]) == pytest.approx(clock(), abs=1)
