"""Recording a run under a lease: which events and notes are stored, and who may no longer write."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from a2a_hub.a2a.call import CurrentTask
from a2a_hub.a2a.model import Event, TaskState
from a2a_hub.runtime.function import MESSAGE_FACTORY
from a2a_hub.runtime.ids import new_id
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import HUB, Lease, LeaseLost, StoredTask, Unavailable
from a2a_hub.tasks.recorder import LeasedWriter, Recorder, StoreRetry
from a2a_hub.tasks.run import Run
from a2a_hub.tasks.settings import LeaseTimes
from a2a_hub.telemetry.log import Log
from tests.contract.task_store.stores import Clock, chunk, created, events_of, status, texts
from tests.fakes.task_instance import PATIENCE_SECONDS, a_call

_SECONDS = 30.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[SqliteTaskStore]:
    store = SqliteTaskStore(tmp_path / "tasks.db", clock=clock, new_token=new_id)
    yield store
    store.close()


def _leased(store: SqliteTaskStore, task_id: str) -> Lease:
    lease = store.lease("another", seconds=_SECONDS, roles=(HUB,), task_id=task_id)
    assert lease is not None
    return lease


def _writer(store: SqliteTaskStore, lease: Lease, clock: Clock) -> LeasedWriter:
    retry = StoreRetry(0.0, clock=clock, pause=lambda _: None)
    return LeasedWriter(store, lease.stored, lease.token, holder="this one", seconds=_SECONDS, retry=retry)


def test_a_lease_that_ran_out_is_taken_again_where_nobody_has_written(store: SqliteTaskStore, clock: Clock) -> None:
    task_id = created(store).task.id
    writer = _writer(store, _leased(store, task_id), clock)
    clock.pass_by(_SECONDS + 1)
    writer.append([chunk(task_id, "mine", append=False)], b"")
    assert texts(writer.stored) == ["mine"]


@pytest.mark.parametrize("renews", [False, True])
def test_who_comes_back_after_another_has_written_writes_nothing_and_holds_nothing(
    store: SqliteTaskStore, clock: Clock, renews: bool
) -> None:
    task_id = created(store).task.id
    writer = _writer(store, _leased(store, task_id), clock)
    clock.pass_by(_SECONDS + 1)
    other = _leased(store, task_id)
    store.append(task_id, [status(task_id, TaskState.WORKING, said="theirs")], lease=other.token)
    store.release(task_id, other.token)
    write = writer.renew if renews else lambda: writer.append([chunk(task_id, "mine", append=False)], b"")
    with pytest.raises(LeaseLost):
        write()
    assert len(events_of(store, task_id)) == 2
    assert store.due([HUB], limit=1) == [task_id]


@pytest.mark.parametrize("state", [TaskState.INPUT_REQUIRED, TaskState.COMPLETED])
def test_notes_that_follow_the_event_that_ends_a_turn_are_stored_with_it(
    store: SqliteTaskStore, clock: Clock, state: TaskState
) -> None:
    task_id = created(store).task.id
    lease = _leased(store, task_id)
    at_the_end, may_end = threading.Event(), threading.Event()
    notes = [b"before"]
    recordings_at_the_end = 0

    def events() -> Iterator[Event]:
        yield lease.stored.task
        yield status(task_id, state)
        at_the_end.set()
        assert may_end.wait(PATIENCE_SECONDS)
        notes.append(b"after")

    def payload() -> bytes:
        nonlocal recordings_at_the_end
        # Asked for once in each pass of the recorder: with the third one, the first is over that had the event.
        recordings_at_the_end += at_the_end.is_set()
        if recordings_at_the_end == 3:
            may_end.set()
        return notes[-1]

    run = _run(task_id, events())
    _recorder(store, clock).record(run, lease.stored, lease.token, payload=payload)
    stored = store.get(task_id, owner=None)
    assert stored is not None
    assert (stored.task.status.state, stored.payload) == (state, b"after")
    assert (stored.lease_until, run.given_up) == (0.0, False)


def test_a_run_that_ends_without_a_result_is_stored_as_failed(store: SqliteTaskStore, clock: Clock) -> None:
    task_id = created(store).task.id
    lease = _leased(store, task_id)

    def events() -> Iterator[Event]:
        yield lease.stored.task
        yield chunk(task_id, "half of it", append=False)
        raise RuntimeError("the agent broke off")

    _recorder(store, clock).record(_run(task_id, events()), lease.stored, lease.token, payload=lambda: b"")
    stored = store.get(task_id, owner=None)
    assert stored is not None
    assert (stored.task.status.state, texts(stored)) == (TaskState.FAILED, ["half of it"])


def test_a_run_that_outlasts_its_lease_keeps_it(store: SqliteTaskStore, clock: Clock) -> None:
    task_id = created(store).task.id
    lease = _leased(store, task_id)
    may_end = threading.Event()
    due: list[str] = []
    passes = 0

    def events() -> Iterator[Event]:
        yield lease.stored.task
        assert may_end.wait(PATIENCE_SECONDS)
        yield status(task_id, TaskState.COMPLETED)

    def payload() -> bytes:
        nonlocal passes
        passes += 1
        due.extend(store.due([HUB], limit=1))
        clock.pass_by(0.4 * _SECONDS)
        if passes == 4:
            may_end.set()
        return b""

    _recorder(store, clock).record(_run(task_id, events()), lease.stored, lease.token, payload=payload)
    assert due == []


class _LateStore(SqliteTaskStore):
    """A store whose first append takes effect late: between the look for it and its repetition."""

    late: Callable[[], object] | None = None

    def append(self, task_id: str, events: Sequence[Event], **options: Any) -> StoredTask:
        if self.late is None:
            self.late = lambda: SqliteTaskStore.append(self, task_id, events, **options)
            raise Unavailable("the answer is lost")
        self.late()
        return super().append(task_id, events, **options)


def test_an_append_that_takes_effect_late_is_not_repeated(tmp_path: Path, clock: Clock) -> None:
    store = _LateStore(tmp_path / "late.db", clock=clock, new_token=new_id)
    task_id = created(store).task.id
    lease = _leased(store, task_id)
    retry = StoreRetry(60.0, clock=clock, pause=lambda _: None)
    writer = LeasedWriter(store, lease.stored, lease.token, holder="h", seconds=_SECONDS, retry=retry)
    with pytest.raises(LeaseLost):
        writer.append([chunk(task_id, "once", append=False)], b"")
    assert len(events_of(store, task_id)) == 2
    store.close()


def _run(task_id: str, events: Iterator[Event]) -> Run:
    threads = Threads("test")
    run = Run(replace(a_call(), task=CurrentTask(id=task_id)), events, tell=lambda _: None, threads=threads)
    run.subscribe(idle_seconds=0)
    run.relay.start(threads, on_end=lambda: None)
    return run


def _recorder(store: SqliteTaskStore, clock: Clock) -> Recorder:
    log = Log(lambda _: None, clock=clock, new_id=new_id, function="test")
    times = LeaseTimes(seconds=_SECONDS, cancel_poll_seconds=0.01)
    return Recorder(store, log=log, times=times, message_factory=MESSAGE_FACTORY, clock=clock)
