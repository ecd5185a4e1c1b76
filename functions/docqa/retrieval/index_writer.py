"""The tables of an index, and writing to them.

Documents with different readers are in different full-text tables, so that not even term counts reveal documents of others.
"""

import hashlib
import sqlite3
from datetime import date

import msgspec

from functions.docqa.ingestion.editions import in_force, series_of
from functions.docqa.ingestion.files import corpus_uri
from functions.docqa.model import Document, Passage, words_of_path
from functions.docqa.retrieval.access import Rules, key_of
from functions.docqa.retrieval.terms import terms_of

# Raised when the tables, the terms or the passages change: an index of another layout is built anew.
LAYOUT = 126
_PENDING_BYTES = 32 * 1024 * 1024
_MAX_EMBEDDED_CHARACTERS = 2_000
_SCHEMA = """
CREATE TABLE files (path TEXT PRIMARY KEY, uri TEXT, state TEXT, hash BLOB, readers TEXT, skipped TEXT,
  left_out TEXT, effective TEXT, document BLOB, text TEXT);
CREATE INDEX files_by_uri ON files (uri);
CREATE TABLE series (name TEXT, path TEXT, PRIMARY KEY (name, path)) WITHOUT ROWID;
CREATE INDEX series_by_path ON series (path);
CREATE INDEX files_by_day ON files (effective);
CREATE TABLE passages (number INTEGER PRIMARY KEY, path TEXT, standing TEXT, passage BLOB, digest BLOB);
CREATE INDEX passages_by_path ON passages (path);
CREATE TABLE readers (name TEXT PRIMARY KEY, number INTEGER, rules BLOB, passages INTEGER);
CREATE TABLE settled (one INTEGER PRIMARY KEY, day TEXT, until TEXT, files BLOB);
CREATE TABLE IF NOT EXISTS passage_vectors (digest BLOB PRIMARY KEY, vector BLOB);
CREATE TABLE IF NOT EXISTS embedding_model (one INTEGER PRIMARY KEY, model TEXT, changes INTEGER);
"""
_ADD_PASSAGES = "UPDATE readers SET passages = passages + ? WHERE number = ?"


