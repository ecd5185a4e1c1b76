"""The task store of one machine: an SQLite file, shared by threads and processes."""

import builtins
import functools
import math
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from a2a_hub.task_store import sqlite_push, sqlite_rows
from a2a_hub.task_store.log_watch import LogWatch, Sized
from a2a_hub.task_store.sqlite_file import Connections
from a2a_hub.task_store.sqlite_push import SqlitePushStore
from a2a_hub.task_store.sqlite_recovery import Report, ignore
from a2a_hub.task_store.sqlite_rows import Found, Snapshots, find
from a2a_hub.task_store.sqlite_watch import VersionPoller
from a2a_hub.task_store.store import (
    MAX_CONVERSATION_BYTES,
    AlreadyRunning,
    Entry,
    Lease,
    NewTask,
    Page,
    Position,
    QuotaClaim,
    StoredTask,
    TaskExists,
    TaskQuery,
    TooLarge,
    UnfinishedTask,
    UnknownTask,
    Usage,
)
from a2a_hub.task_store.store_base import Change
from a2a_hub.task_store.task_log import apply_events
from a2a_hub.task_store.task_record import (
    DEFAULT_TASK_BYTES,
    Addition,
    TaskRecord,
    check_append,
    new_record,
    page,
    record_after,
    stored_task,
    unfinished_task,
    with_lease,
)

_READ_BYTES = 256_000
_VACUUMED_PAGES = 2_000


