"""Grids of cells to rows under a header."""

import re
from collections import Counter, deque
from collections.abc import Sequence
from itertools import pairwise, zip_longest

from msgspec import Struct

from a2a_hub.text.quantities import quantities
from a2a_hub.text.units import SIGNS, UNITS
from functions.docqa.ingestion.blocks import Block, Kind, unspaced

_FIGURE, _NUMBER, _WORD = re.compile(r"\d"), re.compile(r"\d[\d,.]*"), re.compile(r"[^\W\d_]+")
_WORD_OR_SIGN = re.compile(r"[^\W\d_]+|[%$€£¥]")
_YEAR = re.compile(r"(?:FY ?)?(?:19|20)\d\d(?:[-/]\d\d)?(?: ?年度?)?|(?:令和|平成) ?(?:\d{1,2}|元)年度?", re.IGNORECASE)
_NOTE = re.compile(
    r"(?:[※*＊†] ?\d{0,2}|[(（]?注(?:記|意)?[)）]? ?\d{0,2}|notes?|remarks?|n\.?b\.?)[:：.．)]?", re.IGNORECASE
)
_MEASURE = re.compile(r"[(（\[［](?=.*[^\W\d]|.*[%‰£$€¥])[^()（）]{1,20}[)）\]］]$")
_IN_BRACKETS = re.compile(r"[(（\[［][^()（）]{1,40}[)）\]］]")
_RANGE = re.compile(r"[\d,.]+ ?[-–—〜~～] ?[\d,.]*|[-–—〜~～] ?[\d,.]+")
# Names may be short for something: No., 管理番号 No.
_SENTENCE = re.compile(r"。$|\s\S+\s\S+\.$")
_LONGEST_NAME = 60
_MAX_HEADER_ROWS, _COMPARED_ROWS = 3, 50
_MAX_PREAMBLE_ROWS, _MAX_PREAMBLE_CELLS, _MIN_WIDE_COLUMNS = 6, 2, 4
BAR = " | "
_MAX_SPAN, _MAX_CELLS = 100, 200_000


class Cell(Struct):
    """A cell of a row as a file holds it; one without a text of its own continues the one above it."""

    text: str | None
    columns: int = 1
    rows: int = 1
    heading: bool = False


def table_blocks(
    grid: Sequence[Sequence[str]],
    *,
    table: int,
    header_rows: int | None = None,
    line: int = 0,
    cells: Sequence[str] = (),
    pages: Sequence[int] = (),
) -> list[Block]:
    """Return the rows of a table under its header, which is detected unless `header_rows` says how many rows it has.

    A row without a first cell has the one above it in its context, and each the caption above it; a note has no header. `cells`
    and `pages` are the rows' places.
    """
    width = max(map(len, grid), default=0)
    rows = [[unspaced(" ".join(cell.split())) for cell in row] + [""] * (width - len(row)) for row in grid]
    kept = [column for column in range(width) if any(row[column] for row in rows)]
    filled = [
        (place or "", page or 0, [row[column] for column in kept])
        for row, place, page in zip_longest(rows, cells, pages)
        if any(row)
    ]
    if not filled:
        return []
    texts = [row for _, _, row in filled]
    titles = 0
    while titles < len(texts) - 1 and _is_caption(texts[titles]) and (header_rows is None or all(texts[titles])):
        titles += 1
        header_rows = (header_rows or 1) - 1 or None
    titles += preamble_rows(texts[titles:]) if header_rows is None else 0
    count, names = _columns(texts[titles:], header_rows)
    header = BAR.join(names) if count else ""
    blocks: list[Block] = []
    first = caption = ""
    for at, (place, page, row) in enumerate(filled):
        if at == titles and header:
            blocks.append(Block(Kind.ASIDE, header, marker="| ", line=line, page=page, table=table))
        if titles <= at < titles + count:
            continue
        if header and row[0] == names[0] and is_header(texts[at : at + _COMPARED_ROWS]):
            # Another table right below: its first column has the same name.
            header, first, caption = BAR.join(row), "", ""
            blocks.append(Block(Kind.ASIDE, header, marker="| ", page=page, table=table))
            continue
        said = list(dict.fromkeys(filter(None, row)))
        if at < titles and len(said) > 1:
            blocks.append(Block(Kind.ROW, BAR.join(said), cell=place, page=page, table=table, marker="| "))
            continue
        if _is_caption(row):
            # A caption inside the table governs the rows below it; of two cells, a value may only be missing.
            first = said[0]
            caption = first if all(row) or len(row) > 2 else ""
            blocks.append(Block(Kind.ROW, said[0], cell=place, page=page, table=table, marker="| "))
            continue
        if len(said) == 2 and count and row[0] == said[0] and _NOTE.fullmatch(said[0]):
            blocks.append(Block(Kind.ROW, BAR.join(said), cell=place, page=page, table=table, marker="| "))
            continue
        context = tuple(filter(None, ("" if row[0] else first, caption)))
        first = row[0] or first
        text = BAR.join(row).strip() if row[0] else BAR.join(row).lstrip(" |").rstrip()
        blocks.append(
            Block(Kind.ROW, text, marker="| ", header=header, context=context, cell=place, page=page, table=table)
        )
    return blocks


