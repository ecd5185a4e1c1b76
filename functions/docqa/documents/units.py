"""The blocks of a section to units: sentences, items and rows, each with the lines and the header that govern it."""

import re
from collections.abc import Sequence

from functions.docqa.documents.blocks import Block, BlockKind
from functions.docqa.documents.sentences import spans
from functions.docqa.model import Unit, UnitKind
from functions.docqa.vocabulary.words import plain

LIST_CHARACTERS = 900
LEAD_CHARACTERS = 46
_MOST_ASKED, _MOST_TOLD = 4, 2
_INTRODUCTORY = (
    ":",
    "：",
    "following.",
    "below.",
    "以下の通り。",
    "以下のとおり。",
    "次のとおり。",
    "次の通り。",
)
_QUESTION = ("?", "？")
_INTRODUCES = _INTRODUCTORY + _QUESTION
_FIGURE = re.compile(r"[^\W\d](?:　+| {2,}|\t+)\d")
_ENDS_OR_DIVIDES = re.compile(r"[.。!?！？:：|@]")


def units_of(text: str, section: Sequence[Block]) -> list[Unit]:
    """The units of the blocks of one section of `text`, in their order."""
    reading = _Reading(text)
    for at, block in enumerate(section):
        previous = section[at - 1].kind if at else None
        following = section[at + 1].kind if at + 1 < len(section) else None
        reading.number += 0 if previous is block.kind is not BlockKind.PARAGRAPH else 1
        if block.kind is BlockKind.ROW:
            reading.row(block)
        elif block.kind is BlockKind.ITEM:
            reading.item(block, last=following is not BlockKind.ITEM)
        else:
            reading.paragraph(block, leads=following in (BlockKind.ITEM, BlockKind.ROW))
    return reading.units


class _Reading:
    """The units that were read, and what governs those to come."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.units: list[Unit] = []
        self.number = 0  # of the block: all rows of a table, and all items of a list, are one
        self._introduction: Unit | None = None
        self._parents: list[tuple[int, str]] = []
        self._first_cell, self._table = "", 0
        self._list_start: int | None = None

    def row(self, block: Block) -> None:
        """A row; one without a first cell goes on with that of the row above."""
        cell = self._text[block.start : block.end].split("|", 1)[0].strip()
        self._first_cell = cell or (self._first_cell if block.table == self._table else "")
        self._table = block.table
        inherited = () if cell else (self._first_cell,)
        context = inherited + (self._above() if block.level else ()) + _introduced(self._introduction)
        self._add(UnitKind.ROW, block.start, block.end, context, block.header)

    def item(self, block: Block, *, last: bool) -> None:
        """An item, sentence by sentence; after the `last` one, the list as a whole."""
        while self._parents and self._parents[-1][0] >= block.level:
            self._parents.pop()
        context = self._above() + _introduced(self._introduction)
        self._parents.append((block.level, plain(self._text[block.start : block.end])))
        if self._list_start is None:
            self._list_start = self._introduction.start if self._introduction else block.start
        lead: tuple[str, ...] = ()
        for start, end in spans(self._text, block.start, block.end):
            self._add(UnitKind.ITEM, start, end, lead + context)
            lead = lead or (self._text[start:end],)
        if last:
            if block.end - self._list_start <= LIST_CHARACTERS:
                self._add(UnitKind.LIST, self._list_start, block.end, ())
            self._list_start = None

    def paragraph(self, block: Block, *, leads: bool) -> None:
        """The sentences of a paragraph, which `leads` to a list or table that follows it."""
        self._parents.clear()
        asked = self._introduction
        if asked and not asked.text.endswith(_QUESTION):
            asked = None
        self._introduction = None
        sentences = spans(self._text, block.start, block.end)
        if len(sentences) > 1 and _is_lead(self._text[slice(*sentences[0])]):
            asked = self._unit(UnitKind.SENTENCE, *sentences.pop(0), _introduced(asked))
        governing = _introduced(asked)
        told: tuple[str, ...] = ()  # "My train was late. Who pays?"
        for start, end in sentences:
            unit = self._add(UnitKind.SENTENCE, start, end, governing)
            self._introduction = unit if unit.text.endswith(_INTRODUCES) else None
            if unit.text.endswith(_QUESTION):
                governing = (*_introduced(unit)[:_MOST_ASKED], *told)
            elif self._introduction is None and not governing:
                told = (*told, unit.text)[-_MOST_TOLD:]
        if self._introduction is None and leads and self.units:
            self._introduction = self.units[-1]

    def _above(self) -> tuple[str, ...]:
        """The items that the next one stands under, the nearest first."""
        return tuple(parent for _, parent in reversed(self._parents))

    def _add(self, kind: UnitKind, start: int, end: int, context: tuple[str, ...], header: str = "") -> Unit:
        unit = self._unit(kind, start, end, context, header)
        self.units.append(unit)
        return unit

    def _unit(self, kind: UnitKind, start: int, end: int, context: tuple[str, ...], header: str = "") -> Unit:
        return Unit(kind, start, end, self._text[start:end], context, header, self.number)


def _is_lead(text: str) -> bool:
    """A bold run-in heading, or a short first line without a sentence's end: it governs what follows it.

    A label with its figure beside it, as 「パッキン　　３年」, is the first of several.
    """
    if text.startswith("**") and text.rstrip(".:：。 ").endswith("**"):
        return True
    return len(text) <= LEAD_CHARACTERS and not _ENDS_OR_DIVIDES.search(text) and not _FIGURE.search(text)


def _introduced(introduction: Unit | None) -> tuple[str, ...]:
    return (introduction.text, *introduction.context) if introduction else ()
