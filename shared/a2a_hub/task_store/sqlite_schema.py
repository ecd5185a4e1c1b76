"""The tables of the SQLite task store, and who may open a file that has them."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

SCHEMA_VERSION = 1
_OPEN_SECONDS = 10.0
_PAGE_BYTES = 2048
_APPLICATION_ID = 0x41324154  # "A2AT"

_TABLES = """
CREATE TABLE tasks (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    number INTEGER NOT NULL,
    context_id TEXT NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    size INTEGER NOT NULL,
    snapshot_version INTEGER NOT NULL,
    snapshot_size INTEGER NOT NULL,
    role TEXT NOT NULL,
    request_key TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    holder TEXT NOT NULL,
    token TEXT NOT NULL,
    lease_until REAL NOT NULL,
    cancel_requested INTEGER NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    ended_at REAL NOT NULL,
    due_at REAL
);
CREATE UNIQUE INDEX tasks_by_number ON tasks (owner, number);
CREATE INDEX tasks_by_state ON tasks (owner, state, updated_at, id);
CREATE INDEX tasks_by_context ON tasks (owner, context_id, updated_at, id, state);
-- Not unique: a task that waited may go on beside one that was made meanwhile.
CREATE INDEX tasks_running ON tasks (owner, request_key, key) WHERE request_key <> '' AND due_at IS NOT NULL;
CREATE INDEX tasks_to_run ON tasks (role, due_at, key, id) WHERE due_at IS NOT NULL;
CREATE INDEX tasks_ended ON tasks (ended_at) WHERE ended_at > 0;
-- An entry's rowid is its task's key * 2^24 + its sequence number: one tree, in which a log lies together.
CREATE TABLE entries (at INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE snapshots (key INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE work (key INTEGER PRIMARY KEY, body BLOB NOT NULL);
-- An index of 100,000 rows takes longer to count than a page may take to read.
CREATE TABLE counts (owner TEXT, state TEXT, tasks INTEGER NOT NULL, PRIMARY KEY (owner, state)) WITHOUT ROWID;
CREATE TABLE numbers (owner TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE pushes (
    at INTEGER PRIMARY KEY AUTOINCREMENT,
    key INTEGER NOT NULL,
    config_id TEXT NOT NULL,
    push BLOB NOT NULL,
    delivered INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    next_attempt_at REAL NOT NULL,
    dead TEXT NOT NULL,
    claimed_until REAL NOT NULL,
    behind INTEGER NOT NULL,
    UNIQUE (key, config_id)
);
CREATE INDEX pushes_behind ON pushes (next_attempt_at) WHERE behind = 1;
"""


class WrongFile(Exception):
    """The file is no task store that this version can use; the text says what to do, without the file's path."""


def prepare(path: Path, open_connection: Callable[[], sqlite3.Connection]) -> None:
    """The file has the tables, in WAL mode, and only its owner may read it. Raises WrongFile."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError as error:
        raise WrongFile(
            f"{path.name} cannot be written ({error.strerror}): name a file in a folder that this process may write to"
        ) from error
    try:
        with contextlib.closing(open_connection()) as connection:
            _use_wal(connection)
            _prepare(path, connection)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        raise WrongFile(f"{path.name} is not an SQLite file: name another one, or move it away") from error


def _use_wal(connection: sqlite3.Connection) -> None:
    """Asks again for a while: SQLite refuses at once while another process asks for it too."""
    # Of a new file only. Most pages of a commit hold a row or two: smaller ones are less to write.
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    deadline = time.monotonic() + _OPEN_SECONDS
    while _pragma(connection, "journal_mode", "") != "wal":
        try:
            _pragma(connection, "journal_mode", "= WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    version = int(_pragma(connection, "user_version", ""))
    ours = int(_pragma(connection, "application_id", "")) == _APPLICATION_ID
    empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if not ours and not empty:
        raise WrongFile(f"{path.name} holds something else: name a file of the task store's own")
    if version > SCHEMA_VERSION:
        raise WrongFile(
            f"{path.name} was written by a newer version of the hub (schema {version}, this one knows {SCHEMA_VERSION}):"
            " run that version, or name another file"
        )
    if empty:
        for statement in _TABLES.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")


def _pragma(connection: sqlite3.Connection, name: str, value: str) -> str:
    return str(connection.execute(f"PRAGMA {name} {value}").fetchone()[0])
