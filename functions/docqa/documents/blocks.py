"""Canonical text to blocks: headings, paragraphs, list items, table rows. One parser for every format."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from functions.docqa.documents import english_clauses
from functions.docqa.documents.clauses import ITEM_MARK, begins_clause, depth_of_item, heading_level
from functions.docqa.documents.columns import cells_of, is_header, rows_from, tight_cells, tight_rows_from
from functions.docqa.documents.formats.markdown import FRONT_MATTER


class BlockKind(StrEnum):
    """What a block is; quotes and code count as paragraphs."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    ROW = "row"


class Block(Struct, frozen=True, gc=False):
    """`text[start:end]` is the content without its marker; `level` is a heading's depth or the indent of an item or a row."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    header: str = ""
    table: int = 0


class _Line(Struct, gc=False):
    start: int
    end: int
    text: str


_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_BOLD_HEADING = re.compile(r"\*\*([^*]+)\*\*[:：]?$")
_UNDERLINE = re.compile(r"(=+|-{3,})\s*$")
_ITEM = re.compile(
    r"([ \t　]*)(?:[-*+](?=\s)|-(?=[^\x00-\x7f])|[•・‣◦]|\d{1,3}(?:[.)](?=\s)|[．）](?=\D))|[(（]\d{1,2}[)）]|[①-⑳]|"
    rf"{ITEM_MARK}|{english_clauses.ITEM_MARK})\s*(?=\S)"
)
_RULE = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|[=~─━]{4,})$")
_SEPARATOR = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_JAPANESE_HEADING = re.compile(
    r"第[0-9０-９一二三四五六七八九十百]+[条章節](?:[ 　]*[(（].*[)）]|[ 　]+\S{0,24}[^\s。])?$"
    r"|【[^】]{1,40}】$|[■◆●▼◇□][ 　]*\S.{0,40}$"
)
_NUMBERED_HEADING = re.compile(r"\d+(?:\.\d+)*\.?[ 　]+\S[^。.:：;,、]{0,60}$")
_INNER_ITEM = re.compile(r"(?: {2,}|\t)[ \t]*\d{1,3}[.)]\s")
_NAMED_HEADING = re.compile(r"(?:section|article|chapter|part|appendix) \w+[.:]?(?: [^.]{0,59}[^.:])?$", re.IGNORECASE)
_UPPER_HEADING = re.compile(r"[A-Z][A-Z0-9 &/,()-]{3,60}$")
_SHORT_LINE = 50
_PUNCTUATION = (".", "。", "!", "?", "！", "？", ",", "、", ";")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")


def blocks(text: str) -> Iterator[Block]:
    """The blocks of `text` in their order. Front matter, rules and comments are in none of them."""
    front = FRONT_MATTER.match(text)
    last = text.rfind("-->")
    hidden = [match.span() for match in _COMMENT.finditer(text, 0, last + len("-->"))] if last >= 0 else []
    lines = _lines(text, front.end() if front else 0)
    if hidden:
        starts = [start for start, _ in hidden]
        lines = [line for line in lines if not _is_in(line, hidden[bisect_right(starts, line.start) - 1])]
    texts = [line.text for line in lines]
    at, tables = 0, 0
    fenced = False
    while at < len(lines):
        line = lines[at]
        if not line.text.strip():
            at += 1
        elif _FENCE.match(line.text):
            fenced, at = not fenced, at + 1
        elif fenced:
            yield Block(BlockKind.PARAGRAPH, line.start, line.end)
            at += 1
        elif _RULE.match(line.text):
            at += 1
        elif "|" in line.text and (line.text.lstrip().startswith("|") or _is_separator(lines, at + 1)):
            tables += 1
            taken = _table_end(lines, at)
            yield from _table(lines[at:taken], tables)
            at = taken
        elif "  " in line.text and (taken := rows_from(texts, at)) > at:
            tables += 1
            yield from _aligned(lines[at:taken], tables)
            at = taken
        elif " " in line.text and (taken := tight_rows_from(texts, at)) > at:
            tables += 1
            yield from _below(lines[at:taken], " | ".join(tight_cells(line.text)), tables)
            at = taken
        elif (level := heading_level(texts, at)) is not None:
            yield _whole(line, level)
            at += 1
        elif heading := _heading(text, lines, at):
            yield heading
            underlined = at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1].text)
            at += 2 if underlined and not _HEADING.match(line.text) else 1
        elif item := _ITEM.match(line.text):
            taken = _continuation_end(lines, texts, at)
            depth = depth_of_item(line.text) + english_clauses.depth_of_item(line.text)
            indent = len(item.group(1).expandtabs(4)) + depth
            yield Block(BlockKind.ITEM, line.start + item.end(), lines[taken - 1].end, indent)
            at = taken
        elif _stands_alone(lines, at):
            level = 1 if not any(lines[above].text.strip() for above in range(at)) else 6
            yield Block(BlockKind.HEADING, line.start, line.end, level)
            at += 1
        else:
            taken = _continuation_end(lines, texts, at)
            yield Block(BlockKind.PARAGRAPH, line.start, lines[taken - 1].end)
            at = taken


def _is_in(line: _Line, comment: tuple[int, int]) -> bool:
    return comment[0] <= line.start and line.end <= comment[1]


def _lines(text: str, start: int) -> list[_Line]:
    found: list[_Line] = []
    if start == len(text):
        return found
    for line in text[start:].removesuffix("\n").split("\n"):
        raw = line.removesuffix("\r").replace("\f", " ")
        quote = _QUOTE.match(raw) if ">" in raw else None
        offset = quote.end() if quote else 0
        found.append(_Line(start + offset, start + len(raw), raw[offset:]))
        start += len(line) + 1
    return found


def _heading(text: str, lines: list[_Line], at: int) -> Block | None:
    line = lines[at]
    if match := _HEADING.match(line.text):
        return Block(BlockKind.HEADING, line.start + match.start(2), line.start + match.end(2), len(match.group(1)))
    if match := _BOLD_HEADING.match(line.text.strip()):
        start = text.index(match.group(1), line.start)
        return Block(BlockKind.HEADING, start, start + len(match.group(1)), 7)
    after = lines[at + 1].text if at + 1 < len(lines) else ""
    before = lines[at - 1].text if at else ""
    if not before.strip() and (underline := _UNDERLINE.match(after)) and "|" not in line.text:
        return Block(BlockKind.HEADING, line.start, line.end, 1 if underline.group()[0] == "=" else 2)
    set_apart = not before.strip() or _HEADING.match(before) or _marked(before.strip(), line.text) is not None
    titled = english_clauses.is_titled_section(line.text.strip())
    if set_apart or titled or _begins_a_section(before, line.text, after):
        return _plain_heading(line, after)
    return None


def _begins_a_section(before: str, text: str, after: str) -> bool:
    """Whether `1. Booking` heads the text that follows it, with no blank line around, as in the text of a PDF."""
    follows = after[:1].isupper() or after[:1] > "\u3000"
    return (
        _NUMBERED_HEADING.match(text) is not None
        and len(text) <= _SHORT_LINE
        and follows
        and len(after) > len(text)
        and not _ITEM.match(after)
        and not _NUMBERED_HEADING.match(after)
        and not before.rstrip().endswith((",", "、", ":", "："))
    )


def _plain_heading(line: _Line, after: str) -> Block | None:
    text = line.text.strip()
    if _INNER_ITEM.match(line.text):
        return None
    depth = _marked(text, after)
    if depth is None:
        return None
    return _whole(line, 3 + depth)


def _whole(line: _Line, level: int) -> Block:
    """The heading that a line is."""
    text = line.text.strip()
    start = line.start + line.text.index(text)
    return Block(BlockKind.HEADING, start, start + len(text), level)


def _marked(text: str, after: str) -> int | None:
    """How deep a heading of plain text is, such as 第2条, 【受付】, `1.2 Scope` or SCOPE; None for other lines."""
    if _NUMBERED_HEADING.match(text):
        runs_on = len(text) > 40 and bool(after.strip())
        return None if _ITEM.match(after) or runs_on else text.split()[0].rstrip(".").count(".")
    if english_clauses.is_titled_section(text):
        return 2
    if _JAPANESE_HEADING.match(text) or _UPPER_HEADING.match(text):
        return 0
    if _NAMED_HEADING.match(text) and not after[:1].islower():
        return 0
    return None


def _stands_alone(lines: list[_Line], at: int) -> bool:
    """A short line between blank ones, without a sentence's end, above text: a heading without a mark."""
    text = lines[at].text.strip()
    limit = _SHORT_LINE if text.isascii() else _SHORT_LINE // 2
    if len(text) > limit or text.endswith(_PUNCTUATION) or re.search(r"[@|:：=]", text):
        return False
    if at and lines[at - 1].text.strip():
        return False
    if at + 1 >= len(lines) or lines[at + 1].text.strip():
        return False
    if not any(lines[above].text.strip() for above in range(at)):
        return True
    following = next(filter(None, (lines[below].text.strip() for below in range(at + 1, len(lines)))), "")
    return (
        len(following) > limit or following.endswith(_PUNCTUATION) or bool(_ITEM.match(following)) or "|" in following
    )


