"""Task records in Firestore: read, queried, changed and deleted. Each query has its index in `firestore.indexes.json`."""

from __future__ import annotations

import contextlib
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from a2a_hub.a2a.model import TaskState
from a2a_hub.task_store.firestore_client import Contention, Database, Fields, retried
from a2a_hub.task_store.firestore_documents import (
    Bodies,
    Snapshots,
    delete_all,
    digest,
    index_key,
    possible_id,
    read_record,
    record_fields,
)
from a2a_hub.task_store.firestore_push import configs_of
from a2a_hub.task_store.store import (
    LeaseLost,
    Position,
    StoredTask,
    TaskEnded,
    TaskQuery,
    TooLarge,
    UnknownTask,
    Usage,
    WrongVersion,
)
from a2a_hub.task_store.task_record import LEASABLE, TaskRecord, stored_task

if TYPE_CHECKING:
    from google.cloud.firestore import DocumentReference, WriteBatch

_INTERRUPTED = tuple(state for state in TaskState if state.interrupted)
_DOWN = "DESCENDING"
_MAX_VALUES = 30
"""Firestore's limit for `in`."""
_MAX_HELD = 100
_GROWS_WITHIN_SECONDS = 2.0
_LARGEST_BLOCK = 64
_MAX_OWNERS = 10_000
_Result = TypeVar("_Result")


class Found(NamedTuple):
    """A record with its document at `update_time`."""

    reference: DocumentReference
    update_time: Any
    fields: Fields
    record: TaskRecord


class _Block:
    """The claimed and unused numbers of one owner, and the size and time of the last claim."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.unused: list[int] = []
        self.size = 1
        self.claimed_at = 0.0


class TaskNumbers:
    """The next numbers of owners, claimed in blocks, so that no document is written by every creation.

    A block begins with one number, and doubles while claims follow each other within two seconds. So somebody's numbers are
    consecutive, while a program's have gaps between instances. None is given twice.
    """

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._blocks: dict[str, _Block] = {}

    def take(self, owner: str) -> int:
        """Return a number that no other task of the owner has. Raise Contention, Unavailable."""
        if len(self._blocks) > _MAX_OWNERS:
            self._blocks = {}
        block = self._blocks.setdefault(owner, _Block())
        with block.lock:
            if not block.unused:
                now = self._clock()
                grows = now - block.claimed_at < _GROWS_WITHIN_SECONDS
                block.size, block.claimed_at = min(2 * block.size, _LARGEST_BLOCK) if grows else 1, now
                counter = self._database.collection("owners").document(digest(owner))
                last = self._database.increment(counter, "last_number", block.size)
                block.unused += range(last - block.size + 1, last + 1)
            return block.unused.pop(0)


class Records:
    """The records of tasks. Each method but `first` and `with_lease` is part of an attempt of `Database.with_retries`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.bodies = Bodies(database)
        self.snapshots = Snapshots(database, self.bodies)
        self._lock = threading.Lock()
        self._held: OrderedDict[str, Found] = OrderedDict()

    def document(self, task_id: str) -> DocumentReference:
        """Return the reference of the task's document."""
        return self._database.collection("tasks").document(task_id)

    def request(self, owner: str, request_key: str) -> DocumentReference:
        """Return the reference of the document that names the newest task of this request."""
        return self._database.collection("requests").document(digest(f"{len(owner)}:{owner}:{request_key}"))

    def find(self, task_id: str) -> Found | None:
        """Return the record of this id, or None."""
        if not possible_id(task_id):
            return None
        document = self.document(task_id)
        snapshot = self._database.read_one(document)
        return found_record(snapshot) if snapshot.exists else None

    def require(self, task_id: str) -> Found:
        """Return the record of this id. Raise UnknownTask."""
        one = self.find(task_id)
        if one is None:
            raise UnknownTask(task_id)
        return one

    def with_lease(self, task_id: str, lease: str | None, attempt: Callable[[Found], _Result]) -> _Result:
        """Return what `attempt` returns for the record. Raise UnknownTask.

        The holder of a lease is usually the only one who changes a record, and knows it without a read.
        """
        with self._lock:
            held = self._held.pop(task_id, None)
        known = [held] if held and lease and held.record.token == lease else []

        def once() -> _Result:
            if known:
                # The record may have changed since: only a commit proves that it has not.
                with contextlib.suppress(LeaseLost, TaskEnded, TooLarge, WrongVersion, Contention):
                    return attempt(known.pop())
            return attempt(self.require(task_id))

        return self._database.with_retries(once)

    def hold(self, reference: DocumentReference, update_time: Any, fields: Fields, record: TaskRecord) -> None:
        """Remember the leased record that this process has committed."""
        with self._lock:
            self._held.pop(record.id, None)
            if record.token:
                self._held[record.id] = Found(reference, update_time, fields, record)
                if len(self._held) > _MAX_HELD:
                    self._held.popitem(last=False)

    @retried
    def first(self, query: Any) -> StoredTask | None:
        """Return the first task that matches the query, in an attempt of its own."""
        snapshots = self._database.query(query)
        return self.stored(found_record(snapshots[0])) if snapshots else None

    def running(self, request_key: str, request: Any, *, now: float) -> StoredTask | None:
        """Return the task that the request's snapshot names, if it is in flight or may be repeated."""
        one = self.find(request.get("task_id")) if request.exists else None
        # After a purge, the id may belong to another task.
        return self.stored(one) if one and one.record.joinable(request_key, now=now) else None

    def stored(self, one: Found, record: TaskRecord | None = None) -> StoredTask:
        """Return the whole task, with `record` instead of the one that was read."""
        task = self.snapshots.task(one.reference, one.fields, one.record)
        return stored_task(record or one.record, task, self.bodies.get(one.reference, one.fields["work"]))

    def change(self, one: Found, record: TaskRecord) -> StoredTask:
        """Commit another record with the same log."""
        changed = self.stored(one, record)
        self.commit(self._database.batch(), one, record, {})
        return changed

    def commit(self, batch: Any, one: Found, record: TaskRecord, more: Fields) -> None:
        """Commit the changed fields with the batch, on the condition that the record has not changed since it was read."""
        before, after = record_fields(one.record), record_fields(record)
        changes = {name: value for name, value in after.items() if value != before[name]} | more
        if changes:
            batch.update(one.reference, changes, option=self._database.unchanged_since(one))
        written = self._database.commit(batch)
        if changes:
            self.hold(one.reference, written[-1].update_time, one.fields | changes, record)

    def rename_request(self, batch: WriteBatch, before: TaskRecord, after: TaskRecord) -> None:
        """Point the request key at the newest task, as part of a commit."""
        new = self.request(after.owner, after.request_key)
        old = self.request(before.owner, before.request_key or after.request_key)
        found = self._database.read(new, *([old] if old.path != new.path else []))
        self._database.put(batch, found[new.path], {"task_id": after.id})
        if old.path != new.path and found[old.path].exists and found[old.path].get("task_id") == before.id:
            batch.delete(old, option=self._database.unchanged_since(found[old.path]))

    def delete(self, one: Found) -> None:
        """Delete the task, the record last: an interrupted deletion finds the rest by it."""
        document, record = one.reference, one.record
        for name in ("log", "chunks"):
            below = self._database.query(document.collection(name).select([]))
            delete_all(self._database, [snapshot.reference for snapshot in below])
        last = [snapshot.reference for snapshot in configs_of(self._database, record.id)]
        if record.request_key:
            request = self.request(record.owner, record.request_key)
            snapshot = self._database.read_one(request)
            if snapshot.exists and snapshot.get("task_id") == record.id:
                last.append(request)
        delete_all(self._database, [*last, document])

    def version(self, task_id: str) -> int:
        """Return the task's version, 0 for an unknown one."""
        one = self.find(task_id)
        return one.record.version if one else 0


