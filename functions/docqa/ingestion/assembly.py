"""Blocks to a document: its canonical text, and in it the sections' passages with their units."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import structs

from functions.docqa.ingestion.blocks import MAX_CHARACTERS, Block, Content, Kind, Unreadable, unspaced
from functions.docqa.ingestion.editions import edition_of
from functions.docqa.ingestion.headings import ARTICLE, CAPTION, heading_depth, is_metadata
from functions.docqa.ingestion.language import language_of
from functions.docqa.ingestion.sentences import sentences
from functions.docqa.model import Document, Passage, Standing, Unit, UnitKind

_PASSAGE_CHARACTERS = 1_000
_HEAD_BLOCKS, _LONGEST_TITLE = 8, 120
_MAX_CONTEXT = 4
_QUESTION = ("?", "？")
_INTRODUCES = (
    ":",
    "：",
    "following.",
    "below.",
    "以下の通り。",
    "以下のとおり。",
    "次のとおり。",
    "次の通り。",
    "とする。",
)
_LETTER = re.compile(r"[^\W\d_]")
_ARTICLE_LEVEL = 5
_SIGN = re.compile(r"[\W\d_]*[a-zA-Z]?[\W\d_]*")
# It only tells which sheet of a bundle it is.
_SHEET = re.compile(
    r"\W*(?:(?:別紙|別添|別記|資料|参考資料|様式|議案)(?:第?[0-9０-９一二三四五六七八九十]{1,3}号?)?|件名"
    r"|(?:annex|appendix|attachment|enclosure)(?: (?:[a-z]|\d{1,2}))?)\W*",
    re.IGNORECASE,
)
_EVIDENCE = (Kind.TEXT, Kind.ITEM, Kind.ROW)
_LISTED = (Kind.ITEM, Kind.ROW, Kind.ASIDE)
_MARKS = {Kind.ITEM: "- ", Kind.HEADING: "# "}


def assemble(path: str, uri: str, content: Content, *, stem: str) -> Document:
    """Return the document of these blocks. Raises Unreadable when it says nothing, or too much."""
    blocks = _captioned([_recognised(block) for block in content.blocks if block.text])
    if sum(len(block.text) for block in blocks) > MAX_CHARACTERS:
        raise Unreadable(f"more than {MAX_CHARACTERS} characters of text")
    if not any(block.kind is not Kind.ASIDE for block in blocks):
        scanned = ["scanned pages need text recognition first"] if content.pages else content.left_out
        raise Unreadable("; ".join(["no text in it", *scanned]))
    if not any(block.kind in _EVIDENCE for block in blocks):
        blocks = [structs.replace(each, kind=Kind.TEXT) if each.kind is Kind.HEADING else each for each in blocks]
    title, blocks = _title(blocks, content, stem)
    blocks = _without_metadata(blocks)
    writer = _Writer(content.pages)
    for at, block in enumerate(blocks):
        following = blocks[at + 1].kind if at + 1 < len(blocks) else None
        writer.write(block, title, leads=following in _LISTED)
    if not any(units for _, units, _ in writer.sections):
        raise Unreadable("; ".join(["no text in it but what tells of the document itself", *content.left_out]))
    text = "".join(writer.parts)
    language = language_of(text)
    edition = edition_of(path, title, content.fields, f"{content.running[:200]}\n{text}".lstrip())
    found: list[Passage] = []
    seen: dict[tuple[str, ...], int] = {}
    old = structs.replace(edition, standing=Standing.SUPERSEDED) if edition.standing is Standing.CURRENT else edition
    for section, units, is_former in writer.sections:
        for chunk in _chunks(units):
            ordinal = seen[section] = seen.get(section, 0) + 1
            name = "\0".join((uri, *section, str(ordinal)))
            found.append(
                Passage(
                    id=hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:16],
                    uri=uri,
                    title=title,
                    section=section,
                    units=chunk,
                    edition=old if is_former else edition,
                    language=language,
                )
            )
    return Document(
        path=path,
        uri=uri,
        title=title,
        text=text,
        language=language,
        edition=edition,
        page_starts=tuple(writer.page_starts),
        passages=tuple(found),
        left_out="; ".join(content.left_out),
    )


def _recognised(block: Block) -> Block:
    """Return a paragraph that reads like a heading of its own as one: 第3条（休暇）, 【受付】."""
    if block.kind in (Kind.TEXT, Kind.HEADING):
        block = structs.replace(block, text=unspaced(block.text))
    if block.kind is Kind.TEXT and (depth := heading_depth(block.text, set_apart=False)) is not None:
        return structs.replace(block, kind=Kind.HEADING, level=depth)
    return block


def _captioned(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with what stands in brackets above an article as its heading: （趣旨）."""
    out = list(blocks)
    for at, (block, following) in enumerate(pairwise(blocks)):
        if block.kind is Kind.TEXT and CAPTION.fullmatch(block.text) and ARTICLE.match(following.text):
            out[at] = structs.replace(block, kind=Kind.HEADING, level=_ARTICLE_LEVEL)
    return out


