"""The task store of one machine: an SQLite file, shared by threads and processes."""

import builtins
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from a2a_hub.a2a.model import Event
from a2a_hub.task_store import sqlite_push, sqlite_rows
from a2a_hub.task_store.log_watch import LogWatch
from a2a_hub.task_store.sqlite_file import Connections, prepare, version_of, version_reader
from a2a_hub.task_store.sqlite_push import SqlitePushStore
from a2a_hub.task_store.sqlite_rows import Found, Snapshots, find
from a2a_hub.task_store.store import (
    AlreadyRunning,
    Entry,
    Lease,
    NewTask,
    Page,
    Position,
    PushConfig,
    StoredTask,
    TaskEnded,
    TaskExists,
    TaskQuery,
    TooLarge,
    UnknownTask,
)
from a2a_hub.task_store.task_log import apply_events, event_bytes
from a2a_hub.task_store.task_record import (
    DEFAULT_TASK_BYTES,
    TaskRecord,
    check_append,
    check_lease,
    check_size,
    new_record,
    page_length,
    record_after,
    stored_task,
    with_lease,
    without_lease,
)

_POLL_SECONDS = 0.002
_POLL_SHARE = 0.1


class SqliteTaskStore(SqlitePushStore):
    """The store in an SQLite file. Raises WrongFile for a file that is not a task store of this version."""

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float],
        new_token: Callable[[], str],
        most_task_bytes: int = DEFAULT_TASK_BYTES,
    ) -> None:
        self._connections = Connections(path)
        super().__init__(self._connections, clock)
        prepare(path, self._connections.open)
        self._new_token = new_token
        self._most_task_bytes = most_task_bytes
        self._snapshots = Snapshots()
        self._watch = LogWatch(
            lambda: version_reader(self._connections.open), seconds=_POLL_SECONDS, most_share=_POLL_SHARE
        )

    def create(self, new: NewTask) -> StoredTask:
        """Store a task, version 1."""
        body = event_bytes(new.task)
        if len(body) > self._most_task_bytes:
            raise TooLarge(new.task.id)
        with self._connections.writing() as connection:
            running = _running(connection, new.owner, new.request_key)
            if running:
                raise AlreadyRunning(self._snapshots.stored(connection, running))
            number = sqlite_rows.next_number(connection, new.owner)
            record = new_record(new, number=number, size=len(body), now=self._clock())
            try:
                key = sqlite_rows.insert(connection, record)
            except sqlite3.IntegrityError as error:
                raise TaskExists(record.id) from error
            sqlite_rows.add_entries(connection, key, 0, [body])
            if new.payload:
                sqlite_rows.put_payload(connection, key, new.payload)
            if new.push:
                sqlite_push.put(connection, key, new.push, delivered=0)
        self._snapshots.put(key, record, new.task)
        self._watch.notify(record.id)
        return stored_task(record, new.task, new.payload)

    def get(self, task_id: str, *, owner: str | None) -> StoredTask | None:
        """Return the task, if it is this owner's."""
        with self._connections.reading() as connection:
            found = find(connection, "id = ?", task_id)
            return self._stored(connection, found if found and owner in (None, found.record.owner) else None)

    def numbered(self, owner: str, number: int) -> StoredTask | None:
        """Return the owner's task of this number."""
        with self._connections.reading() as connection:
            return self._stored(connection, find(connection, "owner = ? AND number = ?", owner, number))

    def running(self, owner: str, request_key: str) -> StoredTask | None:
        """Return the owner's submitted or working task of this request key."""
        with self._connections.reading() as connection:
            return self._stored(connection, _running(connection, owner, request_key))

    def waiting(self, owner: str, context_id: str) -> StoredTask | None:
        """Return the owner's newest interrupted task of this context."""
        with self._connections.reading() as connection:
            key = sqlite_rows.waiting(connection, owner, context_id)
            return self._stored(connection, find(connection, "key = ?", key) if key else None)

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
    ) -> StoredTask:
        """Append the events in order, all or none."""
        bodies = [event_bytes(event) for event in events]
        added = sum(map(len, bodies))
        with self._connections.writing() as connection:
            key, record, old_payload = _require(connection, task_id)
            now = self._clock()
            check_append(record, events, lease=lease, expected_version=expected_version, now=now)
            check_size(record, events, added, limit=self._most_task_bytes)
            task = apply_events(self._snapshots.task(connection, key, record), events)
            after = record_after(record, task, count=len(events), added=added, now=now, request_key=request_key)
            after = sqlite_rows.snapshot(connection, key, after, task)
            sqlite_rows.add_entries(connection, key, record.version, bodies)
            sqlite_rows.update(connection, key, record, after)
            if events:
                sqlite_push.mark_behind(connection, key)
            if push:
                sqlite_push.put(connection, key, push, delivered=record.version)
            if payload is not None and payload != old_payload:
                sqlite_rows.put_payload(connection, key, payload)
                old_payload = payload
        self._snapshots.put(key, after, task)
        self._watch.notify(task_id)
        return stored_task(after, task, old_payload)

    def entries(self, task_id: str, *, after: int, limit: int = 1000) -> builtins.list[Entry]:
        """Return the entries after the sequence number `after`."""
        with self._connections.reading() as connection:
            row = connection.execute("SELECT key FROM tasks WHERE id = ?", (task_id,)).fetchone()
            if row is None:
                return []
            entries = sqlite_rows.read_entries(connection, row[0], after=after, limit=limit)
            return [Entry(sequence, event) for sequence, event in entries]

    def wait(self, task_id: str, *, after: int, timeout_seconds: float) -> bool:
        """Wait for an entry after `after`, whichever process writes it."""
        return self._watch.wait(
            task_id, after=after, timeout_seconds=timeout_seconds, version=lambda: self._version(task_id)
        )

    def list(self, owner: str, query: TaskQuery, *, size: int, after: Position | None) -> Page:
        """Return a page of the owner's tasks after the position `after`."""
        with self._connections.reading() as connection:
            total = sqlite_rows.total(connection, owner, query)
            keys = sqlite_rows.keys(connection, owner, query, limit=size + 1, after=after)
            found = sqlite_rows.find_all(connection, keys)
            most = page_length([one.record for one in found], size=size)
            tasks = tuple(self._snapshots.stored(connection, one) for one in found[:most])
        last = found[most - 1].record if most < len(found) else None
        return Page(tasks=tasks, next=Position(last.updated_at, last.id) if last else None, total=total)

    def lease(self, holder: str, *, seconds: float, roles: Sequence[str], task_id: str | None = None) -> Lease | None:
        """Lease the named task, or the one of these roles that has been due longest."""
        # Usually nothing is due: this check needs no write lock.
        if not self._due(roles, limit=1, task_id=task_id):
            return None
        with self._connections.writing() as connection:
            now = self._clock()
            due = sqlite_rows.due(connection, roles, now=now, limit=1, task_id=task_id)
            if not due:
                return None
            found = _require(connection, due[0])
            leased = with_lease(found.record, holder=holder, token=self._new_token(), until=now + seconds)
            return self._leased(connection, found, leased)

    def due(self, roles: Sequence[str] | None, *, limit: int) -> builtins.list[str]:
        """Return the ids of the tasks that `lease` would lease now, longest due first."""
        return self._due(roles, limit=limit, task_id=None)

    def renew(self, task_id: str, lease: str, *, seconds: float) -> Lease:
        """Extend a valid lease to `seconds` from now."""
        with self._connections.writing() as connection:
            found, now = _require(connection, task_id), self._clock()
            check_lease(found.record, lease, now=now)
            renewed = replace(found.record, lease_until=now + seconds)
            return self._leased(connection, found, renewed)

    def release(self, task_id: str, lease: str) -> None:
        """Release the lease, so that the task is due at once; a lost lease is no error."""
        with self._connections.writing() as connection:
            found = find(connection, "id = ?", task_id)
            if found and found.record.token == lease:
                self._updated(connection, found, without_lease(found.record))

    def request_cancel(self, task_id: str) -> StoredTask:
        """Request the cancellation of the task."""
        with self._connections.writing() as connection:
            found = _require(connection, task_id)
            if found.record.state.terminal:
                raise TaskEnded(task_id)
            return self._updated(connection, found, replace(found.record, cancel_requested=True))

    def purge(self, *, ended_before: float, limit: int) -> int:
        """See `TaskStore.purge`."""
        with self._connections.writing() as connection:
            keys = sqlite_rows.ended(connection, before=ended_before, limit=limit)
            for key, record, _ in sqlite_rows.find_all(connection, keys):
                sqlite_rows.delete(connection, key, record)
        for key in keys:
            self._snapshots.remove(key)
        return len(keys)

    def close(self) -> None:
        """Close the connections."""
        self._watch.close()
        self._connections.close()

    def _due(self, roles: Sequence[str] | None, *, limit: int, task_id: str | None) -> builtins.list[str]:
        with self._connections.reading() as connection:
            return sqlite_rows.due(connection, roles, now=self._clock(), limit=limit, task_id=task_id)

    def _version(self, task_id: str) -> int:
        with self._connections.reading() as connection:
            return version_of(connection, task_id)

    def _stored(self, connection: sqlite3.Connection, found: Found | None) -> StoredTask | None:
        return self._snapshots.stored(connection, found) if found else None

    def _updated(self, connection: sqlite3.Connection, found: Found, record: TaskRecord) -> StoredTask:
        sqlite_rows.update(connection, found.key, found.record, record)
        return self._snapshots.stored(connection, found._replace(record=record))

    def _leased(self, connection: sqlite3.Connection, found: Found, record: TaskRecord) -> Lease:
        stored = self._updated(connection, found, record)
        return Lease(stored=stored, token=record.token, deadline=record.lease_until)


def _running(connection: sqlite3.Connection, owner: str, request_key: str) -> Found | None:
    if not request_key:
        return None
    condition = "owner = ? AND request_key = ? AND request_key <> '' AND due_at IS NOT NULL ORDER BY key DESC LIMIT 1"
    return find(connection, condition, owner, request_key)


def _require(connection: sqlite3.Connection, task_id: str) -> Found:
    found = find(connection, "id = ?", task_id)
    if found is None:
        raise UnknownTask(task_id)
    return found
