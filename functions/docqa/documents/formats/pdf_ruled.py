"""Tables that a PDF draws with rules: what stands between the rules is a cell, however its lines are wrapped."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

_THIN, _NEAR, _BEYOND = 3.0, 2.0, 6.0
_MOST_RULES, _MOST_COLUMNS, _MOST_ROWS = 2_000, 20, 100
_LEAST_CELLS = 2
_LONGEST_ROW = 1_500
_STROKES = frozenset((b"S", b"s", b"B", b"B*", b"b", b"b*"))
_FILLS = frozenset((b"f", b"F", b"f*"))
_Point = tuple[float, float]


class Piece(Struct):
    """A piece of text as it is shown; without a place when it is blank. `y` grows upwards, `size` is in points."""

    text: str
    x: float = 0.0
    y: float | None = None
    size: float = 0.0
    bold: bool = False


class Rule(Struct):
    """A straight line, upright or level: where it stands, and from where to where it runs."""

    at: float
    start: float
    end: float


class Rules:
    """The rules of a page, gathered while its content is read: stroked lines and frames, and bars that are filled."""

    def __init__(self) -> None:
        self.level: list[Rule] = []
        self.upright: list[Rule] = []
        self._paths: list[list[_Point]] = []

    def operated(self, operator: bytes, operands: Sequence[Any], cm: Sequence[float], _: object) -> None:
        """Takes note of an operator of the page's content (a `visitor_operand_before` of pypdf)."""
        if operator in (b"m", b"l") and len(operands) == 2:
            if operator == b"m" or not self._paths:
                self._paths.append([])
            self._paths[-1].append(_placed(float(operands[0]), float(operands[1]), cm))
        elif operator == b"re" and len(operands) == 4:
            x, y, width, height = map(float, operands)
            corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y))
            self._paths.append([_placed(*corner, cm) for corner in corners])
        elif operator in _STROKES or operator in _FILLS:
            for path in self._paths if len(self.level) + len(self.upright) < _MOST_RULES else ():
                lines = pairwise(path) if operator in _STROKES else (_extent(path),)
                for (left, bottom), (right, top) in lines:
                    self._add(min(left, right), min(bottom, top), max(left, right), max(bottom, top))
            self._paths = []
        elif operator == b"n":
            self._paths = []

    def _add(self, left: float, bottom: float, right: float, top: float) -> None:
        if top - bottom <= _THIN < right - left:
            self.level.append(Rule((top + bottom) / 2, left, right))
        elif right - left <= _THIN < top - bottom:
            self.upright.append(Rule((left + right) / 2, bottom, top))


class Table(Struct):
    """A ruled table: its rules from left to right and from top to bottom, and which area each cell is part of."""

    columns: list[float]
    rows: list[float]
    areas: list[list[int]]

    def area(self, piece: Piece) -> int | None:
        """The area of cells that the piece stands in."""
        if piece.y is None:
            return None
        x, y = piece.x + piece.size / 4, piece.y + piece.size / 3
        row = next((at for at, (top, bottom) in enumerate(pairwise(self.rows)) if bottom < y <= top), None)
        column = next((at for at, (left, right) in enumerate(pairwise(self.columns)) if left <= x < right), None)
        return None if row is None or column is None else self.areas[row][column]

    def texts(self, pieces: Sequence[tuple[int, Piece]]) -> list[list[str]]:
        """The rows of the table; a cell that spans several is repeated in each."""
        said: dict[int, str] = {}
        last: dict[int, float | None] = {}
        for area, piece in pieces:
            text, before = piece.text.replace("\n", " "), said.get(area, "")
            below = piece.y is not None and last.get(area) not in (None, piece.y)
            said[area] = _joined(before, f" {text}" if below else text)
            last[area] = piece.y if piece.y is not None else last.get(area)
        return [[said.get(area, "").strip() for area in row] for row in self.areas]


def ruled_tables(rules: Rules) -> list[Table]:
    """The tables that the rules draw, the smallest first."""
    if len(rules.level) + len(rules.upright) >= _MOST_RULES:
        return []
    found = []
    for level, upright in _connected(_merged(rules.level), _merged(rules.upright)):
        columns = _with_ends(_places(upright), level)
        rows = _with_ends(_places(level), upright)[::-1]
        if _LEAST_CELLS < len(columns) <= _MOST_COLUMNS and _LEAST_CELLS < len(rows) <= _MOST_ROWS:
            found.append(Table(columns, rows, _areas(columns, rows, level, upright)))
    return sorted(found, key=lambda table: (table.columns[-1] - table.columns[0]) * (table.rows[0] - table.rows[-1]))


def with_ruled_tables(pieces: Sequence[Piece], rules: Rules) -> list[Piece | list[list[str]]]:
    """The pieces, with the rows of a table in place of those that stand in it."""
    tables = ruled_tables(rules)
    if not tables:
        return list(pieces)
    places = _in_tables(pieces, tables)
    rows = {
        number: rows
        for number, table in enumerate(tables)
        if _is_table(
            rows := table.texts([(place[1], piece) for piece, place in places if place and place[0] == number])
        )
    }
    parts: list[Piece | list[list[str]]] = []
    told: set[int] = set()
    for piece, place in places:
        if place is None or place[0] not in rows:
            parts.append(piece)
        elif place[0] not in told:
            told.add(place[0])
            parts.append(rows[place[0]])
    return parts


