"""The task store: per task, an append-only log of events, the snapshot it folds to, a lease, and push notification configs.

Every method is one transaction. The store is the truth; wake-ups (`a2a_hub.queue`) only save waiting.
Times are seconds since the epoch by the store's clock. A task of another owner does not exist.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from a2a_hub.a2a.errors import ServiceUnavailable
from a2a_hub.a2a.model import Event, Task, TaskPushNotificationConfig, TaskState, Version

if TYPE_CHECKING:
    from a2a_hub.task_store.log_watch import Reader

HUB = ""
"""The role of tasks that the hub itself runs; every other role belongs to pull workers."""
MAX_CONVERSATION_BYTES = 500_000


class NewTask(Struct, frozen=True, kw_only=True):
    """A task to store. `task` is the first entry of its log.

    `payload` is the resume payload, opaque to the store. While the task is submitted or working, no second one of the same owner
    and `request_key` (if not empty) is created. With `lease`, a token that the caller made, the task is leased from its creation
    for `lease_seconds`.
    """

    task: Task
    owner: str
    role: str = HUB
    payload: bytes = b""
    request_key: str = ""
    lease: str = ""
    lease_seconds: float = 0.0
    push: PushConfig | None = None


class StoredTask(Struct, frozen=True, kw_only=True):
    """The present state of a task. `version` is the number of entries in its log, and the sequence number of the last.

    `number` counts the owner's tasks from 1, for people to type. `attempt` counts the leases since the client's last message.
    `lease_until` is 0 without a lease. `updated_at` is the timestamp of its status, or else that of the last change.
    """

    task: Task
    owner: str
    number: int
    version: int
    role: str
    payload: bytes
    attempt: int
    lease_until: float
    cancel_requested: bool
    created_at: float
    updated_at: float

    @property
    def waits_for_worker(self) -> bool:
        """True if a worker is to do the work, and none has taken it since the client's last message."""
        return self.role != HUB and self.attempt == 0 and not self.task.status.state.settled


class Entry(Struct, frozen=True):
    """An entry of a task's log, numbered from 1 without gaps."""

    sequence: int
    event: Event


class Lease(Struct, frozen=True, kw_only=True):
    """The right to write to a task until its `lease_until`; `token` proves it and is a secret of its holder."""

    stored: StoredTask
    token: str

    def __repr__(self) -> str:
        return f"Lease(task={self.stored.task.id!r}, until={self.stored.lease_until})"


class UnfinishedTask(Struct, frozen=True, kw_only=True):
    """A submitted or working task, without its content. `holder` has or had its lease, until `lease_until`; "" for a hub's."""

    id: str
    role: str
    state: TaskState
    attempt: int
    holder: str
    lease_until: float
    created_at: float


class TaskQuery(Struct, frozen=True, kw_only=True):
    """A filter on an owner's tasks; None or empty matches all. `updated_since` is inclusive."""

    context_id: str | None = None
    states: tuple[TaskState, ...] = ()
    updated_since: float | None = None


class Position(Struct, frozen=True):
    """The end of a page: the last task's `updated_at` and id."""

    updated_at: float
    task_id: str


class Page(Struct, frozen=True, kw_only=True):
    """Tasks in descending order of `updated_at` and id. `next` is None on the last page; `total` counts all pages."""

    tasks: tuple[StoredTask, ...]
    next: Position | None
    total: int


class Usage(Struct, frozen=True, kw_only=True):
    """The storage that an owner uses. `active` tasks are submitted or working."""

    tasks: int
    size_bytes: int
    active: int


class QuotaClaim(Struct, frozen=True):
    """A holder's share of a counter, until it expires."""

    counter: str
    holder: str
    amount: int
    expires_at: float


class StoreError(Exception):
    """An operation that the store rejects; each subclass is a reason."""


class UnknownTask(StoreError):
    """The task does not exist."""


class TaskExists(StoreError):
    """A task with this id exists."""


