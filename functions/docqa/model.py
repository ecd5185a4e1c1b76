"""The values passed between the stages of document QA: search, extraction, evidence, answer."""

import re
from enum import StrEnum
from urllib.parse import unquote

from msgspec import Struct


class Standing(StrEnum):
    """The status of a document: in force or not."""

    CURRENT = "current"
    UPCOMING = "upcoming"
    """Takes effect later, and no other edition is in force until then."""
    SUPERSEDED = "superseded"
    DRAFT = "draft"

    @property
    def is_valid(self) -> bool:
        """True unless another edition is in force, or none is meant to be yet."""
        return self in (Standing.CURRENT, Standing.UPCOMING)


class UnitKind(StrEnum):
    """The kind of a quotable unit in its document."""

    SENTENCE = "sentence"
    ITEM = "item"
    ROW = "row"


class Position(Struct, frozen=True, kw_only=True):
    """The place of a quote. `start` and `end` are character offsets in the document's canonical text."""

    start: int
    end: int
    line: int
    section: tuple[str, ...] = ()
    page: int | None = None


class Citation(Struct, frozen=True, kw_only=True, rename="camel"):
    """One verbatim quote and its position. `link` is an address that a person can open, if there is one."""

    uri: str
    title: str
    quote: str
    position: Position
    passage_id: str
    link: str | None = None


class Unit(Struct, frozen=True, array_like=True, gc=False):
    """The smallest quotable piece of text, with its context.

    `context` is what governs it, nearest first (a list's introduction, the parent item, a question above it);
    `header` is the header row of its table; `block` numbers the paragraph or list it is part of; `cell` is its place in a
    workbook or presentation ("Rates!A5", "slide 3").
    """

    kind: UnitKind
    start: int
    end: int
    text: str
    context: tuple[str, ...] = ()
    header: str = ""
    block: int = 0
    cell: str = ""


class Edition(Struct, frozen=True, kw_only=True, gc=False):
    """The edition that a document is: its standing, and the years and versions it may be asked for by."""

    standing: Standing = Standing.CURRENT
    labels: tuple[str, ...] = ()
    effective: str = ""
    series: str = ""


class Passage(Struct, frozen=True, kw_only=True, gc=False):
    """A section of a document, or a part of a long one. `id` survives edits elsewhere in the document."""

    id: str
    uri: str
    title: str
    section: tuple[str, ...]
    units: tuple[Unit, ...]
    edition: Edition = Edition()
    language: str = "en"
    score: float = 0.0

    @property
    def place(self) -> str:
        """The words of the document's file name and folders: "hr/employee-handbook.md" → "hr employee handbook"."""
        return words_of_path(self.uri)


def words_of_path(uri: str) -> str:
    """Return the name that a path gives its document, as words."""
    path = unquote(uri.split(":", 1)[-1])
    return re.sub(r"[/_.-]+", " ", re.sub(r"\.[A-Za-z]{2,8}$", "", path))


class Document(Struct, frozen=True, kw_only=True):
    """A source as read. `text` is the canonical text that positions refer to; `page_starts` are the offsets of a PDF's pages."""

    path: str
    uri: str
    title: str
    text: str
    language: str
    edition: Edition
    page_starts: tuple[int, ...] = ()
    passages: tuple[Passage, ...] = ()
    left_out: str = ""
    """The parts of the file that were not read, with reasons."""


class Skipped(Struct, frozen=True):
    """A file that could not be read, and why."""

    path: str
    reason: str


class ReadSource(Struct, frozen=True, kw_only=True):
    """A source as it was read. A citation's positions refer to this generation of it."""

    uri: str
    generation: str


class Unverified(Struct, frozen=True, kw_only=True):
    """A search result whose source could not be read for comparison, and the cause."""

    uri: str
    title: str
    text: str
    cause: str


class Hint(Struct, frozen=True, kw_only=True):
    """For the operator: which step failed on what and why, and the command or the sentence that fixes it."""

    step: str
    cause: str
    resource: str
    detail: str
    remedy: str


class DocAnswer(Struct, frozen=True, kw_only=True):
    """`grounded` is False if nothing in the corpus answers the question: there are no citations then, and `nearest` are the
    closest quotes, which need not answer it.

    Where documents are searched in one place and read in another, `sources` are the cited ones, and `unverified` is what the
    search alone said: it is never mixed into the citations.
    """

    text: str
    citations: tuple[Citation, ...]
    grounded: bool
    sources: tuple[ReadSource, ...] = ()
    unverified: tuple[Unverified, ...] = ()
    hints: tuple[Hint, ...] = ()
    nearest: tuple[Citation, ...] = ()
    failed: bool = False
    """True if nothing could be searched or read."""
