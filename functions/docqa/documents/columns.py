"""Tables of plain text, whose columns are kept apart by nothing but white space."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from unicodedata import east_asian_width

_CELL = re.compile(r"\S+(?:[ 　]\S+)*")
_APART = re.compile(r"\S(?: {2,}|\t+|　{2,})\S")
_MARK = re.compile(r"[-*+•・‣◦○●]|\W?(?:\d{1,2}|[a-z])[.)）]|[(（]\d{1,2}[)）]|[①-⑳]|\W+")
_DIGIT = re.compile(r"\d")
_LEAST_ROWS, _LEAST_NUMERIC, _MANY_COLUMNS = 3, 0.6, 3
_IN_LINE = 0.65
# In Japanese a single space may be all that is left of a column's gap, and a word may be spaced out.
_SPACED_OUT = re.compile(r"(?<!\S)[^\x00-\x7f](?: [^\x00-\x7f]){1,4}(?!\S)")
_LONGEST_ROW, _LEAST_CELLS = 60, 3
_NO_ROW = re.compile(
    r"[。|「]|[、,](?=\s*$)|^\s*(?:令和|平成|昭和|明治|大正|\d{4}年|第[\d一二三四五六七八九十百]+[条章節項])"
)
# fmt: off
_WORDS_OF_TEXT = frozenset({
    "a", "an", "and", "any", "are", "as", "at", "be", "by", "for", "from", "if", "in", "is", "it", "of", "on",
    "or", "that", "the", "this", "to", "when", "which", "will", "with",
})
# fmt: on
_Span = tuple[int, int]


def rows_from(lines: Sequence[str], at: int) -> int:
    """Where the table that begins with line `at` ends; `at` itself when none does.

    Its lines have as many cells as the first, most of which begin or end below one of the line above.
    """
    above = _placed(lines[at])
    end = at + 1
    while above and end < len(lines):
        below = _placed(lines[end])
        if not below or not any(map(_stands_below, below, above)):
            break
        above, end = below, end + 1
    return end if end - at >= _LEAST_ROWS else at


def tight_rows_from(lines: Sequence[str], at: int) -> int:
    """Where the Japanese table ends whose header is line `at` and whose cells a single space keeps apart; `at` when it is none.

    A line below that has fewer cells, for one of them spans others, ends it.
    """
    header = [] if lines[at].isascii() else tight_cells(lines[at])
    if not header or not is_header(header, header):
        return at
    end = at + 1
    while end < len(lines) and len(tight_cells(lines[end])) == len(header):
        end += 1
    figured = sum(_DIGIT.search(line) is not None for line in lines[at + 1 : end])
    return end if end > at + 1 and figured == end - at - 1 else at


def tight_cells(line: str) -> list[str]:
    """The cells of a line that a single space keeps apart, fewer than three for a line that can be no row."""
    if len(line) > _LONGEST_ROW or _NO_ROW.search(line):
        return []
    cells = _SPACED_OUT.sub(lambda match: match.group().replace(" ", ""), line).split()
    return cells if len(cells) >= _LEAST_CELLS and not _MARK.fullmatch(cells[0]) else []


def _stands_below(cells: Sequence[_Span], above: Sequence[_Span]) -> bool:
    starts, ends = {start for start, _ in above}, {end for _, end in above}
    aligned = sum(start in starts or end in ends for start, end in cells)
    return len(cells) == len(above) and aligned >= _IN_LINE * len(cells)


def is_header(cells: Sequence[str], last_cells: Sequence[str]) -> bool:
    """Whether the first row of a table names its columns; of two columns it may be a name and its value as well.

    `last_cells` are the last cells of the other rows.
    """
    if any(_DIGIT.search(cell) for cell in cells) or not all(cells):
        return False
    numeric = sum(_DIGIT.search(cell) is not None for cell in last_cells)
    return len(cells) >= _MANY_COLUMNS or numeric >= _LEAST_NUMERIC * len(last_cells)


def cells_of(line: str) -> list[str]:
    """The cells of a line."""
    return [match.group() for match in _CELL.finditer(line)]


def is_justified(cells: Iterable[str]) -> bool:
    """Whether pieces that are set apart are the words of a justified line: no cell says "the" alone."""
    return any(cell in _WORDS_OF_TEXT for cell in cells)


def _placed(line: str) -> tuple[list[_Span], list[_Span]] | None:
    """Where the cells of a line stand: counted in characters, and as wide as they are shown; None with fewer than two."""
    if not _APART.search(line):
        return None
    line = line.expandtabs(8)
    cells = list(_CELL.finditer(line))
    if len(cells) < _MANY_COLUMNS and (len(cells) == 1 or _MARK.fullmatch(cells[0].group())):
        return None
    if is_justified(cell.group() for cell in cells):
        return None
    spans = [cell.span() for cell in cells]
    if line.isascii():
        return spans, spans
    shown = [0, *accumulate(1 + (east_asian_width(character) in "WF") for character in line)]
    return spans, [(shown[start], shown[end]) for start, end in spans]
