"""The SQLite file of the task store: its schema, its connections, and the detection of changes by other processes."""

import contextlib
import errno
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from a2a_hub.task_store.log_watch import VersionReader
from a2a_hub.task_store.store import Unavailable

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
_BUSY_SECONDS = 10.0
# 16 MB: each checkpoint waits for the disk, and the same pages are written again and again between two of them.
_CHECKPOINT_PAGES = 8_000
_WAL_BYTES = 64_000_000


class WrongFile(Exception):
    """The error of a file that is not a usable task store; its text names the remedy, but not the path."""


def prepare(path: Path, open_connection: Callable[[], sqlite3.Connection]) -> None:
    """Create the tables in WAL mode, readable by the owner only. Raise WrongFile."""
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
    """Switch to WAL, with retries: SQLite refuses at once while another process does the same."""
    # For a new file only. Most pages of a commit hold a row or two: smaller pages are less to write.
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
    is_task_store = int(_pragma(connection, "application_id", "")) == _APPLICATION_ID
    empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if not is_task_store and not empty:
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


class Connections:
    """Transactions on the file, each of which waits at most `busy_seconds` for the lock. Nothing is shared across a fork."""

    def __init__(self, path: Path, *, busy_seconds: float = _BUSY_SECONDS) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._file: tuple[int, int] | None = None
        self._idle: list[sqlite3.Connection] = []
        self._process = os.getpid()
        # Threads that wait here are woken in turn; SQLite's own lock makes them sleep with back-off.
        self._one_writer = threading.Lock()
        self._closed = False

    def open(self) -> sqlite3.Connection:
        """Open a connection that the caller closes."""
        connection = sqlite3.connect(
            self._path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
            self._file = self._file or self._file_now()
        except BaseException:
            connection.close()
            raise
        return connection

    def reading(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """Open a read transaction with snapshot isolation."""
        return self._transaction("BEGIN")

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open the only write transaction; commit it, or roll it back after an exception."""
        one_writer = self._one_writer
        # Each thread in front may wait as long for another process.
        if not one_writer.acquire(timeout=self._busy_seconds):
            raise Unavailable("others are writing")
        try:
            with self._transaction("BEGIN IMMEDIATE") as connection:
                yield connection
        finally:
            one_writer.release()

    def close(self) -> None:
        """Close the idle connections; the others close when they are returned."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._take()
        except (sqlite3.Error, OSError) as error:
            raise Unavailable(str(error)) from error
        try:
            connection.execute(begin)
            yield connection
            connection.execute("COMMIT")
        except BaseException as error:
            if _is_outage(error):
                # The connection's cache of the file may be wrong.
                connection.close()
                raise Unavailable(str(error)) from error
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            self._return(connection)
            raise
        self._return(connection)

    def _take(self) -> sqlite3.Connection:
        if self._process != os.getpid():
            # Neither used nor closed: closing would release the locks of the parent process.
            self._inherited, self._idle = self._idle, []
            self._one_writer = threading.Lock()
            self._process = os.getpid()
        # A connection continues in a deleted or replaced file, where its writes are lost.
        if self._file not in (None, self._file_now()):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        try:
            return self._idle.pop()
        except IndexError:
            return self.open()

    def _file_now(self) -> tuple[int, int]:
        found = self._path.stat()
        return found.st_dev, found.st_ino

    def _return(self, connection: sqlite3.Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)


def _is_outage(error: BaseException) -> bool:
    """Return True for another process's lock, a full disk, a damaged file: anything but a faulty statement."""
    mistakes = sqlite3.IntegrityError | sqlite3.ProgrammingError
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, mistakes)


@contextlib.contextmanager
def version_reader(open_connection: Callable[[], sqlite3.Connection]) -> Iterator[VersionReader]:
    """Open a reader of versions that queries only after a change of the file, which it detects in microseconds."""
    with contextlib.closing(open_connection()) as connection:
        seen = -1
        versions: Mapping[str, int] = {}

        def read(task_ids: Sequence[str]) -> Mapping[str, int] | None:
            nonlocal seen, versions
            try:
                data_version: int = connection.execute("PRAGMA data_version").fetchone()[0]
                if data_version != seen or not versions.keys() >= set(task_ids):
                    versions = {task_id: version_of(connection, task_id) for task_id in task_ids}
                    seen = data_version
            except sqlite3.DatabaseError:
                return None
            return versions

        yield read


def version_of(connection: sqlite3.Connection, task_id: str) -> int:
    """Return the task's version, 0 for an unknown task."""
    row = connection.execute("SELECT version FROM tasks WHERE id = ?", (task_id,)).fetchone()
    return int(row[0]) if row else 0
