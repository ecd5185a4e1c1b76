"""Whose tasks they are: numbers, contexts, pages, running requests, and their end."""

import functools

import pytest

from a2a_hub.a2a.model import TaskState
from a2a_hub.task_store.store import AlreadyRunning, NewTask, StoredTask, TaskQuery, Usage
from tests.contract.task_store.stores import (
    Clock,
    Store,
    a_task,
    at_once,
    chunk,
    created,
    ended,
    events_of,
    status,
    walk,
    webhook,
)


def _ids(store: Store, owner: str, query: TaskQuery) -> list[str]:
    page = store.list(owner, query, size=100, after=None)
    assert page.total == len(page.tasks)
    assert page.next is None
    return [stored.task.id for stored in page.tasks]


def test_another_owners_task_does_not_exist(store: Store) -> None:
    mine = created(store, owner="me", state=TaskState.INPUT_REQUIRED, request_key="key")
    assert store.get(mine.task.id, owner="you") is None
    assert store.get(mine.task.id, owner="") is None
    assert store.get(mine.task.id, owner=None) == mine
    assert store.numbered("you", mine.number) is None
    assert store.waiting("you", "c") is None
    assert store.running("you", "key") is None
    assert store.list("you", TaskQuery(), size=10, after=None).total == 0


def test_each_owners_tasks_are_numbered_from_one(store: Store) -> None:
    mine = [created(store, owner="me") for _ in range(3)]
    yours = created(store, owner="you")
    assert [stored.number for stored in mine] == [1, 2, 3]
    assert yours.number == 1
    assert store.numbered("me", 2) == mine[1]
    assert store.numbered("me", 4) is None


def test_numbers_of_tasks_made_at_once_are_different(store: Store, other: Store) -> None:
    made = at_once([functools.partial(created, (store, other)[at % 2]) for at in range(6)])
    assert sorted(one.number for one in made if isinstance(one, StoredTask)) == [1, 2, 3, 4, 5, 6]


def test_the_newest_task_of_a_context_that_waits_is_found(store: Store) -> None:
    assert store.waiting("owner", "c") is None
    older = created(store, state=TaskState.INPUT_REQUIRED)
    newer = created(store, state=TaskState.AUTH_REQUIRED)
    created(store, state=TaskState.INPUT_REQUIRED, context_id="elsewhere")
    created(store, state=TaskState.WORKING)
    found = store.waiting("owner", "c")
    assert found == newer
    store.append(newer.task.id, [status(newer.task.id, TaskState.COMPLETED)])
    assert store.waiting("owner", "c") == older


def test_a_page_holds_the_newest_first(store: Store) -> None:
    tasks = [created(store) for _ in range(4)]
    changed = store.append(tasks[1].task.id, [chunk(tasks[1].task.id, "more", append=False)])
    page = store.list("owner", TaskQuery(), size=10, after=None)
    assert page.tasks == (changed, tasks[3], tasks[2], tasks[0])
    assert (page.total, page.next) == (4, None)


def test_tasks_of_the_same_moment_are_all_on_some_page(store: Store, clock: Clock) -> None:
    clock.stand_still()
    ids = [created(store).task.id for _ in range(5)]
    assert walk(store, "owner", size=2) == sorted(ids, reverse=True)


@pytest.mark.parametrize("size", [1, 3, 7, 8])
def test_pages_follow_one_another_without_gaps(store: Store, size: int) -> None:
    ids = [created(store).task.id for _ in range(7)]
    assert walk(store, "owner", size=size) == ids[::-1]
    assert store.list("owner", TaskQuery(), size=size, after=None).total == 7


def test_a_page_of_very_large_tasks_holds_fewer_of_them(roomy: Store) -> None:
    ids = []
    for at in range(3):
        ids.append(created(roomy).task.id)
        roomy.append(ids[at], [chunk(ids[at], "x" * 9_000_000, append=False)])
    small = created(roomy).task.id
    first = roomy.list("owner", TaskQuery(), size=10, after=None)
    assert [stored.task.id for stored in first.tasks] == [small, ids[2], ids[1]]
    second = roomy.list("owner", TaskQuery(), size=10, after=first.next)
    assert ([stored.task.id for stored in second.tasks], second.next) == ([ids[0]], None)
    assert (first.total, second.total) == (4, 4)


