"""Push notification configs and their deliveries in the SQLite file."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import astuple

from a2a_hub.task_store.sqlite_file import Connections
from a2a_hub.task_store.store import Delivery, PushConfig, UnknownTask
from a2a_hub.task_store.store_base import StoreBase

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(PushConfig)
_KEY = "SELECT key FROM tasks WHERE id = ?"
_SELECT = "SELECT push, delivered, failures, next_attempt_at, dead FROM pushes"
# `behind` marks configs with entries to send, so that an index finds the due ones.
_BEHIND = "behind = (dead = '' AND delivered < (SELECT version FROM tasks WHERE tasks.key = pushes.key))"
_MATCHES = "key = (SELECT key FROM tasks WHERE id = ?) AND config_id = ? AND push = ?"


def mark_behind(connection: sqlite3.Connection, key: int) -> bool:
    """Mark every live config of the task as behind; True if one was not. Part of the transaction that appends."""
    marked = connection.execute("UPDATE pushes SET behind = 1 WHERE key = ? AND behind = 0 AND dead = ''", (key,))
    return marked.rowcount > 0


def put(connection: sqlite3.Connection, key: int, push: PushConfig, *, delivered: int) -> None:
    """Insert the config, or replace the one with its id."""
    config_id = push.config.id or ""
    connection.execute(
        "INSERT INTO pushes VALUES (NULL, ?, ?, ?, ?, 0, 0, '', 0, 0) ON CONFLICT DO UPDATE SET"
        " push = excluded.push, delivered = excluded.delivered, failures = 0, next_attempt_at = 0,"
        " dead = '', claimed_until = 0",
        (key, config_id, _encoder.encode(push), delivered),
    )
    connection.execute(
        f"UPDATE pushes SET {_BEHIND} WHERE key = ? AND config_id = ?",  # noqa: S608
        (key, config_id),
    )


class SqlitePushStore(StoreBase):
    """The push notification configs of an SQLite store."""

    _connections: Connections

    def put_config(self, push: PushConfig, *, delivered: int) -> None:
        with self._connections.writing() as connection:
            row = connection.execute(_KEY, (push.config.task_id,)).fetchone()
            if row is None:
                raise UnknownTask(str(push.config.task_id))
            put(connection, row[0], push, delivered=delivered)
        self._undelivered(push.config.task_id or "")

    def configs(self, task_id: str) -> list[Delivery]:
        with self._connections.reading() as connection:
            rows = connection.execute(f"{_SELECT} WHERE key = ({_KEY}) ORDER BY at", (task_id,))
            return [_delivery(row) for row in rows]

    def delete_config(self, task_id: str, config_id: str) -> None:
        with self._connections.writing() as connection:
            connection.execute(
                f"DELETE FROM pushes WHERE key = ({_KEY}) AND config_id = ?",  # noqa: S608
                (task_id, config_id),
            )

    def due_deliveries(self, *, limit: int) -> list[Delivery]:
        now = self._clock()
        with self._connections.reading() as connection:
            rows = connection.execute(
                f"{_SELECT} WHERE behind = 1 AND next_attempt_at <= ? AND claimed_until <= ?"
                " ORDER BY next_attempt_at LIMIT ?",
                (now, now, limit),
            )
            return [_delivery(row) for row in rows]

    def claim_delivery(self, delivery: Delivery, *, seconds: float) -> bool:
        now = self._clock()
        with self._connections.writing() as connection:
            changed = connection.execute(
                f"UPDATE pushes SET claimed_until = ? WHERE {_MATCHES} AND behind = 1 AND delivered = ?"  # noqa: S608
                " AND failures = ? AND next_attempt_at = ? AND next_attempt_at <= ? AND claimed_until <= ?",
                (now + seconds, *_identity(delivery), *astuple(delivery)[1:4], now, now),
            )
            return changed.rowcount == 1

    def save_delivery(self, delivery: Delivery) -> None:
        with self._connections.writing() as connection:
            connection.execute(
                "UPDATE pushes SET delivered = max(delivered, ?), failures = ?, next_attempt_at = ?, dead = ?,"  # noqa: S608
                f" claimed_until = 0 WHERE {_MATCHES}",
                (*astuple(delivery)[1:], *_identity(delivery)),
            )
            connection.execute(f"UPDATE pushes SET {_BEHIND} WHERE {_MATCHES}", _identity(delivery))  # noqa: S608


def _identity(delivery: Delivery) -> tuple[str | None, str, bytes]:
    config = delivery.push.config
    return config.task_id, config.id or "", _encoder.encode(delivery.push)


def _delivery(row: Sequence[Any]) -> Delivery:
    return Delivery(_decoder.decode(row[0]), *row[1:])
