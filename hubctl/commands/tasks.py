"""`hubctl tasks`: care for the SQLite file of the task store."""

import argparse
import contextlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from a2a_hub.task_store.sqlite_recovery import looks_like_store
from hubctl.console import write
from hubctl.main import CommandError

_BUSY_SECONDS = 60.0
_PAGES_AT_ONCE = 2_000


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Return 0 after a backup or a compaction. Raises CommandError."""
    file = arguments.file or _configured(environment.get("TASK_STORE", ""))
    if not file.is_file() or not looks_like_store(file):
        raise CommandError(f"{file} is no task store: name one with --file")
    try:
        with contextlib.closing(sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
            (_backup if arguments.action == "backup" else _compact)(connection, file, arguments, out)
    except sqlite3.Error as error:
        raise CommandError(f"{file}: {error}") from error
    return 0


def _backup(connection: sqlite3.Connection, file: Path, arguments: argparse.Namespace, out: TextIO) -> None:
    try:
        arguments.path.touch(mode=0o600, exist_ok=False)
    except OSError as error:
        raise CommandError(f"{arguments.path} cannot be made ({error.strerror}): name a new file") from error
    with contextlib.closing(sqlite3.connect(arguments.path)) as copy:
        connection.backup(copy, pages=_PAGES_AT_ONCE)
        (tasks,) = copy.execute("SELECT count(*) FROM tasks").fetchone()
    value = {"file": str(file), "copy": str(arguments.path), "tasks": tasks}
    write(value, [f"{file.name}: {tasks} tasks are in {arguments.path}"], as_json=arguments.json, out=out)


def _compact(connection: sqlite3.Connection, file: Path, arguments: argparse.Namespace, out: TextIO) -> None:
    before = file.stat().st_size
    # From now on, purged tasks leave the file by themselves: files of older versions did not shrink.
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    after = file.stat().st_size
    value = {"file": str(file), "bytesBefore": before, "bytes": after}
    write(value, [f"{file.name}: {before:,} bytes before, {after:,} now"], as_json=arguments.json, out=out)


def _configured(store: str) -> Path:
    kind, _, path = store.partition(":")
    if kind == "firestore":
        raise CommandError("Firestore has backups of its own: gcloud firestore export gs://BUCKET --database=DATABASE")
    if kind != "sqlite" or not path:
        raise CommandError("which file? Name it with --file, or set TASK_STORE to sqlite:PATH")
    return Path(path)