def test_tasks_that_do_not_change_are_on_one_page_each_while_others_do(store: Store) -> None:
    ids = [created(store).task.id for _ in range(6)]
    first = store.list("owner", TaskQuery(), size=2, after=None)
    assert [stored.task.id for stored in first.tasks] == [ids[5], ids[4]]
    store.append(ids[0], [status(ids[0], TaskState.WORKING)])
    store.append(ids[4], [status(ids[4], TaskState.WORKING)])
    created(store)
    rest = store.list("owner", TaskQuery(), size=10, after=first.next)
    assert [stored.task.id for stored in rest.tasks] == [ids[3], ids[2], ids[1]]
    assert rest.total == 7


def test_conditions_of_a_query_are_all_true_of_what_it_finds(store: Store, clock: Clock) -> None:
    a = created(store, context_id="one").task.id
    b = created(store, context_id="one", state=TaskState.WORKING).task.id
    c = created(store, context_id="two", state=TaskState.WORKING).task.id
    boundary = clock.pass_by(10)
    d = created(store, context_id="one", state=TaskState.INPUT_REQUIRED).task.id
    created(store, owner="you", context_id="one")
    assert _ids(store, "owner", TaskQuery()) == [d, c, b, a]
    assert _ids(store, "owner", TaskQuery(context_id="one")) == [d, b, a]
    assert _ids(store, "owner", TaskQuery(context_id="none")) == []
    assert _ids(store, "owner", TaskQuery(states=(TaskState.WORKING,))) == [c, b]
    states = (TaskState.WORKING, TaskState.INPUT_REQUIRED)
    assert _ids(store, "owner", TaskQuery(states=states)) == [d, c, b]
    assert _ids(store, "owner", TaskQuery(context_id="one", states=states)) == [d, b]
    assert _ids(store, "owner", TaskQuery(updated_since=boundary)) == [d]
    assert _ids(store, "owner", TaskQuery(context_id="two", updated_since=boundary)) == []
    query = TaskQuery(context_id="one", states=states, updated_since=boundary)
    assert _ids(store, "owner", query) == [d]
    store.append(a, [status(a, TaskState.WORKING)])
    assert _ids(store, "owner", TaskQuery(states=(TaskState.WORKING,), updated_since=boundary)) == [a]


@pytest.mark.parametrize("name", ["é" * 3_000, "a/b", "__x__", "\0", "%", "'", ""])
def test_owners_contexts_and_requests_may_be_called_anything(store: Store, name: str) -> None:
    created(store, owner=f"{name}x", context_id=f"{name}x", request_key=f"{name}x")
    made = created(store, owner=name, context_id=name, request_key=f"{name}y")
    waits = store.append(made.task.id, [status(made.task.id, TaskState.INPUT_REQUIRED)])
    assert _ids(store, name, TaskQuery(context_id=name)) == [made.task.id]
    assert store.waiting(name, name) == waits
    assert store.numbered(name, 1) == waits
    assert store.running(f"{name}x", f"{name}x")
    assert store.running(name, f"{name}x") is None


def test_updated_since_is_inclusive(store: Store) -> None:
    older, newer = created(store), created(store)
    assert _ids(store, "owner", TaskQuery(updated_since=older.updated_at)) == [newer.task.id, older.task.id]
    assert _ids(store, "owner", TaskQuery(updated_since=newer.updated_at)) == [newer.task.id]


def test_the_time_of_a_status_is_its_own_and_not_the_stores(store: Store) -> None:
    later, earlier = (
        store.create(NewTask(task=a_task(timestamp=f"2026-01-31T09:30:00.00{at}Z"), owner="owner")) for at in (2, 1)
    )
    assert _ids(store, "owner", TaskQuery()) == [later.task.id, earlier.task.id]
    assert _ids(store, "owner", TaskQuery(updated_since=later.updated_at)) == [later.task.id]
    grown = store.append(earlier.task.id, [chunk(earlier.task.id, "more", append=False)])
    assert grown.updated_at == earlier.updated_at
    working = status(earlier.task.id, TaskState.WORKING, timestamp="2026-01-31T09:30:00.003Z")
    moved = store.append(earlier.task.id, [working])
    assert round(moved.updated_at - later.updated_at, 6) == 0.001
    assert _ids(store, "owner", TaskQuery()) == [earlier.task.id, later.task.id]


