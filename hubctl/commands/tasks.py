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
    """Return 0 after a backup, its return or a compaction. Raises CommandError."""
    file = arguments.file or _configured(environment.get("TASK_STORE", ""))
    stores = {file: "name one with --file"}
    if arguments.action == "restore":
        stores = (stores if file.exists() else {}) | {arguments.path: "name a backup"}
    for each, remedy in stores.items():
        if not each.is_file() or not looks_like_store(each):
            raise CommandError(f"{each} is no task store: {remedy}")
    try:
        with contextlib.closing(sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
            {"backup": _backup, "restore": _restore, "compact": _compact}[arguments.action](
                connection, file, arguments, out
            )
    except sqlite3.Error as error:
        raise CommandError(f"{' or '.join(map(str, stores))}: {error}") from error
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


def _restore(connection: sqlite3.Connection, file: Path, arguments: argparse.Namespace, out: TextIO) -> None:
    """Write the backup over the file in one transaction, so that no write-ahead log of the tasks before is applied to it."""
    file.touch(mode=0o600)
    with contextlib.closing(sqlite3.connect(arguments.path)) as backup:
        if backup.execute("PRAGMA quick_check").fetchone() != ("ok",):
            raise CommandError(f"{arguments.path} is damaged: name another backup")
        versions = {each.execute("PRAGMA user_version").fetchone()[0] for each in (backup, connection)} - {0}
        if len(versions) > 1:
            raise CommandError(f"{arguments.path} is of another version of the hub: start this one with it once")
        backup.backup(connection)
        (tasks,) = backup.execute("SELECT count(*) FROM tasks").fetchone()
    value = {"file": str(file), "copy": str(arguments.path), "tasks": tasks}
    write(
        value,
        [f"{file.name} has the {tasks} tasks of {arguments.path}, and no others"],
        as_json=arguments.json,
        out=out,
    )


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
        raise CommandError(
            "which file? Name it with --file (that of `make run`: .run/8080/tasks.sqlite3), or set TASK_STORE to sqlite:PATH"
        )
    return Path(path)
