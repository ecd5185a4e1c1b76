"""Task records in Firestore: read, queried, changed and deleted. Each query has its index in `firestore.indexes.json`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from a2a_hub.a2a.model import TaskState
from a2a_hub.task_store.firestore_client import Database, Fields
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
from a2a_hub.task_store.store import Position, StoredTask, TaskQuery, UnknownTask
from a2a_hub.task_store.task_record import TaskRecord, stored_task

if TYPE_CHECKING:
    from google.cloud.firestore import DocumentReference, WriteBatch

_INTERRUPTED = tuple(state for state in TaskState if state.interrupted)
_DOWN = "DESCENDING"
_MOST_VALUES = 30
"""Firestore's limit for `in`."""


class Found(NamedTuple):
    """A record with the snapshot that it was read from."""

    snapshot: Any
    fields: Fields
    record: TaskRecord


class Records:
    """The records of tasks. Each method is part of an attempt of `Database.with_retries`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.bodies = Bodies(database)
        self.snapshots = Snapshots(database, self.bodies)

    def document(self, task_id: str) -> DocumentReference:
        """Return the reference of the task's document."""
        return self._database.collection("tasks").document(task_id)

    def owner(self, owner: str) -> DocumentReference:
        """Return the reference of the owner's last number."""
        return self._database.collection("owners").document(digest(owner))

    def request(self, owner: str, request_key: str) -> DocumentReference:
        """Return the reference of the document that names the newest task of this request."""
        return self._database.collection("requests").document(digest(f"{len(owner)}:{owner}:{request_key}"))

    def find(self, task_id: str) -> Found | None:
        """Return the record of this id, or None."""
        if not possible_id(task_id):
            return None
        document = self.document(task_id)
        snapshot = self._database.read(document)[document.path]
        return found_record(snapshot) if snapshot.exists else None

    def require(self, task_id: str) -> Found:
        """Return the record of this id. Raise UnknownTask."""
        one = self.find(task_id)
        if one is None:
            raise UnknownTask(task_id)
        return one

    def first(self, query: Callable[[], Any]) -> StoredTask | None:
        """Return the first task that matches the query."""
        snapshots = self._database.query(query())
        return self.stored(found_record(snapshots[0])) if snapshots else None

    def running(self, request_key: str, request: Any) -> StoredTask | None:
        """Return the task that the request's snapshot names, if it is submitted or working."""
        one = self.find(request.get("task_id")) if request.exists else None
        # After a purge, the id may belong to another task.
        if one is None or one.record.request_key != request_key or not one.record.leasable:
            return None
        return self.stored(one)

    def stored(self, one: Found, record: TaskRecord | None = None) -> StoredTask:
        """Return the whole task, with `record` instead of the one that was read."""
        document = one.snapshot.reference
        task = self.snapshots.task(document, one.fields, one.record)
        return stored_task(record or one.record, task, self.bodies.get(document, one.fields["work"]))

    def change(self, one: Found, record: TaskRecord) -> StoredTask:
        """Commit another record with the same log."""
        changed = self.stored(one, record)
        batch = self._database.batch()
        self.update(batch, one, record, {})
        self._database.commit(batch)
        return changed

    def update(self, batch: Any, one: Found, record: TaskRecord, more: Fields) -> None:
        """Add the changed fields to a commit, on the condition that the record has not changed since it was read."""
        before, after = record_fields(one.record), record_fields(record)
        changes = {name: value for name, value in after.items() if value != before[name]}
        if changes or more:
            unchanged_since = self._database.unchanged_since(one.snapshot)
            batch.update(one.snapshot.reference, {**changes, **more}, option=unchanged_since)

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
        document, record = one.snapshot.reference, one.record
        for name in ("log", "chunks"):
            below = self._database.query(document.collection(name).select([]))
            delete_all(self._database, [snapshot.reference for snapshot in below])
        last = [snapshot.reference for snapshot in configs_of(self._database, record.id)]
        if record.request_key:
            request = self.request(record.owner, record.request_key)
            snapshot = self._database.read(request)[request.path]
            if snapshot.exists and snapshot.get("task_id") == record.id:
                last.append(request)
        delete_all(self._database, [*last, document])

    def versions(self, task_ids: Sequence[str]) -> dict[str, int]:
        """Return the versions of these tasks, 0 for unknown ones."""
        documents = {one: self.document(one) for one in task_ids if possible_id(one)}
        snapshots = self._database.read(*documents.values(), fields=["version"])
        versions = dict.fromkeys(task_ids, 0)
        for one, document in documents.items():
            if snapshots[document.path].exists:
                versions[one] = snapshots[document.path].get("version")
        return versions


def found_record(snapshot: Any) -> Found:
    """Return the record in an existing snapshot."""
    fields = snapshot.to_dict()
    return Found(snapshot, fields, read_record(fields))


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
    some = [different[at : at + _MOST_VALUES] for at in range(0, len(different), _MOST_VALUES)]
    conditions = [()] if roles is None else [(("role", "in", each),) for each in some]
    for of_roles in conditions:
        query = database.where(database.collection("tasks"), *of_roles, ("due_at", "<=", now))
        query = query.order_by("due_at").limit(limit)
        found += database.query(query.select(fields) if fields else query)
    return sorted(found, key=lambda one: one.get("due_at"))[:limit]


def ended(database: Database, *, before: float, limit: int) -> Any:
    """Return the query for the tasks that ended before, oldest first."""
    query = database.where(database.collection("tasks"), ("ended_at", ">", 0.0), ("ended_at", "<", before))
    return query.order_by("ended_at").limit(limit)