def preamble_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows of two cells at most stand above the header of a wide table: when a list was made, and of what."""
    for at, row in enumerate(rows[: _MAX_PREAMBLE_ROWS + 1]):
        if len(row) < _MIN_WIDE_COLUMNS or sum(map(bool, row)) > _MAX_PREAMBLE_CELLS:
            return at if at and is_header(rows[at : at + _COMPARED_ROWS]) else 0
    return 0


def _is_caption(row: Sequence[str]) -> bool:
    """Return whether a row has one text that stands over all columns, or over the first ones."""
    one = len(set(filter(None, row))) == 1 < len(row)
    return one and bool(not row[-1] or (all(row) and _WORD.search(row[0])))


def is_header(rows: Sequence[Sequence[str]], *, above: Sequence[Sequence[str]] = ()) -> bool:
    """Return whether the first row names the columns: all short, distinct and without figures, unlike the rows below.

    `above` are the rows of a table that these may go on with: figures like theirs are no names.
    """
    first = rows[0]
    if len(rows) < 2 or len(first) < 2 or not all(first[1:]) or len(set(first)) < len(first):
        return False
    if any(len(cell) > _LONGEST_NAME or _SENTENCE.search(cell) for cell in first):
        return False
    body = rows[1:_COMPARED_ROWS]
    if len(first) > 2 and (above or len(body) > 1) and _differs(first, body, above):
        return True
    # What stands in brackets only describes a column: "Stop at (10-minute mean, m/s)".
    names = [_IN_BRACKETS.sub("", cell) for cell in first]
    figures = [sum(map(bool, map(_FIGURE.search, row))) for row in (names, *body)]
    if above or len(first) == 2:
        # A name and its value side by side look like a header, too, unless figures of one kind stand below.
        kinds = {each[0].kind for row in body if len(first) == 2 and (each := quantities(row[1]))}
        return figures[0] == 0 and (len(first) > 2 or (sum(map(bool, figures[1:])) * 2 >= len(body) and len(kinds) < 2))
    return figures[0] == 0 or figures[0] * 2 <= min(len(first), max(figures[1:]))


def _differs(first: Sequence[str], body: Sequence[Sequence[str]], above: Sequence[Sequence[str]]) -> bool:
    """Return whether the figures of a row are of a form that no row below or above has: years, ranges, 第1四半期."""
    compared = 0
    for column, cell in enumerate(first):
        if _FIGURE.search(cell):
            below = [row[column] for row in (*body, *above) if row[column]]
            forms = Counter(_form(each) for each in below if _FIGURE.search(each))
            is_year = _YEAR.fullmatch(cell) and not any(map(_YEAR.fullmatch, below[: len(body)]))
            is_alike = forms.most_common(1)[0][1] * 2 > forms.total() if forms else bool(below)
            measures = set(_WORD_OR_SIGN.findall(cell)).intersection(_WORD_OR_SIGN.findall("\n".join(below)))
            if not is_year and (_form(cell) in forms or not is_alike or measures):
                return False
            compared += 1
    return compared > 1


def _form(cell: str) -> str:
    """Return what cells of one column have in common: "1-3 days" is 0-0 days."""
    return _NUMBER.sub("0", cell)


def _columns(rows: Sequence[Sequence[str]], said: int | None) -> tuple[int, list[str]]:
    """Return how many rows name the columns, and the names; of a header of several rows, each stands after the one that spans it.

    The file says how many rows, or there is one; those below that divide columns of one name, or measure them, belong to it.
    """
    most = min(_MAX_HEADER_ROWS, len(rows) - 1)
    count = min(is_header(rows) if said is None else said, _MAX_HEADER_ROWS)
    count = count if count < len(rows) else 0
    names, at = list(rows[0]), 1
    while at < count or (at < most and said != 0):
        row, above = rows[at], rows[at - 1]
        over = _spread(names, row)
        divides = _divides(over, row, above)
        if at >= count and not divides and not (count and _measures(row, above, rows[at + 1 :])):
            break
        names = [_name(*column, divides=divides) for column in zip(over, above, row, strict=True)]
        at += 1
    is_header_of_many = at > max(count, 1) and len(set(names)) == len(names)
    return (at, names) if (said and count) or is_header_of_many else (count, list(rows[0]))


def _spread(names: Sequence[str], row: Sequence[str]) -> list[str]:
    """Return the names with one in place of the blanks behind it, where the row below names both columns."""
    out = list(names)
    for at in range(1, len(out)):
        if not out[at] and row[at] and row[at - 1] not in ("", names[at - 1]):
            out[at] = out[at - 1]
    return out


def _divides(names: Sequence[str], row: Sequence[str], above: Sequence[str]) -> bool:
    """Return whether a row has several names for columns that have one so far, and begins no entry."""
    divided = any(name and name == other and row[at] != row[at + 1] for at, (name, other) in enumerate(pairwise(names)))
    own = [cell for cell, over in zip(row[1:], above[1:], strict=True) if cell not in ("", over)]
    named = all(_WORD.search(cell) or _YEAR.fullmatch(cell) or _RANGE.fullmatch(cell) for cell in own)
    # The name of the first columns may be divided, too, under names that go on.
    goes_on = row[0] in ("", above[0] or row[0]) or all(
        cell in ("", over) or names.count(name) > 1 for cell, over, name in zip(row, above, names, strict=True)
    )
    return divided and named and goes_on and max(map(len, (*names, *own))) <= _LONGEST_NAME


def _measures(row: Sequence[str], above: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row has nothing but the units of the figures below it."""
    own = [at for at, cell in enumerate(row) if cell not in ("", above[at])]
    measured = (any(_FIGURE.search(each[at]) for each in below) for at in own)
    units = (_MEASURE.match(row[at]) or (at and row[at].casefold() in UNITS | SIGNS) for at in own)
    return own != [] and all(units) and all(measured)


