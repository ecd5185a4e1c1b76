"""Rows of the SQLite task store, read, queried and written inside a transaction."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import convert, structs

from a2a_hub.a2a.model import Task, TaskState
from a2a_hub.task_store.log_watch import Sized
from a2a_hub.task_store.store import Entry, Position, StoredTask, TaskQuery, Usage
from a2a_hub.task_store.task_log import SnapshotCache, apply_events, read_event, read_task, task_bytes
from a2a_hub.task_store.task_record import LEASABLE, TaskRecord, snapshot_due, stored_task

_FIELDS = TaskRecord.__struct_fields__
_WORK = "(SELECT body FROM work WHERE work.key = tasks.key)"
_SELECT = f"SELECT key, {_WORK}, {', '.join(_FIELDS)} FROM tasks"  # noqa: S608 - names of our own
_INSERT = (
    f"INSERT INTO tasks ({', '.join(_FIELDS)}, due_at)"  # noqa: S608
    f" VALUES ({', '.join('?' * (len(_FIELDS) + 1))})"
)
_SEQUENCE_BITS = 24
_INTERRUPTED = tuple(state for state in TaskState if state.interrupted)
_BEHIND = " AND (updated_at, id) < (?, ?)"


class Found(NamedTuple):
    """A record with its row's key, which no other task ever has, and its resume payload."""

    key: int
    record: TaskRecord
    payload: bytes


def find(connection: sqlite3.Connection, where: str, *values: object) -> Found | None:
    """Return the one task that matches the condition."""
    row = connection.execute(f"{_SELECT} WHERE {where}", values).fetchone()
    return _found(row) if row else None


def find_all(connection: sqlite3.Connection, keys: Sequence[int]) -> list[Found]:
    """Return the tasks of these keys, in this order."""
    marks = ", ".join("?" * len(keys))
    rows = connection.execute(f"{_SELECT} WHERE key IN ({marks})", keys)
    found = {row[0]: _found(row) for row in rows}
    return [found[key] for key in keys]


def insert(connection: sqlite3.Connection, record: TaskRecord) -> int:
    """Insert a record and return its key."""
    key = connection.execute(_INSERT, (*structs.astuple(record), record.due_at)).lastrowid
    assert key is not None, "SQLite says the row of every insert"
    _add(connection, record, 1)
    return key


def update(connection: sqlite3.Connection, key: int, old: TaskRecord, new: TaskRecord) -> None:
    """Update the columns that differ: an index is written only with one of its columns."""
    before, after = ({**structs.asdict(record), "due_at": record.due_at} for record in (old, new))
    changes = {name: value for name, value in after.items() if value != before[name]}
    if old.state != new.state:
        _count(connection, "counts", new.owner, old.state, -1)
        _count(connection, "counts", new.owner, new.state, 1)
    if old.context_id != new.context_id:
        _count_context(connection, old, -1)
        _count_context(connection, new, 1)
    if old.size != new.size:
        _count(connection, "sizes", new.owner, new.size - old.size)
    if changes:
        assignments = ", ".join(f"{name} = ?" for name in changes)
        connection.execute(f"UPDATE tasks SET {assignments} WHERE key = ?", (*changes.values(), key))  # noqa: S608


def delete(connection: sqlite3.Connection, key: int, record: TaskRecord) -> None:
    """Delete a task with all its data."""
    low = key << _SEQUENCE_BITS
    high = low + (1 << _SEQUENCE_BITS)
    connection.execute("DELETE FROM entries WHERE at > ? AND at < ?", (low, high))
    for table in ("snapshots", "work", "pushes", "tasks"):
        connection.execute(f"DELETE FROM {table} WHERE key = ?", (key,))  # noqa: S608
    _add(connection, record, -1)


def add_entries(connection: sqlite3.Connection, key: int, version: int, bodies: Iterable[bytes]) -> None:
    """Append entries after `version`."""
    at = (key << _SEQUENCE_BITS) + version
    for offset, body in enumerate(bodies, start=1):
        connection.execute("INSERT INTO entries VALUES (?, ?)", (at + offset, body))


