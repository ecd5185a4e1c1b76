"""Lines of plain text to blocks: headings, list items, tables whose columns are aligned or barred, wrapped paragraphs."""

import re
from collections.abc import Iterator, Sequence
from unicodedata import east_asian_width

from msgspec import Struct

from functions.docqa.ingestion.blocks import Block, Content, Kind, joined
from functions.docqa.ingestion.headings import ARTICLE, CAPTION, heading_depth, is_metadata
from functions.docqa.ingestion.tables import table_blocks

ITEM = re.compile(
    r"([ \t　]*)(?:[-*+–](?=\s)|-(?=[^\x00-\x7f])|[•・‣◦●○▪■](?=\s*\S)|(?:\d{1,3}|[a-zA-Z])[.)](?=\s)|\d{1,3}[．）](?=\D)"
    r"|[(（](?:\d{1,2}|[a-z]|[ivx]{1,4}|[ア-ン一二三四五六七八九十])[)）]|[①-⑳])[ \t　]*(?=\S)"
)
NUMBERED = re.compile(r"[ \t　]*\d{1,3}[.)．）]\s")
_RULE = re.compile(r"[ \t]*[-*_=~─━―・.+]{4,}[ \t]*$")
_COLUMNS = re.compile(r"[ \t　]*[-=─━]{2,}(?:[ \t　]+[-=─━]{2,})+[ \t　]*$")
_UNDERLINE = re.compile(r"(=+|-{3,})\s*$")
_SEPARATOR = re.compile(r"[ \t]*[|+]?[ \t]*:?-{2,}:?[ \t]*(?:[|+][ \t]*:?-+:?[ \t]*)*[|+]?[ \t]*$")
_QUOTED = re.compile(r"[ \t]*(?:[>＞][ \t]?)+")
# A table that is drawn with the characters for frames.
_FRAMED, _FRAMES = (
    re.compile(r"[ \t　]*[│┃║┌├└┏┣┗┠╔╠╚]"),
    str.maketrans("│┃║┌┬┐├┼┤└┴┘┏┳┓┣╋┫┗┻┛┠╂┨╔╦╗╠╬╣╚╩╝─━═", "|||" + "+" * 30 + "---"),
)
# Dots that lead from a name to its value.
_LEADER = re.compile(r"[ 　\t]?(?:[.．・…‥]{4,}|(?: [.．・]){4,})[ 　\t]?")
_CELL = re.compile(r"\S+(?:[ 　]\S+)*")
_APART = re.compile(r"\S(?: {2,}|\t+|　{2,})\S")
_LABELLED = re.compile(r"[^\s:：。.|、](?:[^:：。|.]|\.(?! )){0,40}(?:(?<!\d)[:：]|[:：](?!\d))(?!//)")
_PARAGRAPH = re.compile(r"[ \t　]*[０-９]{1,2}[ 　]+\S")
_ENDED = (".", "。", "!", "?", "！", "？", ":", "：", ";")
_CONTINUED = (",", "-", "、", "・", *"にはをがとものへやて")
_OPEN = re.compile(r" (?:an?|and|at|between|by|for|from|in|of|on|or|than|the|to|until|with|within)$")
_SHORT_LATIN, _SHORT_JAPANESE = 46, 20
_HEADING_LATIN, _HEADING_JAPANESE = 60, 30
_WRAPPED_AT, _WIDEST = 60, 80
_LEAST_ROWS, _IN_LINE, _ABOUT_AS_LONG = 3, 0.6, 0.8
_MAX_ROWS = 5_000


class Line(Struct, gc=False):
    """A line with its number in the source; `depth` is a heading's, as far as the source's layout tells it."""

    text: str
    number: int = 0
    page: int = 0
    depth: int = 0
    row: tuple[str, ...] = ()  # the cells, where the layout shows a table
    table: int = 0
    width: int = 0  # how wide the widest line of its page is