def _title(blocks: list[Block], content: Content, stem: str) -> tuple[str, list[Block]]:
    """Return the title, and the blocks without it as a unit, unless nothing else is one."""
    if given := next((content.fields[name] for name in ("title", "タイトル", "件名") if content.fields.get(name)), ""):
        return given, blocks
    is_below_mark = False
    for at, block in enumerate(blocks[:_HEAD_BLOCKS]):
        if at + 1 < len(blocks) and (_SHEET.fullmatch(block.text) or _SIGN.fullmatch(block.text)):
            is_below_mark = True
            continue
        if at + 1 < len(blocks) and _is_named_for(blocks[at + 1].text, stem, instead_of=block.text):
            continue  # whose document it is stands above what it is called
        if block.kind is Kind.HEADING and (is_below_mark or block.level <= (1 if content.title and at else 2)):
            return block.text, blocks
        if block.kind is Kind.TEXT and not content.title and not is_metadata(block.text):
            if len(block.text) > _LONGEST_TITLE or block.text.endswith((".", "。", ":", "：")):
                break
            if sum(each.kind in _EVIDENCE for each in blocks) == 1:
                return block.text, blocks
            return block.text, [*blocks[:at], structs.replace(block, kind=Kind.HEADING, level=1), *blocks[at + 1 :]]
        if block.kind not in (Kind.TEXT, Kind.HEADING):
            break
    return content.title or stem, blocks


def _is_named_for(text: str, stem: str, *, instead_of: str) -> bool:
    """Return whether the name of a file is that of one line rather than of another."""
    pairs = ({f"{a}{b}" for a, b in pairwise(_LETTER.findall(each.lower()))} for each in (stem, text, instead_of))
    name, own, other = pairs
    common = len(name & own)
    return len(text) <= _LONGEST_TITLE and 2 * common > len(own) and common > 3 * len(name & other)


def _without_metadata(blocks: list[Block]) -> list[Block]:
    """Return the blocks with those at the head and the foot that speak of the document itself as asides."""
    out = list(blocks)
    ends = (range(min(len(out), 2 * _HEAD_BLOCKS)), range(len(out) - 1, max(len(out) - 4, -1), -1))
    for numbers, kinds in zip(ends, ((Kind.TEXT, Kind.ITEM, Kind.ROW), (Kind.TEXT,)), strict=True):
        for at in numbers:
            block = out[at]
            if block.kind in kinds and is_metadata(block.text, loosely=block.kind is not Kind.ROW):
                out[at] = structs.replace(block, kind=Kind.ASIDE, table=0)
            elif block.kind not in (Kind.HEADING, Kind.ASIDE):
                break
    return out