def _continuation_end(lines: list[_Line], texts: list[str], at: int) -> int:
    end = at + 1
    while end < len(lines):
        text = texts[end]
        starts_other = (
            not text.strip()
            or _HEADING.match(text)
            or _FENCE.match(text)
            or _RULE.match(text)
            or text.lstrip().startswith("|")
            or _ITEM.match(text)
            or _BOLD_HEADING.match(text.strip())
            or english_clauses.begins_clause(text)
            or begins_clause(text)
            or heading_level(texts, end) is not None
        )
        if starts_other:
            break
        end += 1
    return end


def _is_separator(lines: list[_Line], at: int) -> bool:
    return at < len(lines) and "-" in lines[at].text and bool(_SEPARATOR.match(lines[at].text))


def _table_end(lines: list[_Line], at: int) -> int:
    while at < len(lines) and "|" in lines[at].text:
        at += 1
    return at


def _table(rows: list[_Line], table: int) -> Iterator[Block]:
    header, indent = "", _indent(rows[0])
    if _is_separator(rows, 1):
        header = _inner(rows[0])[2]
        rows = rows[2:]
    for row in rows:
        start, end, content = _inner(row)
        if content and not _SEPARATOR.match(row.text):
            yield Block(BlockKind.ROW, start, end, indent, header, table)


def _aligned(rows: list[_Line], table: int) -> Iterator[Block]:
    """The rows of a table without bars."""
    cells = [cells_of(row.text) for row in rows]
    header = " | ".join(cells[0]) if is_header(cells[0], [row[-1] for row in cells[1:]]) else ""
    yield from _below(rows if header else [rows[0], *rows], header, table)


def _below(rows: list[_Line], header: str, table: int) -> Iterator[Block]:
    """The rows that stand below the first one."""
    for row in rows[1:]:
        start, end, _ = _inner(row)
        yield Block(BlockKind.ROW, start, end, header=header, table=table)


def _indent(row: _Line) -> int:
    return len(row.text) - len(row.text.lstrip())


def _inner(row: _Line) -> tuple[int, int, str]:
    """The row without its outer bars: (start, end, text)."""
    text = row.text.strip()
    start = row.start + row.text.index(text)
    inner = text.removeprefix("|")
    start += len(text) - len(inner)
    inner = inner.removesuffix("|")
    start += len(inner) - len(inner.lstrip())
    inner = inner.strip()
    return start, start + len(inner), inner