def _in_tables(pieces: Sequence[Piece], tables: Sequence[Table]) -> list[tuple[Piece, tuple[int, int] | None]]:
    """Each piece with its table and its area there; a blank one is where the piece before it is."""
    found = []
    place: tuple[int, int] | None = None
    for piece in pieces:
        if piece.y is not None:
            areas = ((number, table.area(piece)) for number, table in enumerate(tables))
            place = next(((number, area) for number, area in areas if area is not None), None)
        found.append((piece, place))
    return found


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows of texts say something together, and are no frames that a page is laid out with."""
    said = [len(set(filter(None, row))) for row in rows]
    full = sum(count >= _LEAST_CELLS for count in said)
    return full >= _LEAST_CELLS and 2 * full >= len(rows) and all(sum(map(len, row)) <= _LONGEST_ROW for row in rows)


def _placed(x: float, y: float, cm: Sequence[float]) -> _Point:
    return cm[0] * x + cm[2] * y + cm[4], cm[1] * x + cm[3] * y + cm[5]


def _extent(path: Sequence[_Point]) -> tuple[_Point, _Point]:
    across, up = [x for x, _ in path], [y for _, y in path]
    return (min(across), min(up)), (max(across), max(up))


def _merged(rules: Sequence[Rule]) -> list[Rule]:
    """The rules with those made one that follow one another in a line, as every cell draws its own."""
    merged: list[Rule] = []
    lines: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda rule: rule.at):
        if lines and rule.at - lines[-1][0].at <= _NEAR:
            lines[-1].append(rule)
        else:
            lines.append([rule])
    for line in lines:
        first = len(merged)
        for rule in sorted(line, key=lambda rule: rule.start):
            if len(merged) > first and rule.start - merged[-1].end <= _NEAR:
                merged[-1].end = max(merged[-1].end, rule.end)
            else:
                merged.append(Rule(line[0].at, rule.start, rule.end))
    return merged


def _connected(level: list[Rule], upright: list[Rule]) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """The rules that cross or meet one another, directly or by way of others."""
    left = list(upright)
    for rule in upright:
        if not any(rule is other for other in left):
            continue
        ups, levels, new = [rule], list[Rule](), [rule]
        left = [other for other in left if other is not rule]
        while new:
            met = [each for each in level if each not in levels and any(_meet(each, up) for up in new)]
            levels += met
            new = [up for up in left if any(_meet(each, up) for each in met)]
            left = [up for up in left if up not in new]
            ups += new
        yield levels, ups


def _meet(level: Rule, upright: Rule) -> bool:
    return (
        level.start - _NEAR <= upright.at <= level.end + _NEAR
        and upright.start - _NEAR <= level.at <= upright.end + _NEAR
    )


def _places(rules: Sequence[Rule]) -> list[float]:
    return sorted({rule.at for rule in rules})


def _with_ends(places: list[float], across: Sequence[Rule]) -> list[float]:
    """The places of rules, and where those across them end when no rule closes the table there."""
    if not places or not across:
        return places
    start, end = min(rule.start for rule in across), max(rule.end for rule in across)
    return [
        *([start] if places[0] - start > _BEYOND else []),
        *places,
        *([end] if end - places[-1] > _BEYOND else []),
    ]


def _areas(
    columns: Sequence[float], rows: Sequence[float], level: Sequence[Rule], upright: Sequence[Rule]
) -> list[list[int]]:
    """For each cell the number of its area: cells that no rule keeps apart are one."""
    width = len(columns) - 1
    areas = list(range(width * (len(rows) - 1)))

    def join(first: int, second: int) -> None:
        old, new = areas[second], areas[first]
        areas[:] = [new if area == old else area for area in areas]

    for row, (top, bottom) in enumerate(pairwise(rows)):
        for column, (left, right) in enumerate(pairwise(columns)):
            cell = row * width + column
            if column and not _stands(upright, left, (top + bottom) / 2):
                join(cell - 1, cell)
            if row and not _stands(level, top, (left + right) / 2):
                join(cell - width, cell)
    return [areas[at : at + width] for at in range(0, len(areas), width)]


def _stands(rules: Sequence[Rule], at: float, across: float) -> bool:
    return any(abs(rule.at - at) <= _NEAR and rule.start <= across <= rule.end for rule in rules)


def _joined(before: str, after: str) -> str:
    """The two texts with a blank between them only where there is one and both sides are written with blanks."""
    said, more = before.rstrip(), after.lstrip()
    if not said or not more:
        return said + (more or " " * bool(said))
    apart = len(said) < len(before) or len(more) < len(after)
    return f"{said} {more}" if apart and said[-1].isascii() and more[0].isascii() else said + more
