"""Which tasks a question is about: keys and counts, found by the indices alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from a2a_hub.a2a.model import TaskState
from a2a_hub.task_store.store import Position, TaskQuery

_INTERRUPTED = tuple(state for state in TaskState if state.interrupted)
_BEHIND = " AND (updated_at, id) < (?, ?)"


def next_number(connection: sqlite3.Connection, owner: str) -> int:
    """The number of the owner's next task: never given twice, even after a purge."""
    row = connection.execute(
        "INSERT INTO numbers VALUES (?, 1) ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last", (owner,)
    ).fetchone()
    return int(row[0])


def total(connection: sqlite3.Connection, owner: str, query: TaskQuery) -> int:
    """How many tasks the query is true of."""
    if query.context_id is None and query.updated_since is None:
        chosen = "SELECT coalesce(sum(tasks), 0) FROM counts WHERE owner = ?"
        values: list[object] = [owner]
        if query.states:
            chosen += f" AND state IN ({_marks(query.states)})"
            values += query.states
        return int(connection.execute(chosen, values).fetchone()[0])
    count = 0
    for where, values in _conditions(owner, query):
        statement = f"SELECT count(*) FROM tasks WHERE {where}"  # noqa: S608
        count += int(connection.execute(statement, values).fetchone()[0])
    return count


def keys(
    connection: sqlite3.Connection, owner: str, query: TaskQuery, *, limit: int, after: Position | None
) -> list[int]:
    """The keys of the newest tasks that the query is true of, from behind `after`."""
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
    """The key of the owner's newest task of this context that waits for its client."""
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
    """The ids of tasks of these roles, or of all, that can be leased, the longest due first; of `task_id` only, if given."""
    if roles is None:
        roles = [
            role for (role,) in connection.execute("SELECT DISTINCT role FROM tasks WHERE due_at IS NOT NULL")
        ]
    found: list[tuple[float, int, str]] = []
    for role in dict.fromkeys(roles):
        one = " AND id = ?" if task_id else ""
        found += connection.execute(
            f"SELECT due_at, key, id FROM tasks WHERE role = ? AND due_at <= ?{one}"  # noqa: S608
            " ORDER BY due_at, key LIMIT ?",
            (role, now, *([task_id] if task_id else []), limit),
        )
    return [id_ for _, _, id_ in sorted(found)[:limit]]


def ended(connection: sqlite3.Connection, *, before: float, limit: int) -> list[int]:
    """The keys of tasks that ended before, the oldest first."""
    rows = connection.execute(
        "SELECT key FROM tasks WHERE ended_at > 0 AND ended_at < ? ORDER BY ended_at LIMIT ?", (before, limit)
    )
    return [key for (key,) in rows]


def _conditions(owner: str, query: TaskQuery) -> list[tuple[str, list[object]]]:
    """Conditions whose results are disjoint, each of which an index sorts by time: one of a context, or one for each state."""
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
