"""The index of a corpus folder: SQLite FTS5 over terms of our own, brought up to date file by file, shared by processes.

That files have changed is noticed by their names, sizes and times: cheap enough to ask between questions.
"""

import hashlib
import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import date
from pathlib import Path

import msgspec

from functions.docqa.ingestion.blocks import Unreadable
from functions.docqa.ingestion.child import read_all
from functions.docqa.ingestion.files import corpus_files, corpus_uri, read_bytes, unread
from functions.docqa.model import Document, Passage, Skipped, Standing
from functions.docqa.retrieval.access import FILE_NAME, AccessRules, Asker, Rules, key_of, may_read
from functions.docqa.retrieval.index_writer import LAYOUT, File, Writer, create

REFRESH_SECONDS = 3.0
# Looking at a million files takes a second: no more than this share of the time is spent on it.
_LARGEST_SHARE = 0.02
_LOCK_SECONDS = 120
RULES = msgspec.msgpack.Decoder(Rules)
_DOCUMENT = msgspec.msgpack.Decoder(Document)
_PASSAGE = msgspec.msgpack.Decoder(Passage)
_log = logging.getLogger(__name__)


def update(corpus_dir: Path, index_path: Path, *, today: Callable[[], date] = date.today) -> None:
    """Make the index agree with the files of `corpus_dir`.

    Only files with another size or time are read, and indexed if their content differs. Several processes may do this at once:
    one writes, the others wait. Raises OSError or sqlite3.Error if the index can neither be written nor is up to date.
    """
    seen, day = signature(corpus_dir), today()
    if index_path.exists() and _is_current(index_path, seen, day.isoformat()):
        return
    access = AccessRules(corpus_dir)
    files = {path: file for path, file in corpus_files(corpus_dir) if file.name != FILE_NAME}
    states: dict[str, str] = {}
    for path, file in files.items():
        stat = file.stat()
        states[path] = f"{stat.st_size} {stat.st_mtime_ns} {key_of(access.of(path, file))}"
    index_path.parent.mkdir(parents=True, exist_ok=True)
    with _writing(index_path) as connection:
        writer = Writer(connection)
        stored = dict(connection.execute("SELECT path, state FROM files"))
        for path in stored.keys() - states.keys():
            writer.remove(path)
        changed = (
            File(path, states[path], access.of(path, files[path])) for path in files if stored.get(path) != states[path]
        )
        _add(writer, changed, files, corpus_dir=corpus_dir)
        for each in access.problems():
            _skip(writer, File(each.path, "", ()), each)
        writer.settle(day, seen)


def skipped(connection: sqlite3.Connection) -> tuple[Skipped, ...]:
    """Return the files that could not be read, or not as a whole, with reasons."""
    query = (
        "SELECT path, reason FROM (SELECT path, coalesce(skipped, left_out) AS reason FROM files) WHERE reason NOT NULL"
    )
    rows = connection.execute(f"{query} ORDER BY path")
    return tuple(Skipped(path, reason) for path, reason in rows)


def count(connection: sqlite3.Connection, *, restricted: bool = False) -> int:
    """Return the number of documents in the index; with `restricted`, of those with access rules."""
    rule = " AND readers <> ''" if restricted else ""
    (number,) = connection.execute(f"SELECT count(*) FROM files WHERE skipped IS NULL{rule}").fetchone()
    return int(number)


