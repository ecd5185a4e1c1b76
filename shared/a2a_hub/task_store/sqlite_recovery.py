"""Recognise damage to the SQLite file of the task store and to its write-ahead log, and set damaged files aside.

sqlite.org/fileformat2.html describes both files, sqlite.org/walformat.html the index of the log.
"""

import contextlib
import fcntl
import os
import sqlite3
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

Report = Callable[[str, str], object]
"""Takes a severity and a message for the log."""
FileId = tuple[int, int]
APPLICATION_ID = 0x41324154  # "A2AT"
_WAL, _INDEX = "-wal", "-shm"
_SUFFIXES = (".db", ".sqlite", ".sqlite3")
_MAGIC = b"SQLite format 3\0"
_INDEX_BYTES = 136


def ignore(severity: str, message: str) -> None:
    """Report to nobody."""


def file_id(path: Path) -> FileId | None:
    """Return what tells the file from another one at the same path; None without a file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Exclude other processes that create files or set them aside."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some file systems have no locks of folders.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def is_damage(error: BaseException) -> bool:
    """Return True if the error proves that the file is damaged."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def looks_like_store(path: Path) -> bool:
    """Return True if a file is, or was before its damage, a task store: by its header, or without one by its name or its log."""
    with path.open("rb") as file:
        header = file.read(100)
    if header.startswith(_MAGIC):
        return header[68:72] == APPLICATION_ID.to_bytes(4, "big")
    return path.suffix in _SUFFIXES or _beside(path, _WAL).exists()


def set_aside(path: Path, because: str, report: Report, *, log_only: bool = False) -> None:
    """Rename the file and its log, whichever there are, so that a new one can take their place."""
    suffixes = (_WAL, _INDEX) if log_only else ("", _WAL, _INDEX)
    name = f"{path.name}.{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}.{time.time_ns() % 10**9:09}"
    moved = [_beside(path, suffix) for suffix in suffixes if _beside(path, suffix).exists()]
    for one in moved:
        one.rename(path.with_name(name + one.name.removeprefix(path.name)))
    if moved:
        report(
            "ERROR",
            f"{path.name}, the task store, {because}, was set aside as {name}: a new one is begun without its tasks",
        )


class LogFile:
    """The write-ahead log before the file is opened, as its index tells: SQLite drops silently what is damaged or missing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._committed, self._salt = self._read()

    def report_loss(self, connection: sqlite3.Connection, report: Report) -> None:
        """Report commits that are in the log no more."""
        found = int(connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])
        # -1: another process is writing the log to the file.
        if 0 <= found < self._committed:
            begun_anew = self._read()
            # Another process may have written everything to the file meanwhile.
            if begun_anew[0] == 0 or begun_anew[1] == self._salt:
                lost = f"{self._committed - found} of {self._committed} pages"
                report(
                    "ERROR",
                    f"{self._path.name}, the task store, has lost its newest changes: {lost} of its write-ahead log",
                )

    def _read(self) -> tuple[int, bytes]:
        """Return the number of frames that the log should have, or 0 if the file has them all; and their salt."""
        with contextlib.suppress(OSError, struct.error):
            index = _beside(self._path, _INDEX).read_bytes()[:_INDEX_BYTES]
            (frames,), (in_file,) = struct.unpack_from("=I", index, 16), struct.unpack_from("=I", index, 96)
            return (frames if in_file < frames else 0), index[32:40]
        return 0, b""


def log_id(path: Path) -> FileId | None:
    """Return what tells the file's log from another one."""
    return file_id(_beside(path, _WAL))


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
