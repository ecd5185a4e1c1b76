"""The embedded index: SQLite FTS5 over a corpus folder, brought up to date by content hash, shared by processes."""

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import chain
from pathlib import Path

import msgspec

from functions.docqa.documents.definitions import with_other_names
from functions.docqa.documents.editions import in_force
from functions.docqa.documents.passages import passages
from functions.docqa.documents.sources import Unreadable, corpus_files, corpus_uri, document_from, read_bytes
from functions.docqa.model import Document, Passage, Skipped, Standing, words_of_path
from functions.docqa.vocabulary.words import index_text

# Raised when the tables, the tokens or the passages change: an index of another layout is built anew.
LAYOUT = 23
_LOCK_SECONDS = 120
_SCHEMA = """
CREATE TABLE files (path TEXT PRIMARY KEY, uri TEXT, hash BLOB, skipped TEXT, document BLOB, text TEXT);
CREATE INDEX files_by_uri ON files (uri);
CREATE TABLE passages (number INTEGER PRIMARY KEY, path TEXT, standing TEXT, passage BLOB);
CREATE INDEX passages_by_path ON passages (path);
CREATE VIRTUAL TABLE words USING fts5 (title, section, body, tokenize = "unicode61 remove_diacritics 0");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
"""
_INSERT_FILE = "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)"
_log = logging.getLogger(__name__)


def update(corpus_dir: Path, index_path: Path, *, today: Callable[[], date] = date.today) -> None:
    """Makes the index at `index_path` agree with the files of `corpus_dir`.

    Only files whose content changed are read anew; those that are gone are taken out. Several processes may do this
    at once: one writes, the others wait and find nothing left to do. Raises OSError or sqlite3.Error when the index
    can neither be written nor is already up to date.
    """
    hashes: dict[str, tuple[Path, bytes]] = {}
    for path, file in corpus_files(corpus_dir):
        try:
            digest = hashlib.blake2b(read_bytes(file, corpus_dir=corpus_dir), digest_size=16).digest()
        except Unreadable as error:
            digest = str(error).encode()
        hashes[path] = (file, digest)
    day = today().isoformat()
    if index_path.exists() and _is_current(index_path, hashes, day):
        return
    index_path.parent.mkdir(parents=True, exist_ok=True)
    with _writing(index_path) as connection:
        stored = dict(connection.execute("SELECT path, hash FROM files"))
        wanted = {path: digest for path, (_, digest) in hashes.items()}
        for path in stored.keys() - wanted.keys():
            _remove(connection, path)
        for path, (file, digest) in hashes.items():
            if stored.get(path) != digest:
                if path in stored:
                    _remove(connection, path)
                _add(connection, path, file, digest, corpus_dir=corpus_dir)
        _settle_editions(connection, today())


def skipped(connection: sqlite3.Connection) -> tuple[Skipped, ...]:
    """The files that could not be read, with reasons."""
    rows = connection.execute("SELECT path, skipped FROM files WHERE skipped IS NOT NULL ORDER BY path")
    return tuple(Skipped(path, reason) for path, reason in rows)


def count(connection: sqlite3.Connection) -> int:
    """How many files are in the index."""
    (number,) = connection.execute("SELECT count(*) FROM files WHERE skipped IS NULL").fetchone()
    return int(number)


def reading(index_path: Path) -> sqlite3.Connection:
    """A connection that only reads; for one thread at a time."""
    connection = sqlite3.connect(
        f"{index_path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False, timeout=_LOCK_SECONDS
    )
    try:
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA mmap_size = 268435456")
    except BaseException:
        connection.close()
        raise
    return connection


def in_memory(documents: Sequence[Document], today: date) -> sqlite3.Connection:
    """An index of `documents`, each under its own `path`, that lives as long as the connection; for one thread at a time."""
    connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    connection.execute("BEGIN")
    _create(connection)
    for document in documents:
        _insert(connection, document, b"")
    _settle_editions(connection, today)
    connection.execute("COMMIT")
    return connection


