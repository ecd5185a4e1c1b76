"""Tables in the text of a PDF page: cells that come as loose lines become rows, where two readings of the page agree."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from functions.docqa.documents.columns import is_header, is_justified

_CELL = re.compile(r"\S+(?: \S+)*")
_LEAST_ROWS, _MANY_COLUMNS, _MOST_COLUMNS = 2, 3, 40
_FULL = 0.9
_NUMBERING = re.compile(
    r"\W+|\W?(?:\d{1,2}|[a-z])[.)）]?|[①-⑳]|第?[\d一二三四五六七八九十百]+[条項号章節]?(?:の[\d一二三四五六七八九十]+)*|[ア-コイロハニホヘト]"
)


class _Column(Struct):
    """A column of a layout: where its lines stand, and their texts from top to bottom."""

    start: int
    end: int
    lines: list[str]


def with_tables(text: str, layout: str) -> str:
    """`text`, a page in reading order, with the rows of its tables between bars.

    `layout` is the same page with its columns kept apart. What its tables hold must stand in `text` cell by cell; else
    the lines stay as they are.
    """
    page = _Page(text)
    at, written, out = 0, 0, []
    for columns in _tables(layout):
        found, rows, end = _read(page, at, columns)
        if len(rows) < _LEAST_ROWS:
            continue
        first, last = page.places[found], page.places[end - 1] + 1
        alone = not text[:first].rpartition("\n")[2].strip() and not text[last:].partition("\n")[0].strip()
        if alone and not any(map(is_justified, rows)):
            out += [
                text[written : text.rfind("\n", 0, first) + 1],
                "\n",
                *(f"{row}\n" for row in rows_of(rows)),
            ]
            at, written = end, last
    return "".join([*out, text[written:]])


class _Page:
    """A text without its white space, in which a line is found however its words are set apart."""

    def __init__(self, text: str) -> None:
        self.places = [at for at, character in enumerate(text) if not character.isspace()]
        self._squeezed = "".join(text[at] for at in self.places)
        following = [*self.places[1:], len(text) + 1]
        self._ends = {
            number
            for number, (at, after) in enumerate(zip(self.places, following, strict=False), start=1)
            if after > at + 1
        }

    def find(self, line: str, at: int) -> int:
        """Where `line` stands as whole words from `at` on, -1 when nowhere."""
        wanted = "".join(line.split())
        found = self._squeezed.find(wanted, at)
        while found >= 0 and not self.goes_on(line, found):
            found = self._squeezed.find(wanted, found + 1)
        return found

    def goes_on(self, line: str, at: int) -> int:
        """Where the text after `line` begins, if `line` stands at `at`; else 0."""
        wanted = "".join(line.split())
        end = at + len(wanted)
        begins = at == 0 or at in self._ends
        return end if begins and end in self._ends and self._squeezed.startswith(wanted, at) else 0


def _read(page: _Page, at: int, columns: Sequence[_Column]) -> tuple[int, list[list[str]], int]:
    """Where a table stands in the text from `at` on, its rows and its end; its first words may stand before it in prose."""
    for column in columns[:2]:  # the header's first cell may be empty
        found = page.find(column.lines[0], at)
        while found >= 0:
            rows, end = _rows(page, found, columns)
            if len(rows) >= _LEAST_ROWS:
                return found, rows, end
            found = page.find(column.lines[0], found + 1)
    return at, [], at


def _rows(page: _Page, at: int, columns: Sequence[_Column]) -> tuple[list[list[str]], int]:
    """The rows of a table whose text begins at `at`, and where it ends: the text has one cell after the other.

    The text tells where a cell of several lines ends: there it goes on with the next line of another column.
    """
    taken = [0] * len(columns)
    rows: list[list[str]] = []
    ends: list[int] = []
    current = len(columns) - 1
    while True:
        # The next cells of the row and the first of the next one come before another line of the same cell.
        order = [*range(current + 1, len(columns)), 0, current, *range(1, current)]
        for column in order:
            lines = columns[column].lines
            after = page.goes_on(lines[taken[column]], at) if taken[column] < len(lines) else 0
            if after:
                break
        else:
            break
        line = lines[taken[column]]
        taken[column] += 1
        if rows and column == current and rows[-1][column]:
            rows[-1][column] += _joint(rows[-1][column], line) + line
            ends[-1] = after
        elif not rows or column <= current:
            rows.append([""] * len(columns))
            rows[-1][column] = line
            ends.append(after)
        else:
            rows[-1][column] = line
            ends[-1] = after
        at, current = after, column
    while rows and sum(map(bool, rows[-1])) < _LEAST_ROWS:
        rows.pop()
        ends.pop()
    return rows, ends[-1] if ends else at


def rows_of(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows between bars, with a line below the first one when that names the columns."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    names_columns = not rows[0][0] and all(rows[0][1:]) and all(row[0] for row in rows[1:])
    if names_columns or is_header(rows[0], [row[-1] for row in rows[1:]]):
        lines.insert(1, f"|{'---|' * len(rows[0])}")
    return lines


def _tables(layout: str) -> Iterator[list[_Column]]:
    """Runs of lines whose pieces stand under one another in two or more columns, the first of them in each."""
    columns: list[_Column] = []
    lines = [list(_CELL.finditer(line)) for line in layout.split("\n")]
    widest = max(map(_width, lines), default=0)
    for pieces in filter(None, lines):
        if _is_of_a_paragraph(pieces, widest):
            if columns:
                yield columns
            columns = []
            continue
        placed = _placed(pieces, columns)
        if columns and placed:
            for number, piece in zip(placed, pieces, strict=True):
                column = columns[number]
                column.start, column.end = min(column.start, piece.start()), max(column.end, piece.end())
                column.lines.append(piece.group())
            continue
        if _heads_all_but_the_first(columns, pieces):
            columns = [_Column(pieces[0].start(), pieces[0].end(), []), *columns]
            for column, piece in zip(columns, pieces, strict=True):
                column.lines.append(piece.group())
            continue
        if columns:
            yield columns
        listed = len(pieces) < _MANY_COLUMNS and _NUMBERING.fullmatch(pieces[0].group())
        columns = (
            [_Column(piece.start(), piece.end(), [piece.group()]) for piece in pieces]
            if 1 < len(pieces) <= _MOST_COLUMNS and not listed
            else []
        )
    if columns:
        yield columns


def _heads_all_but_the_first(columns: Sequence[_Column], pieces: Sequence[re.Match[str]]) -> bool:
    """Whether `columns` are one line, above all pieces but the first: a header whose first cell is empty."""
    return (
        len(pieces) == len(columns) + 1 > _LEAST_ROWS
        and all(len(column.lines) == 1 for column in columns)
        and pieces[0].end() <= columns[0].start
        and all(
            piece.start() < column.end and column.start < piece.end()
            for piece, column in zip(pieces[1:], columns, strict=True)
        )
    )


def _width(line: Sequence[re.Match[str]]) -> int:
    """How wide the pieces of a line are shown, in half characters, without what is between them."""
    return sum(len(piece.group()) + sum(not character.isascii() for character in piece.group()) for piece in line)


def _is_of_a_paragraph(line: Sequence[re.Match[str]], widest: int) -> bool:
    """Whether a Japanese line is as wide as any, and only looks parted where it goes from one script to the other."""
    said = [piece.group() for piece in line]
    return (
        len(said) > 1
        and all(before[-1].isascii() != after[0].isascii() for before, after in pairwise(said))
        and _width(line) >= _FULL * widest
    )


def _placed(pieces: Sequence[re.Match[str]], columns: Sequence[_Column]) -> list[int]:
    """The column that each piece of a line stands in; none when one stands in several, or beside them."""
    under = [
        [at for at, column in enumerate(columns) if piece.start() < column.end and column.start < piece.end()]
        for piece in pieces
    ]
    if len(pieces) == len(columns) and all(found in ([], [at]) for at, found in enumerate(under)):
        return list(range(len(columns)))
    single = [found[0] for found in under if len(found) == 1]
    return single if len(single) == len(set(single)) == len(pieces) else []


def _joint(before: str, after: str) -> str:
    return " " if before[-1:].isascii() or after[:1].isascii() else ""
