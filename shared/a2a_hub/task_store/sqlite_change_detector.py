"""Whether another process has written to the SQLite file."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence

from a2a_hub.task_store.log_watch import Look


@contextlib.contextmanager
def looking(open_connection: Callable[[], sqlite3.Connection]) -> Iterator[Look]:
    """Looks at the tasks only where the file has changed at all, which costs a few microseconds to find out."""
    with contextlib.closing(open_connection()) as connection:
        seen = -1
        versions: Mapping[str, int] = {}

        def look(task_ids: Sequence[str]) -> Mapping[str, int] | None:
            nonlocal seen, versions
            try:
                data_version: int = connection.execute("PRAGMA data_version").fetchone()[0]
                if data_version != seen or not versions.keys() >= set(task_ids):
                    versions = {task_id: _version(connection, task_id) for task_id in task_ids}
                    seen = data_version
            except sqlite3.DatabaseError:
                return None
            return versions

        yield look


def _version(connection: sqlite3.Connection, task_id: str) -> int:
    row = connection.execute("SELECT version FROM tasks WHERE id = ?", (task_id,)).fetchone()
    return int(row[0]) if row else 0