def _name(over: str, above: str, cell: str, *, divides: bool) -> str:
    if not over or cell in ("", above):
        return over or cell
    if _MEASURE.match(cell):
        return f"{over} {cell}"
    return f"{over} / {cell}" if divides else f"{over} ({cell})"


def span_of(written: str | None) -> int:
    """Return how many rows or columns a cell spans; 1 where it does not say so."""
    return max(1, min(int(written), _MAX_SPAN)) if written and written.isdecimal() and len(written) < 6 else 1


def grid_of(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """Return the rows with cells that span several rows or columns repeated in each, but for columns that no cell begins in."""
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    left = _MAX_CELLS
    begun: set[int] = set()
    for row in rows:
        line: list[str] = []
        cells = deque(row)
        while (cells or len(line) in hanging) and left > 0:
            if len(line) in hanging:
                more, text = hanging.pop(len(line))
                columns = 1
            else:
                cell = cells.popleft()
                above = grid[-1][len(line) : len(line) + 1] if grid else []
                more, text = cell.rows - 1, "".join(above) if cell.text is None else cell.text
                columns = cell.columns
                begun.add(len(line))
            for _ in range(columns):
                if more:
                    hanging[len(line)] = (more - 1, text)
                line.append(text)
            left -= columns
        grid.append(line)
    return [[text for column, text in enumerate(line) if column in begun] for line in grid]