class AlreadyRunning(StoreError):
    """The same request is already running as `stored`."""

    def __init__(self, stored: StoredTask) -> None:
        super().__init__(stored.task.id)
        self.stored = stored


class WrongVersion(StoreError):
    """The task has another version by now."""


class TaskEnded(StoreError):
    """The task is terminal: nothing can be appended."""


class LeaseLost(StoreError):
    """The lease expired or is held by somebody else, or the task is leased and the writer has no lease."""


class TooLarge(StoreError):
    """The task would exceed its size limit."""


class Unavailable(StoreError, ServiceUnavailable):
    """The store cannot be reached. The operation may have taken effect nevertheless; retry it."""


class Contended(Unavailable):
    """Others write what the operation would write, all the time."""


class TaskStore(Protocol):
    """The store of tasks, safe across threads and processes. Each implementation passes `tests/contract/task_store`."""

    def create(self, new: NewTask) -> StoredTask:
        """Store a task, version 1. Raise AlreadyRunning for a task that `running` returns; TaskExists; TooLarge."""

    def get(self, task_id: str, *, owner: str | None) -> StoredTask | None:
        """Return the owner's task, or None. An owner of None stands for the processes that run tasks, which may see all."""

    def numbered(self, owner: str, number: int) -> StoredTask | None:
        """Return the owner's task of this number."""

    def running(self, owner: str, request_key: str) -> StoredTask | None:
        """Return the owner's task of this request key that is submitted or working, or whose answer may be repeated."""

    def waiting(self, owner: str, context_id: str) -> StoredTask | None:
        """Return the owner's newest interrupted task of this context."""

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
        """Append the events in order, all or none; if this `reopens` it, to a terminal task, too.

        `payload` and a `request_key` that is not empty replace the task's.

        `running` returns the task until `repeat_until`, though it is settled, unless a later turn begins.
        `push` is stored with the events; its receiver gets them and what follows.
        With `lease`, the caller must hold it and its deadline must not have passed. Without, the task must not be leased.
        A terminal or interrupted state ends the lease.
        Raise UnknownTask, WrongVersion, TaskEnded, LeaseLost, TooLarge.
        """

    def entries(self, task_id: str, *, after: int, limit: int = 1000) -> builtins.list[Entry]:
        """Return the entries after the sequence number `after`."""

    def follow(self, task_id: str, *, after: int, wake: Callable[[], None]) -> Reader:
        """Follow the log after the sequence number `after`.

        `wake` is called, from any thread, when `take` may return something after it returned [], or the task is gone.
        """

    def wait(self, task_id: str, *, after: int, timeout_seconds: float) -> bool:
        """Wait for an entry after `after`, whichever process writes it; return False on a timeout. Outages are silence."""

    def list(self, owner: str, query: TaskQuery, *, size: int, after: Position | None) -> Page:
        """Return a page of the owner's tasks after the position `after`; fewer than `size` if they are very large."""

    def lease(self, holder: str, *, seconds: float, roles: Sequence[str], task_id: str | None = None) -> Lease | None:
        """Lease the named task, or the one of these roles that has been due longest; None if none is due.

        A submitted or working task without a valid lease is due since its creation, since its lease expired, or since the time
        that its release named.
        """

    def due(self, roles: Sequence[str] | None, *, limit: int) -> builtins.list[str]:
        """Return the ids of the tasks that `lease` would lease now, longest due first; None stands for all roles of tasks."""

    def unfinished(self, *, limit: int) -> builtins.list[UnfinishedTask]:
        """Return the submitted and working tasks of all owners and roles, leased or not, longest due first."""

    def renew(self, task_id: str, lease: str, *, seconds: float) -> StoredTask:
        """Extend a valid lease to `seconds` from now. Raise LeaseLost or UnknownTask."""

    def next_due(self, roles: Sequence[str] | None) -> float | None:
        """Return the time when the next task of these roles, or all, is due, at least now; None if there is none."""

    def release(self, task_id: str, lease: str, *, due_at: float | None = None) -> None:
        """Release the lease, so that the task is due at once; a lost lease is no error.

        With `due_at`, it is due then, or when its cancellation is requested, and the lease does not count as an attempt.
        """

    def request_cancel(self, task_id: str) -> StoredTask:
        """Request the cancellation of the task, for the process that runs it. Raise UnknownTask or TaskEnded."""

    def purge(self, *, ended_before: float, limit: int) -> int:
        """Delete tasks that ended, or were interrupted, before that time, with all their data; return their number.

        Expired conversations and claims are deleted as well, up to `limit` of each.
        """

    def on_ended(self, ended: Callable[[StoredTask], object]) -> None:
        """Call `ended` with each task of a role that this process ended, from any thread. A later callback replaces it."""

    def usage(self, owner: str) -> Usage:
        """Return the storage that the owner's tasks use."""

    def close(self) -> None:
        """Close the connections."""


