"""The log of a task, and the task that it folds to."""

import functools

import msgspec
import pytest

from a2a_hub.a2a.model import Event, Message, Part, Role, Task, TaskState, TaskStatus
from a2a_hub.task_store.store import (
    HUB,
    NewTask,
    StoredTask,
    TaskEnded,
    TaskExists,
    TooLarge,
    UnknownTask,
    WrongVersion,
)
from a2a_hub.task_store.task_log import apply_events
from tests.contract.task_store.conftest import LARGEST_TASK
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
    texts,
)


def test_a_new_task_is_the_first_entry_of_its_log(store: Store) -> None:
    task = a_task()
    made = store.create(NewTask(task=task, owner="owner", role="writer", payload=b"what to do"))
    assert made.task == task
    assert (made.owner, made.role, made.payload, made.version, made.number) == (
        "owner",
        "writer",
        b"what to do",
        1,
        1,
    )
    assert (made.attempt, made.lease_until, made.cancel_requested) == (0, 0.0, False)
    assert store.get(task.id, owner="owner") == made
    assert events_of(store, task.id) == [task]


def test_an_id_is_taken_once(store: Store) -> None:
    task = a_task()
    store.create(NewTask(task=task, owner="owner"))
    with pytest.raises(TaskExists):
        store.create(NewTask(task=task, owner="another"))


def test_a_task_that_was_never_made_is_unknown(store: Store) -> None:
    assert store.get("none", owner=None) is None
    assert store.entries("none", after=0) == []
    with pytest.raises(UnknownTask):
        store.append("none", [status("none", TaskState.WORKING)])


@pytest.mark.parametrize("id_", ["", ".", "..", "a/b", "/", "__x__", "x" * 2_000, "\0", "a\nb/c", "タスク", "%2F"])
def test_an_id_that_nobody_would_give_is_unknown_too(store: Store, id_: str) -> None:
    assert store.get(id_, owner=None) is None
    assert store.entries(id_, after=0) == []
    assert store.configs(id_) == []
    assert store.lease("w", seconds=30, roles=[HUB], task_id=id_) is None
    assert store.wait(id_, after=0, timeout_seconds=0) is False
    store.release(id_, "guessed")
    store.delete_config(id_, "p")
    with pytest.raises(UnknownTask):
        store.request_cancel(id_)


def test_what_is_appended_is_read_by_every_instance_in_its_order(store: Store, other: Store) -> None:
    first = created(store)
    id_ = first.task.id
    events: list[Event] = [
        status(id_, TaskState.WORKING, said="I begin"),
        chunk(id_, "one", append=False),
        chunk(id_, "two"),
        Message(message_id="n", role=Role.USER, parts=(Part(data={"x": [1, None]}),), task_id=id_),
        status(id_, TaskState.COMPLETED),
    ]
    store.append(id_, events[:2])
    other.append(id_, events[2:4])
    last = store.append(id_, events[4:])
    expected = apply_events(first.task, events)
    assert last.task == expected
    assert last.version == 6
    assert other.get(id_, owner="owner") == last
    assert [entry.sequence for entry in other.entries(id_, after=0)] == [1, 2, 3, 4, 5, 6]
    assert events_of(other, id_) == [first.task, *events]
    assert events_of(store, id_, after=4) == events[3:]
    assert [entry.sequence for entry in store.entries(id_, after=1, limit=2)] == [2, 3]


def test_a_whole_task_in_the_log_replaces_what_was_there(store: Store) -> None:
    id_ = created(store).task.id
    store.append(id_, [chunk(id_, "gone", append=False)])
    mirrored = Task(id=id_, context_id="elsewhere", status=TaskStatus(state=TaskState.WORKING))
    assert store.append(id_, [mirrored]).task == mirrored
    stored = store.get(id_, owner="owner")
    assert stored
    assert stored.task == mirrored


def test_an_event_of_another_task_is_refused(store: Store) -> None:
    id_ = created(store).task.id
    with pytest.raises(ValueError, match="another task"):
        store.append(id_, [status("other", TaskState.WORKING)])
    assert len(store.entries(id_, after=0)) == 1


def test_what_the_runner_has_to_know_can_be_replaced(store: Store, other: Store) -> None:
    id_ = created(store, payload=b"first").task.id
    assert store.append(id_, [status(id_, TaskState.WORKING)]).payload == b"first"
    changed = store.append(id_, [], payload=b"second")
    assert (changed.payload, changed.version) == (b"second", 2)
    assert other.get(id_, owner="owner") == changed