@contextmanager
def reading(index_path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection that only reads."""
    uri = f"{index_path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=_LOCK_SECONDS)) as connection:
        connection.execute("PRAGMA mmap_size = 268435456")
        yield connection


def document(connection: sqlite3.Connection, uri: str, *, asker: Asker | None = None) -> Document | None:
    """Return a document as it was indexed, which positions refer to, without its passages; with `asker`, if they may read it."""
    query = "SELECT document, text, rules FROM files JOIN readers ON name = readers WHERE uri = ? AND skipped IS NULL"
    row = connection.execute(query, (uri,)).fetchone()
    if row is None or (asker is not None and not may_read(RULES.decode(row[2]), asker)):
        return None
    return msgspec.structs.replace(_DOCUMENT.decode(row[0]), text=row[1])


def marks(values: Collection[object]) -> str:
    """Return the placeholders for a number of values in a statement."""
    return ",".join("?" * len(values))


def load(blob: bytes, standing: str, score: float) -> Passage:
    """Return a stored passage with its present standing and its score."""
    passage = _PASSAGE.decode(blob)
    edition = passage.edition
    if edition.standing is Standing.CURRENT:  # what a document says to be former stays it
        edition = msgspec.structs.replace(edition, standing=Standing(standing))
    return msgspec.structs.replace(passage, edition=edition, score=score)


def _is_current(index_path: Path, seen: bytes, day: str) -> bool:
    try:
        with reading(index_path) as connection:
            if connection.execute("PRAGMA user_version").fetchone()[0] != LAYOUT:
                return False
            settled = connection.execute("SELECT until, files FROM settled").fetchone()
            return bool(settled and day < settled[0] and seen == settled[1])
    except sqlite3.Error:
        return False


@contextmanager
def _writing(index_path: Path) -> Iterator[sqlite3.Connection]:
    try:
        connection = _opened(index_path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        _log.warning("the index is damaged and is built anew: %s", error)
        index_path.unlink(missing_ok=True)
        connection = _opened(index_path)
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.close()


def _opened(index_path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(index_path, timeout=_LOCK_SECONDS, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = OFF")  # an index lost in a power cut is built again
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone()[0] != LAYOUT:
            # Those with "_" belong to full-text tables, or outlive a layout, as vectors do.
            tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '*_*'"
            for (name,) in connection.execute(tables).fetchall():
                connection.execute(f'DROP TABLE IF EXISTS "{name}"')
            create(connection)
            connection.execute(f"PRAGMA user_version = {LAYOUT}")
    except BaseException:
        connection.close()
        raise
    return connection


def _add(writer: Writer, changed: Iterable[File], files: Mapping[str, Path], *, corpus_dir: Path) -> None:
    """Index files, those alone whose content or readers have changed."""
    reading: deque[File] = deque()

    def contents() -> Iterator[tuple[str, str, bytes]]:
        for file in changed:
            problem = unread(file.path)
            try:
                content = b"" if problem else read_bytes(files[file.path], corpus_dir=corpus_dir)
            except Unreadable as error:
                problem, content = Skipped(file.path, str(error)), b""
            file.digest = hashlib.blake2b(content, digest_size=16).digest()
            if writer.is_same(file):
                continue
            writer.remove(file.path)
            if problem:
                _skip(writer, file, problem)
            else:
                reading.append(file)
                yield file.path, corpus_uri(file.path), content

    for result in read_all(contents()):
        file = reading.popleft()
        if isinstance(result, Skipped):
            _skip(writer, file, result)
        else:
            if result.left_out:
                _log.warning("not all of %s is read: %s", file.path, result.left_out)
            writer.insert(result, file)


def _skip(writer: Writer, file: File, skipped: Skipped) -> None:
    _log.warning("skipped %s: %s", file.path, skipped.reason)
    writer.skip(file, skipped.reason)


class Watch:
    """Looks at the corpus at most every `seconds`. Safe to share between threads."""

    def __init__(
        self,
        corpus_dir: Path,
        *,
        seconds: float = REFRESH_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._corpus_dir = corpus_dir
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._seen = b""
        self._next = 0.0

    def refresh(self, update: Callable[[], object]) -> None:
        """Call `update` at first, and if files have changed since it last ended well; one thread at a time, the others go on.

        What `update` raises is raised here, and it is tried again after `seconds`.
        """
        if self._clock() < self._next or not self._lock.acquire(blocking=False):
            return
        start = self._clock()
        took = 0.0
        try:
            now = signature(self._corpus_dir)
            took = self._clock() - start
            if now != self._seen:
                update()
                self._seen = now
        finally:
            self._next = self._clock() + max(self._seconds, took / _LARGEST_SHARE)
            self._lock.release()


def signature(corpus_dir: Path) -> bytes:
    """Return a digest of the path, size and modification time of every file under `corpus_dir`, cheap enough to call often."""
    digest = hashlib.blake2b(digest_size=16)
    for folder, folders, names in os.walk(corpus_dir):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            # A file may have gone in between, and a link may lead nowhere.
            with suppress(OSError):
                if not name.startswith((".", "~$")):
                    file = Path(folder, name)
                    state = file.stat()
                    digest.update(f"{file} {state.st_size} {state.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return digest.digest()
