"""A document to passages: quotable units with the headings, introductions and table headers that govern them."""

import hashlib
from collections.abc import Iterator, Sequence

from functions.docqa.documents.blocks import Block, BlockKind, blocks
from functions.docqa.documents.definitions import Definition, definitions_in, said_in
from functions.docqa.documents.units import units_of
from functions.docqa.model import Document, Passage, Unit, UnitKind
from functions.docqa.vocabulary.words import plain

PASSAGE_CHARACTERS = 1_000


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
            yield section(), units_of(document.text, pending)
            pending = []
        while path and path[-1][0] >= block.level:
            path.pop()
        path.append((block.level, plain(document.text[block.start : block.end])))
    if pending:
        yield section(), units_of(document.text, pending)


def _chunks(units: list[Unit]) -> Iterator[tuple[Unit, ...]]:
    chunk: list[Unit] = []
    for unit in units:
        if chunk and unit.end - chunk[0].start > PASSAGE_CHARACTERS and unit.kind is not UnitKind.LIST:
            yield tuple(chunk)
            chunk = []
        chunk.append(unit)
    if chunk:
        yield tuple(chunk)
