"""The conversations and quota claims of an SQLite store."""

import sqlite3

from a2a_hub.task_store.sqlite_file import Connections
from a2a_hub.task_store.store import MOST_CONVERSATION_BYTES, QuotaClaim, TooLarge
from a2a_hub.task_store.store_base import StoreBase


class SqliteSharedState(StoreBase):
    """The conversations and the use of quotas in an SQLite store."""

    _connections: Connections

    def conversation(self, owner: str, context_id: str) -> bytes | None:
        statement = "SELECT data FROM conversations WHERE owner = ? AND context_id = ? AND expires_at > ?"
        with self._connections.reading() as connection:
            row = connection.execute(statement, (owner, context_id, self._clock())).fetchone()
            return row[0] if row else None

    def put_conversation(self, owner: str, context_id: str, data: bytes, *, expires_at: float) -> None:
        if len(data) > MOST_CONVERSATION_BYTES:
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

    def quota_claims(self, prefix: str, *, limit: int) -> list[QuotaClaim]:
        statement = (
            "SELECT counter, holder, amount, expires_at FROM claims WHERE counter >= ? AND counter < ?"
            " AND expires_at > ? AND amount > 0 ORDER BY counter, holder LIMIT ?"
        )
        with self._connections.reading() as connection:
            rows = connection.execute(statement, (prefix, prefix + chr(0x10FFFF), self._clock(), limit))
            return [QuotaClaim(*row) for row in rows]


def purge(connection: sqlite3.Connection, *, now: float, limit: int) -> None:
    """Delete expired conversations and claims."""
    for table in ("conversations", "claims"):
        connection.execute(
            f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE expires_at <= ? LIMIT ?)",  # noqa: S608
            (now, limit),
        )
