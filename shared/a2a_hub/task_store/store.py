"""The store of tasks: an append-only log of events for each task, the task it folds to, and the lease of whoever runs it.

Every method is one transaction. The store is the truth; wake-ups (`a2a_hub.queue`) only save waiting.
Times are seconds since the epoch by the store's clock. A task of another owner does not exist.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from a2a_hub.a2a.errors import ServiceUnavailable
from a2a_hub.a2a.model import Event, Task, TaskPushNotificationConfig, TaskState, Version

HUB = ""
"""The role of tasks that the hub itself runs; every other role is one of pull workers."""


class NewTask(Struct, frozen=True, kw_only=True):
    """A task to store. `task` is the first entry of its log.

    `work` is what whoever runs the task has to know, opaque to the store. While the task is submitted or working, another one of
    the same owner and `request_key` (if not empty) is not made. With `lease`, a token that the caller made, it is leased from
    the first moment on, for `lease_seconds`.
    """

    task: Task
    owner: str
    role: str = HUB
    work: bytes = b""
    request_key: str = ""
    lease: str = ""
    lease_seconds: float = 0.0
    push: PushConfig | None = None


class StoredTask(Struct, frozen=True, kw_only=True):
    """A task as it is now. `version` is the number of entries in its log, and the sequence number of the last.

    `number` counts the owner's tasks from 1, for people to type. `attempt` counts the leases given out since its
    client spoke last. `lease_until` is 0 without a lease. `updated_at` is the time that its status shows, or else that of the
    last change.
    """

    task: Task
    owner: str
    number: int
    version: int
    role: str
    work: bytes
    attempt: int
    lease_until: float
    cancel_requested: bool
    created_at: float
    updated_at: float


class Entry(Struct, frozen=True):
    """An entry of a task's log, numbered from 1 without gaps."""

    sequence: int
    event: Event


class Lease(Struct, frozen=True, kw_only=True):
    """The right to write to a task until `deadline`; `token` proves it and is a secret of its holder."""

    stored: StoredTask
    token: str
    deadline: float

    def __repr__(self) -> str:
        return f"Lease(task={self.stored.task.id!r}, deadline={self.deadline})"


class TaskQuery(Struct, frozen=True, kw_only=True):
    """Which tasks of an owner: None or empty is no condition. `updated_since` is inclusive."""

    context_id: str | None = None
    states: tuple[TaskState, ...] = ()
    updated_since: float | None = None


class Position(Struct, frozen=True):
    """Where a page ended: the last task's `updated_at` and id."""

    updated_at: float
    task_id: str


class Page(Struct, frozen=True, kw_only=True):
    """The newest first, by `updated_at`, then by id downwards. `next` is None on the last page; `total` counts all pages."""

    tasks: tuple[StoredTask, ...]
    next: Position | None
    total: int


class StoreError(Exception):
    """The store refuses; the subclass says why."""


class UnknownTask(StoreError):
    """There is no such task."""


class TaskExists(StoreError):
    """There is a task with this id."""


class AlreadyRunning(StoreError):
    """The same request is under way in `stored`."""

    def __init__(self, stored: StoredTask) -> None:
        super().__init__(stored.task.id)
        self.stored = stored


class WrongVersion(StoreError):
    """Somebody else has written since."""


class TaskEnded(StoreError):
    """Nothing can follow a terminal state."""


class LeaseLost(StoreError):
    """The lease ran out or is another's, or the task is leased and the writer has no lease."""


class TooLarge(StoreError):
    """The task would grow larger than a task may be."""


class Unavailable(StoreError, ServiceUnavailable):
    """The store cannot be reached now. What was asked for may have been done all the same; ask again."""