def test_a_writer_who_has_not_seen_the_last_entry_is_refused(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    store.append(id_, [status(id_, TaskState.WORKING)], expected_version=1)
    with pytest.raises(WrongVersion):
        other.append(id_, [status(id_, TaskState.FAILED)], expected_version=1)
    assert other.append(id_, [status(id_, TaskState.COMPLETED)], expected_version=2).version == 3


@pytest.mark.parametrize("state", [state for state in TaskState if state.terminal])
def test_nothing_follows_a_terminal_state(store: Store, state: TaskState) -> None:
    id_ = ended(store, state=state).task.id
    with pytest.raises(TaskEnded):
        store.append(id_, [status(id_, TaskState.WORKING)])
    with pytest.raises(TaskEnded):
        store.request_cancel(id_)


def test_events_behind_the_end_are_refused_with_all_that_came_with_them(store: Store) -> None:
    id_ = created(store).task.id
    with pytest.raises(TaskEnded):
        store.append(id_, [status(id_, TaskState.COMPLETED), chunk(id_, "late")])
    assert [entry.sequence for entry in store.entries(id_, after=0)] == [1]


def test_an_ended_task_takes_nothing_more(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    store.append(id_, [status(id_, TaskState.COMPLETED)])
    with pytest.raises(TaskEnded):
        other.append(id_, [chunk(id_, "late")])
    assert [entry.sequence for entry in store.entries(id_, after=0)] == [1, 2]


def test_of_eight_writers_of_the_next_version_one_wins_each_time(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    for version in range(1, 4):
        results = at_once(
            [
                functools.partial(
                    (store, other)[writer % 2].append,
                    id_,
                    [chunk(id_, f"{version} {writer}", append=version > 1)],
                    expected_version=version,
                )
                for writer in range(8)
            ]
        )
        winners = [result for result in results if isinstance(result, StoredTask)]
        assert len(winners) == 1
        assert [type(result) for result in results if result is not winners[0]] == [WrongVersion] * 7
    stored = store.get(id_, owner="owner")
    assert stored
    assert stored.version == 4
    assert len(texts(stored)) == 3


def test_writers_who_expect_nothing_lose_nothing(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    store.append(id_, [chunk(id_, "first", append=False)])

    def write(writer: int) -> None:
        for at in range(3):
            (store, other)[writer % 2].append(id_, [chunk(id_, f"{writer} {at}")])

    assert at_once([functools.partial(write, writer) for writer in range(4)]) == [None] * 4
    entries = store.entries(id_, after=0)
    assert [entry.sequence for entry in entries] == list(range(1, 15))
    stored = other.get(id_, owner="owner")
    assert stored
    written = texts(stored)
    assert len(written) == 13
    for writer in range(4):
        assert [text for text in written if text and text.startswith(f"{writer} ")] == [
            f"{writer} {at}" for at in range(3)
        ]


def test_a_long_stream_folds_to_all_of_its_chunks(store: Store, other: Store) -> None:
    id_ = created(store).task.id
    store.append(id_, [chunk(id_, "0", append=False)])
    for start in range(1, 300, 50):
        store.append(id_, [chunk(id_, f"{at} {'x' * 100}") for at in range(start, start + 50)])
        read = other.get(id_, owner="owner")
        assert read
        assert len(texts(read)) == start + 50
    last = store.append(id_, [status(id_, TaskState.COMPLETED)])
    assert last == other.get(id_, owner="owner")
    assert [text.split()[0] for text in texts(last) if text] == [str(at) for at in range(301)]


def test_an_entry_may_be_larger_than_a_megabyte(roomy: Store) -> None:
    id_ = created(roomy).task.id
    large = "a" * 1_500_000 + "å" * 1_000_000
    roomy.append(id_, [chunk(id_, large, append=False)], payload=b"w" * 2_500_000)
    stored = roomy.append(id_, [status(id_, TaskState.COMPLETED)])
    assert texts(stored) == [large]
    assert roomy.get(id_, owner="owner") == stored
    assert stored.payload == b"w" * 2_500_000
    assert events_of(roomy, id_)[1] == chunk(id_, large, append=False)


def test_a_task_cannot_outgrow_its_limit_but_it_can_still_be_ended(store: Store) -> None:
    id_ = created(store).task.id
    chunk_bytes = LARGEST_TASK // 4
    for at in range(3):
        store.append(id_, [chunk(id_, "x" * chunk_bytes, append=at > 0)])
    with pytest.raises(TooLarge):
        store.append(id_, [chunk(id_, "x" * chunk_bytes)])
    assert store.append(id_, [status(id_, TaskState.FAILED, said="It became too large")]).version == 5
    with pytest.raises(TooLarge):
        store.create(NewTask(task=a_task(text="x" * LARGEST_TASK), owner="owner"))


def test_times_are_the_clocks(store: Store, clock: Clock) -> None:
    made = created(store)
    assert made.created_at == made.updated_at
    clock.pass_by(100)
    grown = store.append(made.task.id, [status(made.task.id, TaskState.WORKING)])
    assert grown.created_at == made.created_at
    assert 100 < grown.updated_at - made.updated_at < 101


def test_what_is_stored_survives_the_store(store: Store, other: Store) -> None:
    made = created(store, payload=b"work")
    store.close()
    assert other.get(made.task.id, owner="owner") == made
    assert msgspec.json.encode(made)


def test_whoever_asks_hears_of_the_end_of_each_task_of_a_role_and_of_nothing_else(store: Store) -> None:
    heard: list[StoredTask] = []
    store.on_ended(heard.append)
    own, of_role = created(store).task.id, created(store, role="writer").task.id
    store.append(own, [status(own, TaskState.COMPLETED)])
    store.append(of_role, [status(of_role, TaskState.WORKING)])
    assert heard == []
    ended = store.append(of_role, [status(of_role, TaskState.FAILED)])
    with pytest.raises(TaskEnded):
        store.append(of_role, [status(of_role, TaskState.CANCELED)])
    assert heard == [ended]