def test_a_page_of_a_query_ends_where_the_next_begins(store: Store) -> None:
    for _ in range(3):
        created(store, state=TaskState.WORKING)
        created(store, state=TaskState.INPUT_REQUIRED)
        created(store)
    query = TaskQuery(states=(TaskState.WORKING, TaskState.INPUT_REQUIRED))
    first = store.list("owner", query, size=4, after=None)
    second = store.list("owner", query, size=4, after=first.next)
    assert (first.total, second.total, second.next) == (6, 6, None)
    numbers = [stored.number for stored in (*first.tasks, *second.tasks)]
    assert numbers == [8, 7, 5, 4, 2, 1]


def test_a_request_that_is_running_is_joined_and_not_made_again(store: Store, other: Store) -> None:
    running = created(store, request_key="key")
    with pytest.raises(AlreadyRunning) as refused:
        created(other, request_key="key")
    assert refused.value.stored == running
    assert other.running("owner", "key") == running
    assert created(store, owner="you", request_key="key").owner == "you"
    assert created(store, request_key="another").number == 2
    assert {created(store).number, created(store).number} == {3, 4}
    assert store.running("owner", "") is None


@pytest.mark.parametrize("state", [TaskState.COMPLETED, TaskState.CANCELED, TaskState.INPUT_REQUIRED])
def test_a_request_that_no_longer_runs_may_be_made_again(store: Store, state: TaskState) -> None:
    id_ = created(store, request_key="key").task.id
    store.append(id_, [status(id_, state)])
    assert store.running("owner", "key") is None
    again = created(store, request_key="key")
    assert again.number == 2
    assert store.running("owner", "key") == again


def test_a_task_that_was_made_already_is_the_same_request(store: Store, other: Store) -> None:
    new = NewTask(task=a_task(), owner="owner", request_key="key")
    made = store.create(new)
    with pytest.raises(AlreadyRunning) as refused:
        other.create(new)
    assert refused.value.stored == made


def test_a_task_that_waited_goes_on_beside_the_same_request_made_again(store: Store) -> None:
    id_ = created(store, request_key="key", state=TaskState.INPUT_REQUIRED).task.id
    created(store, request_key="key")
    assert store.append(id_, [status(id_, TaskState.WORKING)]).version == 2


def test_a_task_that_goes_on_is_of_the_request_that_it_goes_on_with(store: Store, other: Store) -> None:
    id_ = created(store, request_key="question", state=TaskState.INPUT_REQUIRED).task.id
    assert store.running("owner", "answer") is None
    going_on = store.append(id_, [status(id_, TaskState.WORKING)], request_key="answer")
    assert other.running("owner", "answer") == going_on
    assert other.running("owner", "question") is None
    assert store.append(id_, [chunk(id_, "a")]).version == 3
    assert other.running("owner", "answer") is not None
    assert store.append(id_, [status(id_, TaskState.WORKING)], request_key="answer").version == 4
    store.append(id_, [status(id_, TaskState.COMPLETED)])
    assert store.running("owner", "answer") is None
    assert created(store, request_key="question").number == 2


def test_a_request_of_another_task_by_now_is_left_to_it(store: Store) -> None:
    waiting = created(store, request_key="key", state=TaskState.INPUT_REQUIRED).task.id
    newer = created(store, request_key="key")
    store.append(waiting, [status(waiting, TaskState.WORKING)], request_key="answer")
    assert store.running("owner", "key") == newer


def test_of_identical_requests_at_once_one_is_made(store: Store, other: Store) -> None:
    results = at_once([functools.partial(created, (store, other)[at % 2], request_key="key") for at in range(6)])
    made = [result for result in results if isinstance(result, StoredTask)]
    assert len(made) == 1
    joined = [result.stored for result in results if isinstance(result, AlreadyRunning)]
    assert [stored.task.id for stored in joined] == [made[0].task.id] * 5