class PushConfig(Struct, frozen=True, kw_only=True):
    """A config as registered, with the protocol version of its notifications."""

    config: TaskPushNotificationConfig
    version: Version

    def __repr__(self) -> str:
        return f"PushConfig(task={self.config.task_id!r}, id={self.config.id!r})"


class Delivery(Struct, frozen=True):
    """The delivery state of a config: `delivered` is the last entry that the receiver accepted.

    `failures` counts those since the last success; `dead` is the reason for giving up, or empty.
    """

    push: PushConfig
    delivered: int = 0
    failures: int = 0
    next_attempt_at: float = 0.0
    dead: str = ""


class PushStore(Protocol):
    """The store of push notification configs (A2A 1.0.1 §3.1.7-§3.1.10); a task's configs are deleted with it."""

    def on_undelivered(self, wake: Callable[[str], object]) -> None:
        """Call `wake` with a task's id after each commit of this process that gives a config something to send, from any thread.

        A later callback replaces it. A commit while entries wait to be sent anyway may call nothing.
        """

    def put_config(self, push: PushConfig, *, delivered: int) -> None:
        """Store or replace a config, keyed by task id and config id; entries up to `delivered` are not sent.

        Raise UnknownTask.
        """

    def configs(self, task_id: str) -> list[Delivery]:
        """Return the task's configs, in the order of their creation."""

    def delete_config(self, task_id: str, config_id: str) -> None:
        """Delete a config, if it exists."""

    def due_deliveries(self, *, limit: int) -> list[Delivery]:
        """Return the live configs with undelivered entries whose next attempt is due, longest due first."""

    def claim_delivery(self, delivery: Delivery, *, seconds: float) -> bool:
        """Claim a due delivery unless it has changed since it was read: two senders would break the order of entries."""

    def save_delivery(self, delivery: Delivery) -> None:
        """Store the result of an attempt and end the claim; do nothing for a config deleted meanwhile."""


class SharedState(Protocol):
    """The state that instances share beside the tasks: conversations and the use of quotas."""

    def conversation(self, owner: str, context_id: str) -> bytes | None:
        """Return the unexpired data of the owner's conversation."""

    def put_conversation(self, owner: str, context_id: str, data: bytes, *, expires_at: float) -> None:
        """Store or replace the data of a conversation. Raise TooLarge beyond `MAX_CONVERSATION_BYTES`."""

    def claim_quota(self, counter: str, holder: str, *, amount: int, limit: int, expires_at: float) -> int:
        """Set the holder's claim to `amount`, or to what the unexpired claims of others leave of `limit`; return it."""

    def quota_claims(self, prefix: str, *, limit: int) -> list[QuotaClaim]:
        """Return unexpired claims on counters that begin with the prefix, by counter and holder."""


class Store(TaskStore, PushStore, SharedState, Protocol):
    """A store of tasks, of their push notification configs, and of what instances share."""