class _Writer:
    """The canonical text so far, the units in it, and what governs those to come."""

    def __init__(self, pages: int) -> None:
        self.parts: list[str] = []
        self.sections: list[tuple[tuple[str, ...], list[Unit], bool]] = []
        self.page_starts: list[int] = [0] if pages else []
        self._pages = pages
        self._length = self._lines = self._number = 0
        self._path: list[tuple[int, str]] = []
        self._before = Block(Kind.HEADING, "")
        self._introduction: tuple[str, ...] = ()
        self._above: list[tuple[int, str]] = []
        self._units: list[Unit] = []

    def write(self, block: Block, title: str, *, leads: bool) -> None:
        """Append the block to the text, and its units to the section."""
        together = block.kind is self._before.kind is Kind.ITEM or (block.table and block.table == self._before.table)
        if self.parts:
            self._append("\n" if together else "\n\n")
        if block.line > self._lines + 1:
            self._append("\n" * (block.line - self._lines - 1))
        while block.page > len(self.page_starts):
            self.page_starts.append(self._length)
        indent = "  " * min(block.level, 9) if block.kind is Kind.ITEM else ""
        mark = "#" * max(1, min(block.level, 6)) + " " if block.kind is Kind.HEADING else _MARKS.get(block.kind, "")
        self._append(indent + (block.marker or mark))
        start = self._length
        self._append(block.text)
        self._number += not together
        if self._before.table and not together and not self._before.cell:
            self._introduction = ()  # it led to the table that has ended; what heads a sheet or slide holds for all of it
        match block.kind:
            case Kind.HEADING:
                self._begin_section(block, title)
            case Kind.TEXT:
                if (article := ARTICLE.match(block.text)) and self._path and self._path[-1][0] >= _ARTICLE_LEVEL:
                    # An article without a heading is no part of the one above it.
                    caption = self._before.text if CAPTION.fullmatch(self._before.text) else ""
                    name = f"{article[1]}{caption}"
                    self._begin_section(structs.replace(block, text=name, level=_ARTICLE_LEVEL), title)
                self._paragraph(block, start, leads=leads)
            case Kind.ITEM:
                self._item(block, start)
            case Kind.ROW:
                self._add(UnitKind.ROW, start, block.text, (*block.context, *self._introduction), block)
            case Kind.ASIDE:
                pass
        self._before = block

    def _begin_section(self, block: Block, title: str) -> None:
        while self._path and self._path[-1][0] >= block.level:
            self._path.pop()
        self._path.append((block.level, block.text))
        names = tuple(name for _, name in self._path)
        self._units = []
        self.sections.append((names[1:] if names[0] == title else names, self._units, block.former))
        self._introduction = ()
        self._above.clear()

    def _paragraph(self, block: Block, start: int, *, leads: bool) -> None:
        """Add the sentences of a paragraph, which `leads` to a list or table that follows it."""
        self._above.clear()
        asked = self._introduction if self._introduction and self._introduction[0].endswith(_QUESTION) else ()
        self._introduction = ()
        last = ""
        spans = sentences(block.text)
        for begin, end in spans:
            last = block.text[begin:end]
            self._add(UnitKind.SENTENCE, start + begin, last, (*block.context, *asked), block)
            if last.endswith(_QUESTION):
                asked = (last,)
            self._introduction = (last, *asked) if last.endswith((*_INTRODUCES, *_QUESTION)) else ()
        if leads and len(spans) == 1 and not self._introduction:
            self._introduction = (last,)

    def _item(self, block: Block, start: int) -> None:
        """Add the sentences of a list item; the items above it, the introduction and its own first sentence govern it."""
        while self._above and self._above[-1][0] >= block.level:
            self._above.pop()
        context = (*block.context, *(text for _, text in reversed(self._above)), *self._introduction)
        self._above.append((block.level, block.text[:300]))
        lead: tuple[str, ...] = ()
        for begin, end in sentences(block.text):
            text = block.text[begin:end]
            self._add(UnitKind.ITEM, start + begin, text, lead + context, block)
            lead = lead or (text,)

    def _add(self, kind: UnitKind, start: int, text: str, context: Sequence[str], block: Block) -> None:
        if not self.sections:
            self.sections.append(((), self._units, False))
        governing = tuple(dict.fromkeys(context))[:_MAX_CONTEXT]
        self._units.append(
            Unit(kind, start, start + len(text), text, governing, block.header, self._number, block.cell)
        )

    def _append(self, text: str) -> None:
        self.parts.append(text)
        self._length += len(text)
        self._lines += text.count("\n")


def _chunks(units: Sequence[Unit]) -> Iterator[tuple[Unit, ...]]:
    chunk: list[Unit] = []
    for unit in units:
        if chunk and unit.end - chunk[0].start > _PASSAGE_CHARACTERS:
            yield tuple(chunk)
            chunk = []
        chunk.append(unit)
    if chunk:
        yield tuple(chunk)