class TaskStore(Protocol):
    """Thread-safe, and safe among processes. Each implementation passes `tests/contract/task_store`."""

    def create(self, new: NewTask) -> StoredTask:
        """Stores a task, version 1. Raises AlreadyRunning, also where that is this very task; TaskExists."""
        ...

    def get(self, task_id: str, *, owner: str | None) -> StoredTask | None:
        """The task as it is now, if it is this owner's; an owner of None is whoever runs tasks, and may see all."""
        ...

    def numbered(self, owner: str, number: int) -> StoredTask | None:
        """The owner's task of this number."""
        ...

    def running(self, owner: str, request_key: str) -> StoredTask | None:
        """The owner's task of this request key that has neither ended nor waits for its client."""
        ...

    def waiting(self, owner: str, context_id: str) -> StoredTask | None:
        """The owner's newest task of this context that waits for its client."""
        ...

    def append(
        self,
        task_id: str,
        events: Sequence[Event],
        *,
        lease: str | None = None,
        expected_version: int | None = None,
        work: bytes | None = None,
        request_key: str = "",
        push: PushConfig | None = None,
    ) -> StoredTask:
        """Adds the events to the log, in order, all or none; `work` replaces the task's, and so does `request_key`, if not empty.

        The receiver of `push`, which is stored with them, gets these events and what follows.
        With `lease`, its holder writes, before its deadline. Without, the task must not be leased.
        The lease ends with a state that is terminal or interrupted.
        Raises UnknownTask, WrongVersion, TaskEnded, LeaseLost, TooLarge.
        """
        ...

    def entries(self, task_id: str, *, after: int, limit: int = 1000) -> builtins.list[Entry]:
        """The log from behind the sequence number `after`."""
        ...

    def wait(self, task_id: str, *, after: int, timeout_seconds: float) -> bool:
        """Waits until the task's log goes on behind `after`, whichever process writes. False when it did not in time.

        While the store cannot be reached, nothing comes: this does not raise Unavailable.
        """
        ...

    def list(self, owner: str, query: TaskQuery, *, size: int, after: Position | None) -> Page:
        """A page of the owner's tasks, behind the position `after`; of fewer than `size` where they are very large."""
        ...

    def lease(
        self, holder: str, *, seconds: float, roles: Sequence[str], task_id: str | None = None
    ) -> Lease | None:
        """Leases the task, or the one that has been due for longest, of these roles, if one is due.

        Due is a task that is submitted or working without a running lease: from its creation on, or since its lease ran out.
        """
        ...

    def due(self, roles: Sequence[str] | None, *, limit: int) -> builtins.list[str]:
        """The ids of tasks that `lease` would give out now, the longest due first; None are all roles that tasks have."""
        ...

    def renew(self, task_id: str, lease: str, *, seconds: float) -> Lease:
        """Prolongs a lease that has not run out. Raises LeaseLost or UnknownTask."""
        ...

    def release(self, task_id: str, lease: str) -> None:
        """Gives a lease back, so that the task can be leased at once; a lease that is lost is no error."""
        ...

    def request_cancel(self, task_id: str) -> StoredTask:
        """Tells whoever runs the task that it is to end. Raises UnknownTask or TaskEnded."""
        ...

    def purge(self, *, ended_before: float, limit: int) -> int:
        """Deletes tasks, with everything of theirs, that ended before or have waited for their client since; returns how many."""
        ...

    def close(self) -> None:
        """Gives connections back."""
        ...


class PushConfig(Struct, frozen=True, kw_only=True):
    """A config as it was registered, with the version whose shape its receiver expects."""

    config: TaskPushNotificationConfig
    version: Version

    def __repr__(self) -> str:
        return f"PushConfig(task={self.config.task_id!r}, id={self.config.id!r})"


class Delivery(Struct, frozen=True, kw_only=True):
    """How far a config's receiver is. `failures` counts those since the last success; `dead` says why it was given up."""

    push: PushConfig
    delivered: int = 0
    failures: int = 0
    next_attempt_at: float = 0.0
    dead: str = ""


class PushStore(Protocol):
    """Implemented by each task store; a task's configs go with it."""

    def put_config(self, push: PushConfig, *, delivered: int) -> None:
        """Stores or replaces a config, by its task's id and its own; entries up to `delivered` are not sent.

        Raises UnknownTask.
        """
        ...

    def configs(self, task_id: str) -> list[Delivery]:
        """The task's configs, in the order in which they were first stored."""
        ...

    def delete_config(self, task_id: str, config_id: str) -> None:
        """Deletes a config; one that is not there is no error."""
        ...

    def due_deliveries(self, *, limit: int) -> list[Delivery]:
        """Configs with entries that were not delivered, that are not dead, and whose next attempt is due."""
        ...

    def claim_delivery(self, delivery: Delivery, *, seconds: float) -> bool:
        """Takes a due delivery for so long, if nobody else has since it was read: two senders would break the order."""
        ...

    def save_delivery(self, delivery: Delivery) -> None:
        """Stores what became of an attempt and ends the claim; for a config that was deleted meanwhile, nothing."""
        ...


class Store(TaskStore, PushStore, Protocol):
    """A store of tasks and of their push notification configs."""