class File(msgspec.Struct):
    """A file on its way into the index."""

    path: str
    state: str
    rules: Rules
    digest: bytes = b""


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty index."""
    for statement in filter(None, map(str.strip, _SCHEMA.split(";\n"))):
        connection.execute(statement)


class Writer:
    """Writes to an index within one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._series: set[str] = set()

    def is_same(self, file: File) -> bool:
        """Return True if the file is indexed with this content and these readers; its state is noted."""
        same = "UPDATE files SET state = ? WHERE path = ? AND hash = ? AND readers = ? AND skipped IS NULL"
        row = (file.state, file.path, file.digest, key_of(file.rules))
        return self._connection.execute(same, row).rowcount > 0

    def remove(self, path: str) -> None:
        """Forget a file."""
        row = self._connection.execute(
            "SELECT number, skipped FROM files JOIN readers ON name = readers WHERE path = ?", (path,)
        ).fetchone()
        if row and row[1] is None:
            numbers = "SELECT number FROM passages WHERE path = ?"
            self._connection.execute(f"DELETE FROM words{row[0]} WHERE rowid IN ({numbers})", (path,))
            gone = self._connection.execute("DELETE FROM passages WHERE path = ?", (path,)).rowcount
            self._connection.execute(_ADD_PASSAGES, (-gone, row[0]))
            self._series.update(self._series_of(path))
            self._connection.execute("DELETE FROM series WHERE path = ?", (path,))
        self._connection.execute("DELETE FROM files WHERE path = ?", (path,))

    def skip(self, file: File, reason: str) -> None:
        """Note that a file could not be read, and why."""
        row = (file.path, corpus_uri(file.path), file.state, file.digest, key_of(file.rules), reason)
        self._connection.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, NULL, NULL)", row)

    def insert(self, document: Document, file: File) -> None:
        """Add a document, which is not in the index."""
        edition = document.edition
        # What replaces a document tells of itself: only one with the same readers does.
        series = [f"{key_of(file.rules)} {document.language} {name}" for name in series_of(document)] or [document.path]
        bare = msgspec.msgpack.encode(msgspec.structs.replace(document, text="", passages=()))
        state = (document.path, document.uri, file.state, file.digest, key_of(file.rules), None)
        row = (*state, document.left_out or None, edition.effective, bare, document.text)
        self._connection.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self._connection.executemany("INSERT INTO series VALUES (?, ?)", ((name, document.path) for name in series))
        if edition.labels or edition.effective:
            self._series.update(series)
        readers = self._table_of(file.rules)
        title = terms_of(f"{document.title} {words_of_path(document.uri)}")
        for passage in document.passages:
            number = self._connection.execute(
                "INSERT INTO passages (path, standing, passage, digest) VALUES (?, ?, ?, ?)",
                (document.path, passage.edition.standing, msgspec.msgpack.encode(passage), _digest(passage)),
            ).lastrowid
            section, body = terms_of(" \n".join(passage.section)), terms_of(searchable(passage))
            self._connection.execute(
                f"INSERT INTO words{readers} (rowid, title, section, body) VALUES (?, ?, ?, ?)",
                (number, " ".join(title), " ".join(section), " ".join(body)),
            )
        self._connection.execute(_ADD_PASSAGES, (len(document.passages), readers))

    def settle(self, today: date, files: bytes) -> None:
        """Write which editions are in force `today`; `files` stands for the files that are now indexed."""
        day = today.isoformat()
        execute = self._connection.execute
        last = execute("SELECT day FROM settled").fetchone() or (day,)
        coming = execute(
            "SELECT DISTINCT name FROM series JOIN files USING (path) WHERE effective > ?", (min(day, last[0]),)
        )
        left = self._series.union(row[0] for row in coming)
        while left:
            stored = (
                execute("SELECT document FROM files WHERE path = ?", (path,)).fetchone()
                for path in self._editions(left)
            )
            documents = [msgspec.msgpack.decode(row[0], type=Document) for row in stored]
            for document in in_force(documents, today):
                standing = document.edition.standing
                execute(
                    "UPDATE passages SET standing = ? WHERE path = ? AND standing <> ?",
                    (standing, document.path, standing),
                )
        self._series.clear()
        (until,) = execute("SELECT min(effective) FROM files WHERE effective > ?", (day,)).fetchone()
        execute("INSERT OR REPLACE INTO settled VALUES (1, ?, ?, ?)", (day, until or "9999", files))

    def _series_of(self, path: str) -> list[str]:
        return [name for (name,) in self._connection.execute("SELECT name FROM series WHERE path = ?", (path,))]

    def _editions(self, left: set[str]) -> set[str]:
        """Take one series out of `left`, with those that it has documents in common with, and return the paths of all."""
        names, paths = [left.pop()], set()
        while names:
            for (path,) in self._connection.execute(
                "SELECT path FROM series WHERE name = ?", (names.pop(),)
            ).fetchall():
                if path not in paths:
                    paths.add(path)
                    names += self._series_of(path)
                    left.difference_update(self._series_of(path))
        return paths

    def _table_of(self, rules: Rules) -> int:
        """Return the number of the full-text table of these readers, made when it is first needed."""
        name = key_of(rules)
        row = self._connection.execute("SELECT number FROM readers WHERE name = ?", (name,)).fetchone()
        if row:
            return int(row[0])
        (number,) = self._connection.execute("SELECT count(*) FROM readers").fetchone()
        self._connection.execute(
            "INSERT INTO readers VALUES (?, ?, ?, 0)", (name, number, msgspec.msgpack.encode(rules))
        )
        tokenizer = "unicode61 remove_diacritics 0"
        self._connection.execute(
            f'CREATE VIRTUAL TABLE words{number} USING fts5 (title, section, body, tokenize = "{tokenizer}")'
        )
        self._connection.execute(f"CREATE VIRTUAL TABLE terms{number} USING fts5vocab (words{number}, row)")
        # Fewer, larger segments, which are merged less often: 1 MB is the default.
        self._connection.execute(
            f"INSERT INTO words{number} (words{number}, rank) VALUES ('hashsize', {_PENDING_BYTES})"
        )
        return int(number)


def searchable(passage: Passage) -> str:
    """Return the text that a passage is found by: its units and, once each, what governs them."""
    own = dict.fromkeys(unit.text for unit in passage.units)
    governing = dict.fromkeys(text for unit in passage.units for text in (unit.header, *unit.context))
    return "\n".join([*(text for text in governing if text and text not in own), *own])


def embedded_text(passage: Passage) -> str:
    """Return the text that a passage's vector is made of."""
    return "\n".join((passage.title, *passage.section, searchable(passage)))[:_MAX_EMBEDDED_CHARACTERS]


def _digest(passage: Passage) -> bytes:
    text = embedded_text(passage).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()
