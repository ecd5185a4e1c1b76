"""The part that all stores share: changes of a record, followed logs, callbacks for undelivered entries."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from a2a_hub.a2a.model import Event
from a2a_hub.task_store.log_watch import LogWatch, Reader
from a2a_hub.task_store.store import LeaseLost, NewTask, PushConfig, StoredTask, TooLarge, UnknownTask
from a2a_hub.task_store.task_log import event_bytes
from a2a_hub.task_store.task_record import (
    Addition,
    TaskRecord,
    check_lease,
    with_cancel_request,
    without_lease,
)

Change = Callable[[TaskRecord, float], TaskRecord]
"""A change of a record at a time; raises what the operation raises."""


class StoreBase(ABC):
    """The base of stores, whose methods are described in `TaskStore`, `PushStore` and `SharedState`."""

    _watch: LogWatch

    def __init__(self, *, clock: Callable[[], float], new_token: Callable[[], str], max_task_bytes: int) -> None:
        self._clock = clock
        self._new_token = new_token
        self._max_task_bytes = max_task_bytes
        self._undelivered: Callable[[str], object] = lambda _: None
        self._ended: Callable[[StoredTask], object] = lambda _: None

    @abstractmethod
    def _create(self, new: NewTask, body: bytes) -> StoredTask:
        """Store the task and the body of its first entry."""

    @abstractmethod
    def _append(self, task_id: str, added: Addition) -> tuple[StoredTask, bool]:
        """Append; return True with the task if a config may have something to send by now."""

    @abstractmethod
    def _change(self, task_id: str, lease: str | None, change: Change) -> StoredTask:
        """Change the record; who holds it by `lease` may know it already. Raise UnknownTask."""

    def create(self, new: NewTask) -> StoredTask:
        body = event_bytes(new.task)
        if len(body) > self._max_task_bytes:
            raise TooLarge(new.task.id)
        made = self._create(new, body)
        if new.push:
            self._undelivered(made.task.id)
        return made

    def append(
        self,
        task_id: str,
        events: Sequence[Event],
        *,
        lease: str | None = None,
        expected_version: int | None = None,
        payload: bytes | None = None,
        request_key: str = "",
        push: PushConfig | None = None,
        repeat_until: float = 0.0,
        reopens: bool = False,
    ) -> StoredTask:
        bodies = [event_bytes(event) for event in events]
        added = Addition(events, bodies, lease, expected_version, payload, request_key, push, repeat_until, reopens)
        grown, is_behind = self._append(task_id, added)
        self._watch.add_written(task_id, grown.version - len(events), events, bodies)
        if is_behind:
            self._undelivered(task_id)
        if grown.role and grown.task.status.state.terminal:
            self._ended(grown)
        return grown

    def follow(self, task_id: str, *, after: int, wake: Callable[[], None]) -> Reader:
        return self._watch.follow(task_id, after=after, wake=wake)

    def wait(self, task_id: str, *, after: int, timeout_seconds: float) -> bool:
        return self._watch.wait(task_id, after=after, timeout_seconds=timeout_seconds)

    def renew(self, task_id: str, lease: str, *, seconds: float) -> StoredTask:
        def renewed(record: TaskRecord, now: float) -> TaskRecord:
            check_lease(record, lease, now=now)
            return replace(record, lease_until=now + seconds)

        return self._change(task_id, lease, renewed)

    def release(self, task_id: str, lease: str, *, due_at: float | None = None) -> None:
        def released(record: TaskRecord, _: float) -> TaskRecord:
            if record.token != lease:
                raise LeaseLost(task_id)
            return without_lease(record, due_at=due_at)

        with contextlib.suppress(UnknownTask, LeaseLost):
            self._change(task_id, lease, released)

    def request_cancel(self, task_id: str) -> StoredTask:
        return self._change(task_id, None, lambda record, _: with_cancel_request(record))

    def on_undelivered(self, wake: Callable[[str], object]) -> None:
        self._undelivered = wake

    def on_ended(self, ended: Callable[[StoredTask], object]) -> None:
        self._ended = ended
