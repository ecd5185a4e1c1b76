"""A document to passages: quotable units with the headings, introductions and table headers that govern them."""

import hashlib
import re
from collections.abc import Iterator, Sequence

from functions.docqa.documents.blocks import Block, BlockKind, blocks
from functions.docqa.documents.definitions import Definition, definitions_in, said_in
from functions.docqa.documents.sentences import spans
from functions.docqa.model import Document, Passage, Unit, UnitKind
from functions.docqa.vocabulary.words import plain

PASSAGE_CHARACTERS = 1_000
LIST_CHARACTERS = 900
LEAD_CHARACTERS = 46
_MOST_TOLD = 2
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
_ENDS_OR_DIVIDES = re.compile(r"[.。!?！？:：|@]")


def passages(document: Document) -> Iterator[Passage]:
    """The passages of `document` in their order. Every unit's text is `document.text[start:end]`."""
    seen: dict[tuple[str, ...], int] = {}
    definitions = definitions_in(document.text)
    for section, units in _sections(document):
        for chunk in _chunks(units):
            ordinal = seen[section] = seen.get(section, 0) + 1
            name = "\0".join((document.uri, *section, str(ordinal)))
            yield Passage(
                id=hashlib.sha256(name.encode()).hexdigest()[:16],
                uri=document.uri,
                title=document.title,
                section=section,
                units=chunk,
                edition=document.edition,
                language=document.language,
                defined=_defined(definitions, section, chunk) if definitions else (),
            )


def _defined(
    definitions: Sequence[Definition], section: tuple[str, ...], units: Sequence[Unit]
) -> tuple[Definition, ...]:
    said = (text for unit in units for text in (unit.text, unit.header, *unit.context))
    return said_in(definitions, "\n".join(dict.fromkeys((*section, *said))))


def _sections(document: Document) -> Iterator[tuple[tuple[str, ...], list[Unit]]]:
    path: list[tuple[int, str]] = []
    pending: list[Block] = []

    def section() -> tuple[str, ...]:
        return tuple(title for _, title in path)

    for block in blocks(document.text):
        if block.kind is not BlockKind.HEADING:
            pending.append(block)
            continue
        if pending:
            yield section(), _units(document.text, pending)
            pending = []
        while path and path[-1][0] >= block.level:
            path.pop()
        path.append((block.level, plain(document.text[block.start : block.end])))
    if pending:
        yield section(), _units(document.text, pending)


def _units(text: str, pending: list[Block]) -> list[Unit]:
    units: list[Unit] = []
    introduction: Unit | None = None
    parents: list[tuple[int, str]] = []
    first_cell, table, number = "", 0, 0
    list_start: int | None = None
    for at, block in enumerate(pending):
        previous = pending[at - 1] if at else None
        number += 0 if previous and previous.kind is block.kind is not BlockKind.PARAGRAPH else 1
        if block.kind is BlockKind.ROW:
            cell = text[block.start : block.end].split("|", 1)[0].strip()
            first_cell = cell or (first_cell if block.table == table else "")
            table = block.table
            inherited = () if cell else (first_cell,)
            above = tuple(parent for _, parent in reversed(parents)) if block.level else ()
            context = inherited + above + _introduced(introduction)
            units.append(_unit(text, UnitKind.ROW, block.start, block.end, context, block.header, number))
            continue
        if block.kind is BlockKind.ITEM:
            while parents and parents[-1][0] >= block.level:
                parents.pop()
            context = tuple(parent for _, parent in reversed(parents)) + _introduced(introduction)
            parents.append((block.level, plain(text[block.start : block.end])))
            if list_start is None:
                list_start = introduction.start if introduction else block.start
            lead: tuple[str, ...] = ()
            for start, end in spans(text, block.start, block.end):
                units.append(_unit(text, UnitKind.ITEM, start, end, lead + context, "", number))
                lead = lead or (text[start:end],)
            if at + 1 == len(pending) or pending[at + 1].kind is not BlockKind.ITEM:
                if block.end - list_start <= LIST_CHARACTERS:
                    units.append(_unit(text, UnitKind.LIST, list_start, block.end, (), "", number))
                list_start = None
            continue
        parents.clear()
        asked = introduction if introduction and introduction.text.endswith(_QUESTION) else None
        introduction = None
        sentences = spans(text, block.start, block.end)
        if len(sentences) > 1 and _is_lead(text[slice(*sentences[0])]):
            asked = _unit(text, UnitKind.SENTENCE, *sentences.pop(0), _introduced(asked), "", number)
        governing = _introduced(asked)
        told: tuple[str, ...] = ()  # "My train was late. Who pays?"
        for start, end in sentences:
            unit = _unit(text, UnitKind.SENTENCE, start, end, governing, "", number)
            units.append(unit)
            introduction = unit if unit.text.endswith(_INTRODUCES) else None
            if introduction and introduction.text.endswith(_QUESTION):
                governing = (*_introduced(introduction), *told[-_MOST_TOLD:])
            told = (*told, unit.text) if introduction is None and not governing else told
        if introduction is None and _next_is_list(pending, at) and units:
            introduction = units[-1]
    return units


def _is_lead(text: str) -> bool:
    """A bold run-in heading, or a short first line without a sentence's end: it governs what follows it."""
    if text.startswith("**") and text.rstrip(".:：。 ").endswith("**"):
        return True
    return len(text) <= LEAD_CHARACTERS and not _ENDS_OR_DIVIDES.search(text)


def _next_is_list(pending: list[Block], at: int) -> bool:
    return at + 1 < len(pending) and pending[at + 1].kind in (BlockKind.ITEM, BlockKind.ROW)


def _introduced(introduction: Unit | None) -> tuple[str, ...]:
    return (introduction.text, *introduction.context) if introduction else ()


def _unit(
    text: str, kind: UnitKind, start: int, end: int, context: tuple[str, ...], header: str, block: int
) -> Unit:
    return Unit(kind, start, end, text[start:end], context, header, block)


def _chunks(units: list[Unit]) -> Iterator[tuple[Unit, ...]]:
    chunk: list[Unit] = []
    for unit in units:
        if chunk and unit.end - chunk[0].start > PASSAGE_CHARACTERS and unit.kind is not UnitKind.LIST:
            yield tuple(chunk)
            chunk = []
        chunk.append(unit)
    if chunk:
        yield tuple(chunk)