def read_lines(text: str) -> Content:
    """Return the blocks of a plain text."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").split("\n")
    lines = [line.translate(_FRAMES) if _FRAMED.match(line) else line for line in lines]
    return Content(blocks=list(line_blocks([Line(line, number) for number, line in enumerate(lines, start=1)])))


def line_blocks(lines: Sequence[Line], *, titled: bool = False) -> Iterator[Block]:
    """Return the blocks of these lines in their order; unless it is `titled`, the first line may be their title."""
    at, tables = 0, 1_000_000
    begun = titled
    while at < len(lines):
        line = lines[at]
        text = line.text.strip()
        if not text or _RULE.match(line.text):
            at += 1
            continue
        tables += 1
        if line.table:
            end = _same_table(lines, at)
            rows = [each.row for each in lines[at:end]]
            pages = [each.page for each in lines[at:end]]
            yield from table_blocks(rows, table=line.table, line=line.number, pages=pages)
        elif (end := _barred(lines, at)) > at:
            yield from _bar_table(lines[at:end], tables)
        elif (end := _aligned(lines, at)) > at:
            kept = [each for each in lines[at:end] if not _RULE.match(each.text) and not _COLUMNS.match(each.text)]
            grid, pages = [_CELL.findall(each.text) for each in kept], [each.page for each in kept]
            grid[0] = [*[""] * (len(grid[1]) - len(grid[0])), *grid[0]]
            yield from table_blocks(grid, table=tables, line=line.number, pages=pages)
        elif _led(line.text):
            end = next((each for each in range(at, len(lines)) if not _led(lines[each].text)), len(lines))
            grid, pages = [_led(each.text) for each in lines[at:end]], [each.page for each in lines[at:end]]
            yield from table_blocks(grid, table=tables, header_rows=0, line=line.number, pages=pages)
        elif depth := _depth(lines, at, first=not begun):
            yield Block(Kind.HEADING, " ".join(text.split()), level=depth, line=line.number, page=line.page)
            end = at + 2 if at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1].text) else at + 1
        elif item := ITEM.match(line.text):
            end = _end(lines, at)
            content = joined([line.text[item.end() :], *(each.text for each in lines[at + 1 : end])])
            marker = item.group().strip() + " "
            level = len(item[1].expandtabs(4)) // 2
            yield Block(Kind.ITEM, content, level=level, marker=marker, line=line.number, page=line.page)
        else:
            end = _end(lines, at)
            yield from _paragraphs(lines[at:end])
        begun = True
        at = end


def _same_table(lines: Sequence[Line], at: int) -> int:
    end = at
    while end < len(lines) and lines[end].table == lines[at].table:
        end += 1
    return end


def _led(text: str) -> list[str]:
    """Return the name and the value that dots lead to; none for other lines."""
    cells = [each.strip() for each in _LEADER.split(text)]
    return cells if len(cells) == 2 and all(cells) and (re.search(r"\d", cells[1]) or "......" in text) else []


def _depth(lines: Sequence[Line], at: int, *, first: bool) -> int | None:
    """Return the depth of the heading that a line is: by its layout, its mark, the line under it, or because it stands alone."""
    line, text = lines[at], lines[at].text.strip()
    if line.depth:
        return line.depth
    after = lines[at + 1].text if at + 1 < len(lines) else ""
    before = lines[at - 1].text.strip() if at else ""
    apart = not before or lines[at - 1].depth > 0
    if apart and after and (underline := _UNDERLINE.match(after)) and "|" not in text:
        return 1 if underline[0][0] == "=" else 2
    if is_metadata(text):
        return None
    if ARTICLE.match(text) and after.strip() and _wraps(text, after, min(line.width or _WRAPPED_AT, _WIDEST)):
        return None  # its first sentence goes on
    alone = apart and not after.strip()
    wrapped = bool(after.strip()) and ((after[:1].islower() and not ITEM.match(after)) or len(text) > 40)
    depth = heading_depth(text, set_apart=(apart or _leads(text, after)) and not wrapped)
    if first and len(text) <= _HEADING_LATIN and (text.isupper() or (is_metadata(after) and not text.endswith(_ENDED))):
        return 1
    if depth is not None and not (NUMBERED.match(text) and (NUMBERED.match(after) or NUMBERED.match(before))):
        return depth
    limit = _HEADING_LATIN if text.isascii() else _HEADING_JAPANESE
    if not alone or len(text) > limit or text.endswith((*_ENDED, *_CONTINUED)) or re.search(r"[@|:：=]", text):
        return None
    if first:
        return 1
    below = next((each.text.strip() for each in lines[at + 1 : at + 6] if each.text.strip()), "")
    return (
        6 if not ITEM.match(line.text) and (len(below) > limit or below.endswith(_ENDED) or ITEM.match(below)) else None
    )


def _leads(text: str, after: str) -> bool:
    """Return whether `1. Booking` heads the longer line right below it, as in the text of a PDF."""
    return len(text) <= _SHORT_LATIN and len(after.strip()) > len(text) and not NUMBERED.match(after)


def _end(lines: Sequence[Line], at: int) -> int:
    """Return where the paragraph or item that begins with line `at` ends."""
    page, item = lines[at].page, ITEM.match(lines[at].text)
    end, width = at + 1, max(lines[at].width, shown_width(lines[at].text.strip()))
    while end < len(lines):
        line, above = lines[end], lines[end - 1].text.rstrip()
        ends = not line.text.strip() or line.table or line.depth or _RULE.match(line.text) or ITEM.match(line.text)
        if ends or heading_depth(line.text, set_apart=False) is not None or _led(line.text):
            break
        if _PARAGRAPH.match(line.text) or (CAPTION.fullmatch(line.text) and ARTICLE.match(_text_at(lines, end + 1))):
            break
        if line.page != page and above.endswith(_ENDED):
            break
        if _APART.search(line.text) and (_barred(lines, end) > end or _aligned(lines, end) > end):
            break
        width = max(width, shown_width(line.text.strip()))
        hanging = len(line.text) - len(line.text.lstrip()) > (len(item[1]) if item else 0)
        if item and not hanging and not line.text[:1].islower() and not _wraps(above.strip(), line.text, width):
            break
        end += 1
    return end


def _text_at(lines: Sequence[Line], at: int) -> str:
    return lines[at].text if at < len(lines) else ""


def _wraps(above: str, below: str, width: int) -> bool:
    """Return whether the first word of the line below would not have fitted on the line above it."""
    first = below.split(maxsplit=1)[0] if below.isascii() else below.strip()[:1]
    return shown_width(above) + 1 + shown_width(first) > _ABOUT_AS_LONG * width


def _paragraphs(lines: Sequence[Line]) -> Iterator[Block]:
    """Return one block for lines that wrap a text, several for lines that are set apart on purpose."""
    longest = max(shown_width(line.text.strip()) for line in lines)
    begin = 0
    for at, line in enumerate(lines):
        text = line.text.strip()
        following = lines[at + 1].text.strip() if at + 1 < len(lines) else ""
        limit = _SHORT_LATIN if text.isascii() else _SHORT_JAPANESE
        filled = longest >= 2 * _SHORT_JAPANESE and following != "" and _wraps(text, following, longest)
        goes_on = (
            text.endswith(_CONTINUED)
            or _OPEN.search(text)
            or following[:1].islower()
            or (filled and not text.endswith(_ENDED))
        )
        apart = len(text) < limit and not goes_on
        if not following or apart or (_LABELLED.match(following) and (text.endswith(_ENDED) or _LABELLED.match(text))):
            quoted = [unquoted(each.text) for each in lines[begin : at + 1]]
            yield Block(Kind.TEXT, joined(quoted), line=lines[begin].number, page=lines[begin].page)
            begin = at + 1


def unquoted(text: str) -> str:
    """Return a line without the marks of a quotation before it."""
    quoted = _QUOTED.match(text)
    return text[quoted.end() :] if quoted else text


def _barred(lines: Sequence[Line], at: int) -> int:
    """Return where the table between bars ends that begins with line `at`; `at` when there is none."""
    end = at
    while end < len(lines) and ("|" in lines[end].text or (end > at and _SEPARATOR.match(lines[end].text))):
        end += 1
    rule = any(_SEPARATOR.match(line.text) for line in lines[at + 1 : at + 2])
    return end if end - at >= 2 and (rule or lines[at].text.lstrip().startswith("|")) else at


def _bar_table(lines: Sequence[Line], table: int) -> list[Block]:
    rule = next((at for at, line in enumerate(lines) if at and _SEPARATOR.match(line.text)), None)
    rows = [line for line in lines if not _SEPARATOR.match(line.text)]
    grid, pages = [row.text.strip().strip("|").split("|") for row in rows], [row.page for row in rows]
    return table_blocks(grid, table=table, header_rows=rule, line=lines[0].number, pages=pages)


def _aligned(lines: Sequence[Line], at: int) -> int:
    """Return where the table ends whose columns begin or end below one another; `at` when there is none."""
    above = _placed(lines[at].text)
    end = at + 1
    if above and end < len(lines) and _COLUMNS.match(lines[end].text):
        while end + 1 < len(lines) and len(_CELL.findall(lines[end + 1].text)) == len(above):
            end += 1
        return end + 1 if end - at >= _LEAST_ROWS - 1 else at
    while above and end < len(lines) and end - at < _MAX_ROWS:
        if _RULE.match(lines[end].text) and end == at + 1:
            end += 1
            continue
        below = _placed(lines[end].text)
        # The header may have no name for the first column.
        if len(below) != len(above) + (end == at + 1 and len(below) > 2 and len(above) == len(below) - 1):
            break
        starts, ends = {start for start, _ in above}, {stop for _, stop in above}
        if sum(start in starts or stop in ends for start, stop in below) < _IN_LINE * len(above):
            break
        above, end = below, end + 1
    return end if end - at >= _LEAST_ROWS else at


def _placed(line: str) -> list[tuple[int, int]]:
    """Return where the cells of a line stand on a screen; none for a line with fewer than two."""
    if not _APART.search(line) or ITEM.match(line):
        return []
    line = line.expandtabs(8)
    spans = [match.span() for match in _CELL.finditer(line)]
    if line.isascii():
        return spans
    shown = [0]
    for character in line:
        shown.append(shown[-1] + 1 + (east_asian_width(character) in "WF"))
    return [(shown[start], shown[end]) for start, end in spans]


def shown_width(text: str) -> int:
    """Return how many columns a text takes on a screen; a Japanese character takes two."""
    return len(text) if text.isascii() else sum(1 + (east_asian_width(character) in "WF") for character in text)