def read_entries(
    connection: sqlite3.Connection, key: int, *, after: int, limit: int = -1, max_bytes: int | None = None
) -> list[Sized]:
    """Return the entries after the sequence number `after` with their sizes: at least one, and until they exceed `max_bytes`."""
    low = key << _SEQUENCE_BITS
    high = low + (1 << _SEQUENCE_BITS)
    rows = connection.execute(
        "SELECT at, body FROM entries WHERE at > ? AND at < ? ORDER BY at LIMIT ?", (low + after, high, limit)
    )
    found: list[Sized] = []
    size = 0
    for at, body in rows:
        found.append((Entry(at - low, read_event(body)), len(body)))
        size += len(body)
        if max_bytes is not None and size >= max_bytes:
            break
    return found


def put_payload(connection: sqlite3.Connection, key: int, payload: bytes) -> None:
    """Store the resume payload, in a row of its own because rows are written whole."""
    connection.execute("INSERT OR REPLACE INTO work VALUES (?, ?)", (key, payload))


class Snapshots(SnapshotCache):
    """The snapshots of tasks."""

    def task(self, connection: sqlite3.Connection, key: int, record: TaskRecord) -> Task:
        """Return the task at the record's version."""
        version, task = self.nearest(record)
        if version == record.version and task:
            return task
        if task is None and record.snapshot_version:
            row = connection.execute("SELECT body FROM snapshots WHERE key = ?", (key,)).fetchone()
            version, task = record.snapshot_version, read_task(row[0])
        if version < record.version:
            entries = read_entries(connection, key, after=version, limit=record.version - version)
            task = apply_events(task, (entry.event for entry, _ in entries))
        assert task is not None, "a log has a first entry"
        return task

    def stored(self, connection: sqlite3.Connection, found: Found) -> StoredTask:
        """Return the present state of the task."""
        return stored_task(found.record, self.task(connection, found.key, found.record), found.payload)


def snapshot(connection: sqlite3.Connection, key: int, record: TaskRecord, task: Task) -> TaskRecord:
    """Store a snapshot if one is due; return the record with it."""
    if not snapshot_due(record):
        return record
    connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?)", (key, task_bytes(task)))
    return structs.replace(record, snapshot_version=record.version, snapshot_size=record.size)


def _found(row: Sequence[Any]) -> Found:
    # SQLite has no truth values.
    record = convert(dict(zip(_FIELDS, row[2:], strict=True)), TaskRecord, strict=False)
    return Found(row[0], record, row[1] or b"")


def _count(connection: sqlite3.Connection, table: str, *row: object) -> None:
    """Add the last value of the row to the counter that the others name."""
    column = "bytes" if table == "sizes" else "tasks"
    connection.execute(
        f"INSERT INTO {table} VALUES ({_marks(row)})"  # noqa: S608
        f" ON CONFLICT DO UPDATE SET {column} = {column} + excluded.{column}",
        row,
    )


def _add(connection: sqlite3.Connection, record: TaskRecord, sign: int) -> None:
    """Count a task that is added, or with a sign of -1 deleted."""
    _count(connection, "counts", record.owner, record.state, sign)
    _count(connection, "sizes", record.owner, sign * record.size)
    _count_context(connection, record, sign)


def _count_context(connection: sqlite3.Connection, record: TaskRecord, change: int) -> None:
    context = record.owner, record.context_id
    _count(connection, "context_counts", *context, change)
    if change < 0:
        connection.execute("DELETE FROM context_counts WHERE owner = ? AND context_id = ? AND tasks = 0", context)


def usage(connection: sqlite3.Connection, owner: str) -> Usage:
    """Return the storage that the owner's tasks use."""
    size = connection.execute("SELECT bytes FROM sizes WHERE owner = ?", (owner,)).fetchone()
    return Usage(
        tasks=total(connection, owner, TaskQuery()),
        size_bytes=size[0] if size else 0,
        active=total(connection, owner, TaskQuery(states=LEASABLE)),
    )


def next_number(connection: sqlite3.Connection, owner: str) -> int:
    """Return the number of the owner's next task, which is never reused, even after a purge."""
    row = connection.execute(
        "INSERT INTO numbers VALUES (?, 1) ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last", (owner,)
    ).fetchone()
    return int(row[0])


def total(connection: sqlite3.Connection, owner: str, query: TaskQuery) -> int:
    """Return the number of tasks that match the query."""
    if query.updated_since is None and (query.context_id is None or not query.states):
        chosen, named = "counts WHERE owner = ?", [owner, *query.states]
        if query.context_id is not None:
            chosen, named = "context_counts WHERE owner = ? AND context_id = ?", [owner, query.context_id]
        if query.states:
            chosen += f" AND state IN ({_marks(query.states)})"
        statement = f"SELECT coalesce(sum(tasks), 0) FROM {chosen}"  # noqa: S608
        return int(connection.execute(statement, named).fetchone()[0])
    count = 0
    for where, values in _conditions(owner, query):
        statement = f"SELECT count(*) FROM tasks WHERE {where}"  # noqa: S608
        count += int(connection.execute(statement, values).fetchone()[0])
    return count