class SqliteTaskStore(SqlitePushStore):
    """The store in an SQLite file. Raises WrongFile for a file that is not a task store of this version."""

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float],
        new_token: Callable[[], str],
        max_task_bytes: int = DEFAULT_TASK_BYTES,
        report: Report = ignore,
    ) -> None:
        """Set a damaged file aside and begin a new one; `report` hears of that and of lost changes."""
        self._connections = Connections(path, report=report)
        super().__init__(clock=clock, new_token=new_token, max_task_bytes=max_task_bytes)
        self._connections.prepare()
        self._snapshots = Snapshots()
        self._watch = LogWatch(
            VersionPoller(self._connections), functools.partial(self._entries, max_bytes=_READ_BYTES)
        )

    def _create(self, new: NewTask, body: bytes) -> StoredTask:
        with self._connections.writing() as connection:
            now = self._clock()
            running = _running(connection, new.owner, new.request_key, now=now)
            if running:
                raise AlreadyRunning(self._snapshots.stored(connection, running))
            number = sqlite_rows.next_number(connection, new.owner)
            record = new_record(new, number=number, size=len(body), now=now)
            try:
                key = sqlite_rows.insert(connection, record)
            except sqlite3.IntegrityError as error:
                raise TaskExists(record.id) from error
            sqlite_rows.add_entries(connection, key, 0, [body])
            if new.payload:
                sqlite_rows.put_payload(connection, key, new.payload)
            if new.push:
                sqlite_push.put(connection, key, new.push, delivered=0)
        self._snapshots.put(record, new.task)
        return stored_task(record, new.task, new.payload)

    def get(self, task_id: str, *, owner: str | None) -> StoredTask | None:
        with self._connections.reading() as connection:
            found = find(connection, "id = ?", task_id)
            return self._stored(connection, found if found and owner in (None, found.record.owner) else None)

    def numbered(self, owner: str, number: int) -> StoredTask | None:
        with self._connections.reading() as connection:
            return self._stored(connection, find(connection, "owner = ? AND number = ?", owner, number))

    def running(self, owner: str, request_key: str) -> StoredTask | None:
        with self._connections.reading() as connection:
            return self._stored(connection, _running(connection, owner, request_key, now=self._clock()))

    def waiting(self, owner: str, context_id: str) -> StoredTask | None:
        with self._connections.reading() as connection:
            key = sqlite_rows.waiting(connection, owner, context_id)
            return self._stored(connection, find(connection, "key = ?", key) if key else None)

    def _append(self, task_id: str, added: Addition) -> tuple[StoredTask, bool]:
        with self._connections.writing() as connection:
            key, record, payload = _require(connection, task_id)
            now = self._clock()
            check_append(record, added, now=now, max_bytes=self._max_task_bytes)
            task = apply_events(self._snapshots.task(connection, key, record), added.events)
            after = record_after(record, task, added, now=now)
            after = sqlite_rows.snapshot(connection, key, after, task)
            sqlite_rows.add_entries(connection, key, record.version, added.bodies)
            sqlite_rows.update(connection, key, record, after)
            falls_behind = bool(added.events) and sqlite_push.mark_behind(connection, key)
            if added.push:
                sqlite_push.put(connection, key, added.push, delivered=record.version)
            if added.payload is not None and added.payload != payload:
                payload = added.payload
                sqlite_rows.put_payload(connection, key, payload)
        self._snapshots.put(after, task)
        return stored_task(after, task, payload), falls_behind or added.push is not None

    def _change(self, task_id: str, lease: str | None, change: Change) -> StoredTask:  # noqa: ARG002 - a read is quick
        with self._connections.writing() as connection:
            found = _require(connection, task_id)
            return self._updated(connection, found, change(found.record, self._clock()))

    def entries(self, task_id: str, *, after: int, limit: int = 1000) -> builtins.list[Entry]:
        return [entry for entry, _ in self._entries(task_id, after, limit=limit)]

    def list(self, owner: str, query: TaskQuery, *, size: int, after: Position | None) -> Page:
        with self._connections.reading() as connection:
            total = sqlite_rows.total(connection, owner, query)
            keys = sqlite_rows.keys(connection, owner, query, limit=size + 1, after=after)
            found = sqlite_rows.find_all(connection, keys)
            stored = (self._snapshots.stored(connection, one) for one in found)
            return page([one.record for one in found], stored, size=size, total=total)

    def lease(self, holder: str, *, seconds: float, roles: Sequence[str], task_id: str | None = None) -> Lease | None:
        # Usually nothing is due: this check needs no write lock.
        if not self.due(roles, limit=1, task_id=task_id):
            return None
        with self._connections.writing() as connection:
            now = self._clock()
            due = sqlite_rows.due(connection, roles, now=now, limit=1, task_id=task_id)
            if not due:
                return None
            found = _require(connection, due[0])
            leased = with_lease(found.record, holder=holder, token=self._new_token(), until=now + seconds)
            stored = self._updated(connection, found, leased)
            return Lease(stored=stored, token=leased.token)

    def due(self, roles: Sequence[str] | None, *, limit: int, task_id: str | None = None) -> builtins.list[str]:
        with self._connections.reading() as connection:
            return sqlite_rows.due(connection, roles, now=self._clock(), limit=limit, task_id=task_id)

    def next_due(self, roles: Sequence[str] | None) -> float | None:
        with self._connections.reading() as connection:
            due_at = sqlite_rows.next_due(connection, roles)
        return None if due_at is None else max(due_at, self._clock())

    def unfinished(self, *, limit: int) -> builtins.list[UnfinishedTask]:
        with self._connections.reading() as connection:
            ids = sqlite_rows.due(connection, None, now=math.inf, limit=limit, task_id=None)
            return [unfinished_task(_require(connection, id_).record) for id_ in ids]

    def purge(self, *, ended_before: float, limit: int) -> int:
        with self._connections.writing() as connection:
            keys = sqlite_rows.ended(connection, before=ended_before, limit=limit)
            found = sqlite_rows.find_all(connection, keys)
            for key, record, _ in found:
                sqlite_rows.delete(connection, key, record)
            _purge_expired(connection, now=self._clock(), limit=limit)
            sqlite_rows.vacuum(connection, max_pages=_VACUUMED_PAGES)
        for one in found:
            self._snapshots.remove(one.record)
        return len(keys)

    def usage(self, owner: str) -> Usage:
        with self._connections.reading() as connection:
            return sqlite_rows.usage(connection, owner)

    def conversation(self, owner: str, context_id: str) -> bytes | None:
        statement = "SELECT data FROM conversations WHERE owner = ? AND context_id = ? AND expires_at > ?"
        with self._connections.reading() as connection:
            row = connection.execute(statement, (owner, context_id, self._clock())).fetchone()
            return row[0] if row else None

    def put_conversation(self, owner: str, context_id: str, data: bytes, *, expires_at: float) -> None:
        if len(data) > MAX_CONVERSATION_BYTES:
            raise TooLarge(context_id)
        with self._connections.writing() as connection:
            values = (owner, context_id, data, expires_at)
            connection.execute("INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?)", values)

    def claim_quota(self, counter: str, holder: str, *, amount: int, limit: int, expires_at: float) -> int:
        others = "SELECT coalesce(sum(amount), 0) FROM claims WHERE counter = ? AND holder <> ? AND expires_at > ?"
        with self._connections.writing() as connection:
            (claimed,) = connection.execute(others, (counter, holder, self._clock())).fetchone()
            granted = max(0, min(amount, limit - int(claimed)))
            values = (counter, holder, granted, expires_at)
            connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)", values)
        return granted

    def quota_claims(self, prefix: str, *, limit: int) -> builtins.list[QuotaClaim]:
        statement = (
            "SELECT counter, holder, amount, expires_at FROM claims WHERE counter >= ? AND counter < ?"
            " AND expires_at > ? AND amount > 0 ORDER BY counter, holder LIMIT ?"
        )
        with self._connections.reading() as connection:
            rows = connection.execute(statement, (prefix, prefix + chr(0x10FFFF), self._clock(), limit))
            return [QuotaClaim(*row) for row in rows]

    def close(self) -> None:
        self._watch.close()
        self._connections.close()

    def _entries(
        self, task_id: str, after: int, *, limit: int = -1, max_bytes: int | None = None
    ) -> builtins.list[Sized]:
        with self._connections.reading() as connection:
            row = connection.execute("SELECT key FROM tasks WHERE id = ?", (task_id,)).fetchone()
            if row is None:
                return []
            return sqlite_rows.read_entries(connection, row[0], after=after, limit=limit, max_bytes=max_bytes)

    def _stored(self, connection: sqlite3.Connection, found: Found | None) -> StoredTask | None:
        return self._snapshots.stored(connection, found) if found else None

    def _updated(self, connection: sqlite3.Connection, found: Found, record: TaskRecord) -> StoredTask:
        sqlite_rows.update(connection, found.key, found.record, record)
        return self._snapshots.stored(connection, found._replace(record=record))


def _running(connection: sqlite3.Connection, owner: str, request_key: str, *, now: float) -> Found | None:
    if not request_key:
        return None
    where = "owner = ? AND request_key = ?"
    in_flight = f"{where} AND request_key <> '' AND due_at IS NOT NULL ORDER BY key DESC LIMIT 1"
    to_repeat = f"{where} AND repeat_until > 0 AND repeat_until > ? ORDER BY key DESC LIMIT 1"
    found = find(connection, in_flight, owner, request_key)
    return found or find(connection, to_repeat, owner, request_key, now)


def _require(connection: sqlite3.Connection, task_id: str) -> Found:
    found = find(connection, "id = ?", task_id)
    if found is None:
        raise UnknownTask(task_id)
    return found


def _purge_expired(connection: sqlite3.Connection, *, now: float, limit: int) -> None:
    """Delete expired conversations and claims."""
    for table in ("conversations", "claims"):
        connection.execute(
            f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE expires_at <= ? LIMIT ?)",  # noqa: S608
            (now, limit),
        )