def _is_current(index_path: Path, hashes: dict[str, tuple[Path, bytes]], day: str) -> bool:
    try:
        connection = reading(index_path)
        try:
            if connection.execute("PRAGMA user_version").fetchone()[0] != LAYOUT:
                return False
            settled = connection.execute("SELECT until FROM settled").fetchone()
            stored = dict(connection.execute("SELECT path, hash FROM files"))
        finally:
            connection.close()
    except sqlite3.Error:
        return False
    return settled is not None and day < settled[0] and stored == {path: digest for path, (_, digest) in hashes.items()}


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
            for name in ("vocabulary", "words", "passages", "files", "settled"):
                connection.execute(f"DROP TABLE IF EXISTS {name}")
            _create(connection)
            connection.execute(f"PRAGMA user_version = {LAYOUT}")
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA.split(";\n"):
        connection.execute(statement)
    connection.execute("CREATE TABLE settled (one INTEGER PRIMARY KEY, until TEXT)")


def _remove(connection: sqlite3.Connection, path: str) -> None:
    connection.execute("DELETE FROM words WHERE rowid IN (SELECT number FROM passages WHERE path = ?)", (path,))
    connection.execute("DELETE FROM passages WHERE path = ?", (path,))
    connection.execute("DELETE FROM files WHERE path = ?", (path,))


def _add(connection: sqlite3.Connection, path: str, file: Path, digest: bytes, *, corpus_dir: Path) -> None:
    uri = corpus_uri(path)
    try:
        document = document_from(path, uri, read_bytes(file, corpus_dir=corpus_dir))
    except Unreadable as error:
        _log.warning("skipped %s: %s", path, error)
        connection.execute(_INSERT_FILE, (path, uri, digest, str(error), None, None))
        return
    _insert(connection, document, digest)


def _insert(connection: sqlite3.Connection, document: Document, digest: bytes) -> None:
    path = document.path
    bare = msgspec.msgpack.encode(msgspec.structs.replace(document, text=""))
    connection.execute(_INSERT_FILE, (path, document.uri, digest, None, bare, document.text))
    title = index_text(f"{document.title} {words_of_path(document.uri)}")
    for passage in passages(document):
        number = connection.execute(
            "INSERT INTO passages (path, standing, passage) VALUES (?, ?, ?)",
            (path, passage.edition.standing, msgspec.msgpack.encode(passage)),
        ).lastrowid
        row = (number, title, index_text(" \n".join(passage.section)), index_text(searchable(passage)))
        connection.execute("INSERT INTO words (rowid, title, section, body) VALUES (?, ?, ?, ?)", row)


def searchable(passage: Passage) -> str:
    """The text a passage is found by: its units and, once each, what governs them."""
    units = [unit for unit in passage.units if unit.kind != "list"]
    own = [unit.text for unit in units]
    governed = [unit for unit in units if unit.header or unit.context]
    governing = dict.fromkeys(chain.from_iterable((unit.header, *unit.context) for unit in governed))
    text = "\n".join([*(text for text in governing if text and text not in own), *own])
    return with_other_names("\n".join((text, *passage.section)), passage.defined) if passage.defined else text


def _settle_editions(connection: sqlite3.Connection, today: date) -> None:
    rows = connection.execute("SELECT document FROM files WHERE document IS NOT NULL")
    documents = [msgspec.msgpack.decode(row[0], type=Document) for row in rows]
    coming = [document.edition.effective for document in documents if document.edition.effective > today.isoformat()]
    connection.execute("INSERT OR REPLACE INTO settled VALUES (1, ?)", (min(coming, default="9999"),))
    for document in in_force(documents, today):
        connection.execute(
            "UPDATE passages SET standing = ? WHERE path = ? AND standing <> ?",
            (document.edition.standing, document.path, document.edition.standing),
        )


def load(blob: bytes, standing: str, score: float) -> Passage:
    """A stored passage with its present standing and its search score."""
    passage = msgspec.msgpack.decode(blob, type=Passage)
    edition = msgspec.structs.replace(passage.edition, standing=Standing(standing))
    return msgspec.structs.replace(passage, edition=edition, score=score)


class StoredTexts:
    """The canonical texts as they were when they were indexed; positions refer to exactly these."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def canonical_text(self, uri: str) -> str | None:
        """The text of the document at `uri`, None when the index has no such document."""
        row = self._connection.execute("SELECT text FROM files WHERE uri = ?", (uri,)).fetchone()
        return row[0] if row else None

    def page_starts(self, uri: str) -> tuple[int, ...]:
        """Where each page of a PDF starts in its canonical text; empty for other formats."""
        row = self._connection.execute("SELECT document FROM files WHERE uri = ?", (uri,)).fetchone()
        return msgspec.msgpack.decode(row[0], type=Document).page_starts if row and row[0] else ()