def keys(
    connection: sqlite3.Connection, owner: str, query: TaskQuery, *, limit: int, after: Position | None
) -> list[int]:
    """Return the keys of the newest matching tasks after the position `after`."""
    found: list[tuple[float, str, int]] = []
    for where, values in _conditions(owner, query):
        behind = (after.updated_at, after.task_id) if after else ()
        found += connection.execute(
            f"SELECT updated_at, id, key FROM tasks WHERE {where}{_BEHIND if after else ''}"  # noqa: S608
            " ORDER BY updated_at DESC, id DESC LIMIT ?",
            (*values, *behind, limit),
        )
    return [key for _, _, key in sorted(found, reverse=True)[:limit]]


def waiting(connection: sqlite3.Connection, owner: str, context_id: str) -> int | None:
    """Return the key of the owner's newest interrupted task of this context."""
    query = TaskQuery(context_id=context_id, states=_INTERRUPTED)
    found = keys(connection, owner, query, limit=1, after=None)
    return found[0] if found else None


def due(
    connection: sqlite3.Connection,
    roles: Sequence[str] | None,
    *,
    now: float,
    limit: int,
    task_id: str | None,
) -> list[str]:
    """Return the ids of the tasks of these roles, or all, that can be leased, longest due first; only `task_id`, if given."""
    found: list[tuple[float, int, str]] = []
    for role in _roles(connection, roles):
        one = " AND id = ?" if task_id else ""
        found += connection.execute(
            f"SELECT due_at, key, id FROM tasks WHERE role = ? AND due_at <= ?{one}"  # noqa: S608
            " ORDER BY due_at, key LIMIT ?",
            (role, now, *([task_id] if task_id else []), limit),
        )
    return [id_ for _, _, id_ in sorted(found)[:limit]]


def next_due(connection: sqlite3.Connection, roles: Sequence[str] | None) -> float | None:
    """Return the time from which the first task of these roles, or all, may be leased."""
    statement = "SELECT min(due_at) FROM tasks WHERE role = ? AND due_at IS NOT NULL"
    times = [connection.execute(statement, (role,)).fetchone()[0] for role in _roles(connection, roles)]
    return min((due_at for due_at in times if due_at is not None), default=None)


def _roles(connection: sqlite3.Connection, roles: Sequence[str] | None) -> list[str]:
    if roles is not None:
        return list(dict.fromkeys(roles))
    return [role for (role,) in connection.execute("SELECT DISTINCT role FROM tasks WHERE due_at IS NOT NULL")]


def ended(connection: sqlite3.Connection, *, before: float, limit: int) -> list[int]:
    """Return the keys of the tasks that ended before, oldest first."""
    rows = connection.execute(
        "SELECT key FROM tasks WHERE ended_at > 0 AND ended_at < ? ORDER BY ended_at LIMIT ?", (before, limit)
    )
    return [key for (key,) in rows]


def vacuum(connection: sqlite3.Connection, *, max_pages: int) -> None:
    """Return unused pages to the disk, unless the file is of a version that kept them."""
    for _ in range(min(max_pages, connection.execute("PRAGMA freelist_count").fetchone()[0])):
        # Python takes one step of this statement, and a step is a page.
        connection.execute("PRAGMA incremental_vacuum(1)")


def _conditions(owner: str, query: TaskQuery) -> list[tuple[str, list[object]]]:
    """Return disjoint conditions that an index sorts by time: one for a context, or one for each state."""
    newer = " AND updated_at >= ?" if query.updated_since is not None else ""
    newer_values: list[object] = [] if query.updated_since is None else [query.updated_since]
    if query.context_id is not None:
        where, values = "owner = ? AND context_id = ?", [owner, query.context_id, *newer_values]
        if not query.states:
            return [(where + newer, values)]
        return [(f"{where}{newer} AND state IN ({_marks(query.states)})", [*values, *query.states])]
    states = query.states or tuple(TaskState)
    return [(f"owner = ? AND state = ?{newer}", [owner, state, *newer_values]) for state in states]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
