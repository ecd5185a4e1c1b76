"""The SQLite file of the task store: its schema, its connections, and a new file in place of a damaged or missing one."""

import contextlib
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from a2a_hub.task_store.sqlite_recovery import (
    APPLICATION_ID,
    FileId,
    LogFile,
    Report,
    alone_in,
    file_id,
    ignore,
    is_damage,
    log_id,
    looks_like_store,
    set_aside,
)
from a2a_hub.task_store.store import Unavailable

SCHEMA_VERSION = 2
_OPEN_SECONDS = 10.0
_PAGE_BYTES = 2048
_BUSY_SECONDS = 10.0
_IDLE_SECONDS = 10.0
# 16 MB: each checkpoint waits for the disk, and the same pages are written again and again between two of them.
_CHECKPOINT_PAGES = 8_000
_WAL_BYTES = 64_000_000


class WrongFile(Exception):
    """The error of a file that is not a usable task store; its text names the remedy, but not the path."""


def prepare(path: Path, open_connection: Callable[[], sqlite3.Connection], report: Report) -> None:
    """Create the tables in WAL mode, readable by the owner only, in a new file if this one is damaged. Raise WrongFile."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(path.parent):
            if not path.exists():
                set_aside(path, "which is gone", report)
            try:
                _prepare_file(path, open_connection, report)
            except sqlite3.OperationalError as error:
                raise WrongFile(
                    f"{path.name} cannot be used ({error}): another process may hold it, its disk may be full, or this process"
                    " may not write to it"
                ) from error
            except sqlite3.DatabaseError as error:
                if not looks_like_store(path):
                    raise WrongFile(f"{path.name} is not an SQLite file: name another one, or move it away") from error
                set_aside(path, "which is damaged", report)
                _prepare_file(path, open_connection, report)
    except OSError as error:
        raise WrongFile(
            f"{path.name} cannot be written ({error.strerror}): name a file in a folder that this process may write to"
        ) from error


def _prepare_file(path: Path, open_connection: Callable[[], sqlite3.Connection], report: Report) -> None:
    path.touch(mode=0o600)
    log = LogFile(path)
    with contextlib.closing(open_connection()) as connection:
        _use_wal(connection)
        _prepare(path, connection)
        log.report_loss(connection, report)


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL, with retries: SQLite refuses at once while another process does the same."""
    # For a new file only. Most pages of a commit hold a row or two: smaller pages are less to write.
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    deadline = time.monotonic() + _OPEN_SECONDS
    while _pragma(connection, "journal_mode") != "wal":
        try:
            _pragma(connection, "journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    version = int(_pragma(connection, "user_version"))
    is_task_store = int(_pragma(connection, "application_id")) == APPLICATION_ID
    if not is_task_store and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise WrongFile(f"{path.name} holds something else: name a file of the task store's own")
    if version > SCHEMA_VERSION:
        raise WrongFile(
            f"{path.name} was written by a newer version of the hub (schema {version}, this one knows {SCHEMA_VERSION}):"
            " run that version, or name another file"
        )
    for later in range(version + 1, SCHEMA_VERSION + 1):
        for statement in statements_to(later).split(";\n"):
            connection.execute(statement)
    if version < SCHEMA_VERSION:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")


def statements_to(version: int) -> str:
    """Return the statements that make this version of the schema of the one before."""
    return Path(__file__).with_name(f"sqlite_{version}.sql").read_text(encoding="utf-8")


def _pragma(connection: sqlite3.Connection, name: str) -> str:
    return str(connection.execute(f"PRAGMA {name}").fetchone()[0])


class Connections:
    """Transactions on the file, each of which waits at most `busy_seconds` for the lock. Nothing is shared across a fork.

    A file that is gone or replaced while it is used is followed by the one at its path, a damaged one by a new one.
    """

    def __init__(self, path: Path, *, busy_seconds: float = _BUSY_SECONDS, report: Report = ignore) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._report = report
        self._file: FileId | None = None
        self._log: FileId | None = None
        self._generation = 0
        self._idle: list[tuple[sqlite3.Connection, float]] = []
        self._process = os.getpid()
        # Threads that wait here are woken in turn; SQLite's own lock makes them sleep with back-off.
        self._one_writer = threading.Lock()
        self._one_renewal = threading.Lock()
        self._closed = False

    def prepare(self) -> None:
        """Make the file at the path a usable one. Raise WrongFile."""
        # Connections that are in use meanwhile belong to the file before, and are closed when they are returned.
        self._generation += 1
        self._close_idle(before=math.inf)
        prepare(self._path, self._open, self._report)
        self._file, self._log = file_id(self._path), None

    def open(self) -> tuple[sqlite3.Connection, int]:
        """Open a connection that the caller closes; return it with the generation of its file."""
        generation = self.current()
        return self._open(), generation

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
        self._close_idle(before=math.inf)

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        try:
            generation = self.current()
            connection = self._take()
        except (sqlite3.Error, OSError, WrongFile) as error:
            raise Unavailable(str(error)) from error
        try:
            connection.execute(begin)
            yield connection
            connection.execute("COMMIT")
        except BaseException as error:
            if _is_outage(error):
                # The connection's cache of the file may be wrong.
                connection.close()
                if is_damage(error):
                    self._set_aside(generation)
                raise Unavailable(str(error)) from error
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            self._return(connection, generation)
            raise
        self._return(connection, generation)

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
        except BaseException:
            connection.close()
            raise
        return connection

    def current(self) -> int:
        """Use the file at the path from now on, because writes to a deleted or replaced one are lost; return its generation."""
        if self._process != os.getpid():
            # Neither used nor closed: closing would release the locks of the parent process.
            self._inherited, self._idle = self._idle, []
            self._one_writer, self._one_renewal = threading.Lock(), threading.Lock()
            self._process = os.getpid()
        if not self._is_current():
            with self._one_renewal:
                if not self._is_current():
                    self._renew()
        return self._generation

    def _is_current(self) -> bool:
        return self._file is not None and self._file == file_id(self._path)

    def _renew(self) -> None:
        if self._file:
            self._report("ERROR", f"{self._path.name}, the task store, is gone or replaced: its tasks are lost")
            with contextlib.suppress(OSError), alone_in(self._path.parent):
                if self._log and self._log == log_id(self._path):
                    set_aside(self._path, "whose log belongs to another file", self._report, log_only=True)
            self._file = None
        self.prepare()

    def _set_aside(self, generation: int) -> None:
        with self._one_renewal, contextlib.suppress(OSError), alone_in(self._path.parent):
            if generation == self._generation and self._is_current():
                set_aside(self._path, "which is damaged", self._report)
                self._file = None

    def _take(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()[0]
        except IndexError:
            return self._open()

    def _return(self, connection: sqlite3.Connection, generation: int) -> None:
        if self._closed or generation != self._generation:
            connection.close()
            return
        if self._log is None:
            self._log = log_id(self._path)
        now = time.monotonic()
        self._idle.append((connection, now))
        self._close_idle(before=now - _IDLE_SECONDS)

    def _close_idle(self, *, before: float) -> None:
        """Close the connections, the longest idle ones first, that nobody has used since then."""
        with contextlib.suppress(IndexError):
            while self._idle[0][1] < before:
                self._idle.pop(0)[0].close()


def _is_outage(error: BaseException) -> bool:
    """Return True for another process's lock, a full disk, a damaged file: anything but a faulty statement."""
    mistakes = sqlite3.IntegrityError | sqlite3.ProgrammingError
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, mistakes)
