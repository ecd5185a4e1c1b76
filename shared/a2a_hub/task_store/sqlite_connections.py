"""Connections to one SQLite file: as many as are used at once, each by one thread at a time."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from a2a_hub.task_store.store import Unavailable

_BUSY_SECONDS = 10.0
# 16 MB: each checkpoint waits for the disk, and the same pages are written again and again between two of them.
_CHECKPOINT_PAGES = 8_000
_WAL_BYTES = 64_000_000


class Connections:
    """Transactions on the file; who has to wait for longer than `busy_seconds` is refused. Nothing is held across a fork."""

    def __init__(self, path: Path, *, busy_seconds: float = _BUSY_SECONDS) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._file: tuple[int, int] | None = None
        self._idle: list[sqlite3.Connection] = []
        self._process = os.getpid()
        # Threads that wait here are woken in turn; those that wait for SQLite's lock sleep for longer and longer.
        self._one_writer = threading.Lock()
        self._closed = False

    def open(self) -> sqlite3.Connection:
        """A connection that belongs to the caller, who closes it."""
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

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """All that is read inside is of the same moment."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Nobody else writes meanwhile; all of it is stored, or, after an exception, nothing."""
        one_writer = self._one_writer
        # Those in front may each have to wait for another process as long.
        if not one_writer.acquire(timeout=self._busy_seconds):
            raise Unavailable("others are writing")
        try:
            with self._transaction("BEGIN IMMEDIATE") as connection:
                yield connection
        finally:
            one_writer.release()

    def close(self) -> None:
        """Closes what nobody uses now; the rest closes as soon as it is given back."""
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
                # What the connection has cached of the file may be wrong.
                connection.close()
                raise Unavailable(str(error)) from error
            _roll_back(connection)
            self._give_back(connection)
            raise
        self._give_back(connection)

    def _take(self) -> sqlite3.Connection:
        if self._process != os.getpid():
            # Neither used nor closed: closing would let go of the locks of the process that forked.
            self._inherited, self._idle = self._idle, []
            self._one_writer = threading.Lock()
            self._process = os.getpid()
        # Connections go on in a file that was deleted or replaced, where nobody will ever find what they write.
        if self._file not in (None, self._file_now()):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        try:
            return self._idle.pop()
        except IndexError:
            return self.open()

    def _file_now(self) -> tuple[int, int]:
        found = self._path.stat()
        return found.st_dev, found.st_ino

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)


def _roll_back(connection: sqlite3.Connection) -> None:
    with contextlib.suppress(sqlite3.Error):
        connection.execute("ROLLBACK")


def _is_outage(error: BaseException) -> bool:
    """Another process's lock, a full disk, a damaged file: anything but a mistake in what was asked for."""
    mistakes = sqlite3.IntegrityError | sqlite3.ProgrammingError
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, mistakes)