def found_record(snapshot: Any) -> Found:
    """Return the record in an existing snapshot."""
    fields = snapshot.to_dict()
    return Found(snapshot.reference, snapshot.update_time, fields, read_record(fields))


def numbered(database: Database, owner: str, number: int) -> Any:
    """Return the query for the owner's task of this number."""
    return database.where(
        database.collection("tasks"), ("owner_key", "==", index_key(owner)), ("number", "==", number)
    ).limit(1)


def waiting(database: Database, owner: str, context_id: str) -> Any:
    """Return the query for the owner's newest interrupted task of this context."""
    query = newest(database, owner, TaskQuery(context_id=context_id, states=_INTERRUPTED))
    return page(database, query, limit=1, after=None)


def newest(database: Database, owner: str, query: TaskQuery) -> Any:
    """Return the query for all matching tasks, newest first, so that counting and reading need the same index."""
    conditions: list[tuple[str, str, Any]] = [("owner_key", "==", index_key(owner))]
    if query.context_id is not None:
        conditions.append(("context_key", "==", index_key(query.context_id)))
    if query.states:
        conditions.append(("state", "in", [str(state) for state in query.states]))
    if query.updated_since is not None:
        conditions.append(("updated_at", ">=", query.updated_since))
    found = database.where(database.collection("tasks"), *conditions)
    return found.order_by("updated_at", direction=_DOWN).order_by("__name__", direction=_DOWN)


def page(database: Database, query: Any, *, limit: int, after: Position | None) -> Any:
    """Return the query for a page, after the position `after`."""
    if after:
        document = database.collection("tasks").document(after.task_id)
        query = query.start_after({"updated_at": after.updated_at, "__name__": document})
    return query.limit(limit)


def due(
    database: Database,
    roles: Sequence[str] | None,
    *,
    now: float,
    limit: int,
    fields: list[str] | None = None,
) -> list[Any]:
    """Return the snapshots of the tasks of these roles, or all, that can be leased, longest due first."""
    found: list[Any] = []
    different = list(dict.fromkeys(roles or ()))
    some = [different[at : at + _MAX_VALUES] for at in range(0, len(different), _MAX_VALUES)]
    conditions = [()] if roles is None else [(("role", "in", each),) for each in some]
    for of_roles in conditions:
        query = database.where(database.collection("tasks"), *of_roles, ("due_at", "<=", now))
        query = query.order_by("due_at").limit(limit)
        found += database.query(query.select(fields) if fields else query)
    return sorted(found, key=lambda one: one.get("due_at"))[:limit]


def next_due(database: Database, roles: Sequence[str] | None) -> float | None:
    """Return the time from which the first task of these roles, or all, may be leased."""
    found = due(database, roles, now=math.inf, limit=1, fields=["due_at"])
    return float(found[0].get("due_at")) if found else None


def usage(database: Database, owner: str) -> Usage:
    """Return the storage that the owner's tasks use."""
    of_owner = database.where(database.collection("tasks"), ("owner_key", "==", index_key(owner)))
    tasks, size = database.count(of_owner, sum_of="size")
    active, _ = database.count(newest(database, owner, TaskQuery(states=LEASABLE)))
    return Usage(tasks=tasks, size_bytes=size, active=active)


def ended(database: Database, *, before: float, limit: int) -> Any:
    """Return the query for the tasks that ended before, oldest first."""
    query = database.where(database.collection("tasks"), ("ended_at", ">", 0.0), ("ended_at", "<", before))
    return query.order_by("ended_at").limit(limit)