def test_what_ended_before_is_purged_with_everything_of_its(store: Store, clock: Clock) -> None:
    old = [ended(store) for _ in range(3)]
    store.put_config(webhook(old[0].task.id), delivered=0)
    boundary = clock.pass_by(100)
    recent, running = ended(store), created(store)
    assert store.purge(ended_before=boundary, limit=2) == 2
    assert store.purge(ended_before=boundary, limit=2) == 1
    assert store.purge(ended_before=boundary, limit=2) == 0
    assert _ids(store, "owner", TaskQuery()) == [running.task.id, recent.task.id]
    for one in old:
        assert store.get(one.task.id, owner=None) is None
        assert events_of(store, one.task.id) == []
        assert store.configs(one.task.id) == []
        assert store.numbered("owner", one.number) is None
    assert store.due_deliveries(limit=10) == []
    assert created(store).number == 6


def test_a_task_that_waits_for_its_client_does_not_wait_for_ever(store: Store, clock: Clock) -> None:
    waiting = created(store).task.id
    store.append(waiting, [status(waiting, TaskState.INPUT_REQUIRED)])
    answered = created(store).task.id
    store.append(answered, [status(answered, TaskState.INPUT_REQUIRED)])
    boundary = clock.pass_by(100)
    store.append(answered, [status(answered, TaskState.WORKING)])
    assert store.purge(ended_before=boundary, limit=10) == 1
    assert store.get(waiting, owner=None) is None
    assert store.get(answered, owner=None) is not None


def test_an_id_of_a_purged_task_starts_anew(store: Store, other: Store, clock: Clock) -> None:
    task = a_task()
    store.create(NewTask(task=task, owner="owner"))
    store.append(task.id, [chunk(task.id, "old", append=False)])
    store.append(task.id, [status(task.id, TaskState.COMPLETED)])
    other.get(task.id, owner="owner")
    other.purge(ended_before=clock.pass_by(100), limit=10)
    again = store.create(NewTask(task=task, owner="owner"))
    assert again.task == task
    assert other.get(task.id, owner="owner") == again


def test_an_answer_that_may_be_repeated_is_found_by_its_request_until_then(
    store: Store, other: Store, clock: Clock
) -> None:
    until = clock() + 100
    made = created(store, request_key="k")
    done = store.append(made.task.id, [status(made.task.id, TaskState.COMPLETED)], repeat_until=until)
    assert other.running("owner", "k") == done
    assert other.running("owner2", "k") is None
    with pytest.raises(AlreadyRunning) as refusal:
        created(other, request_key="k")
    assert refusal.value.stored == done
    clock.pass_by(101)
    assert other.running("owner", "k") is None
    assert created(other, request_key="k").number == 2


def test_an_answer_is_not_repeated_once_the_next_turn_has_begun(store: Store, clock: Clock) -> None:
    id_ = created(store, request_key="k").task.id
    store.append(id_, [status(id_, TaskState.INPUT_REQUIRED)], repeat_until=clock() + 100)
    assert store.running("owner", "k")
    store.append(id_, [status(id_, TaskState.WORKING)], request_key="l")
    assert store.running("owner", "k") is None
    store.append(id_, [status(id_, TaskState.COMPLETED)])
    assert store.running("owner", "l") is None


def test_what_an_owner_uses_is_counted(store: Store, other: Store, clock: Clock) -> None:
    assert store.usage("owner") == Usage(tasks=0, size_bytes=0, active=0)
    id_ = created(store).task.id
    small = store.usage("owner").size_bytes
    created(other)
    created(other, owner="another")
    assert store.usage("owner") == Usage(tasks=2, size_bytes=2 * small, active=2)
    store.append(id_, [chunk(id_, "x" * 1000, append=False), status(id_, TaskState.COMPLETED)])
    usage = other.usage("owner")
    assert usage.size_bytes > 2 * small + 1000
    assert (usage.tasks, usage.active) == (2, 1)
    store.purge(ended_before=clock.pass_by(10), limit=10)
    assert store.usage("owner") == Usage(tasks=1, size_bytes=small, active=1)
