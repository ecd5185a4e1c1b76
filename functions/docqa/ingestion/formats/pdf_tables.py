"""The tables of a PDF's page: what stands between rules is a cell; without rules, columns that begin or end below one another."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct, structs

from functions.docqa.ingestion.blocks import joined

_NEAR, _ALIGNED, _ONE_LINE = 2.5, 3.0, 1.0
_MAX_CELLS, _LONGEST_ROW, _LONGEST_CELL = 2_000, 2_000, 60
_MARKER, _ENDS = re.compile(r"[(（]?[\d０-９①-⑳ア-ン]{1,2}[)）.．]?"), ("。", ".", "、", "；", ";")
_LEAST_ROWS, _GAP, _SPACE = 3, 0.9, 0.5


class Word(Struct, gc=False):
    """A word and where it stands; `y` is its middle and grows upwards."""

    text: str
    left: float
    right: float
    y: float


class Rule(Struct):
    """A straight line, level or upright: where it stands, and from where to where it runs."""

    at: float
    start: float
    end: float
    level: bool


class PlacedLine(Struct):
    """A line as it is set; a table's row has its cells in `row`."""

    text: str
    words: list[Word]
    y: float = 0.0
    size: float = 0.0
    bold: bool = False
    row: tuple[str, ...] = ()
    table: int = 0
    upright: bool = False  # written from top to bottom

    @property
    def style(self) -> tuple[float, bool]:
        """Return what lines of one kind have in common."""
        return self.size, self.bold


class _Cell(NamedTuple):
    """The area between the rules around a text."""

    top: float
    bottom: float
    left: float
    right: float

    def adjoins(self, other: "_Cell") -> bool:
        """Return whether two cells of one table touch."""
        if min(self.top, other.top) - max(self.bottom, other.bottom) > _NEAR:
            return _near(self.right, other.left) or _near(self.left, other.right)
        stacked = _near(self.bottom, other.top) or _near(self.top, other.bottom)
        # They share a side, too: the text in a frame is no part of a table in that frame.
        return stacked and (_near(self.left, other.left) or _near(self.right, other.right))


def with_tables(
    lines: Sequence[PlacedLine], rules: Sequence[Rule], *, first_table: int, without: Sequence[bool] = ()
) -> list[PlacedLine]:
    """Return the lines of a page, with the rows of tables in place of those that they stand in.

    Those `without` are left out, unless their table has others as well: the header that each page repeats is no running head.
    """
    without = without or [False] * len(lines)
    upright = _continuous(rule for rule in rules if not rule.level)
    level = [rule for rule in _continuous(rule for rule in rules if rule.level) if _is_met(rule, upright)]
    cells = [_cells_of(line, level, upright) for line in lines]
    words: dict[_Cell, list[tuple[float, str]]] = {}
    own: set[_Cell] = set()
    for line, row, is_out in zip(lines, cells, without, strict=True):
        own |= set() if is_out else set(filter(None, row))
        for word, cell in zip(line.words, row, strict=True):
            if cell:
                words.setdefault(cell, []).append((round(word.y), word.text))
    tables: dict[int, list[PlacedLine]] = {}
    table_of: dict[_Cell | None, int] = {}
    for table, group in enumerate(_groups(list(words)[:_MAX_CELLS]), start=first_table):
        if not own.isdisjoint(group) and (rows := _rows({cell: _text(words[cell]) for cell in group}, table)):
            tables[table] = rows
            table_of |= dict.fromkeys(group, table)
    out: list[PlacedLine] = []
    for line, row, is_out in zip(lines, cells, without, strict=True):
        for cell in row:
            out += tables.pop(table_of.get(cell, 0), [])
        if is_out:
            continue
        outside = [word for word, cell in zip(line.words, row, strict=True) if cell not in table_of]
        if len(outside) == len(line.words):
            out.append(line)
        elif outside:
            out.append(PlacedLine(" ".join(word.text for word in outside), outside, line.y, line.size, line.bold))
    return list(_with_aligned(out, first_table + len(words)))


def _continuous(rules: Iterable[Rule]) -> list[Rule]:
    """Return rules of one direction in their order, those whole that are drawn cell by cell."""
    lines: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda rule: rule.at):
        if not lines or rule.at - lines[-1][0].at >= _ONE_LINE:
            lines.append([])
        lines[-1].append(rule)
    found: list[Rule] = []
    for line in lines:
        last: Rule | None = None
        for rule in sorted(line, key=lambda rule: rule.start):
            if last and rule.start <= last.end + _NEAR:
                last.end = max(last.end, rule.end)
            else:
                last = structs.replace(rule)
                found.append(last)
    return sorted(found, key=lambda rule: rule.at)


def _cells_of(line: PlacedLine, level: Sequence[Rule], upright: Sequence[Rule]) -> list[_Cell | None]:
    """Return the cells of a line's words; none if it runs on across the edge of a table, as a running head that lies over it."""
    cells = [_around(word, level, upright) for word in line.words]
    for (word, cell), (following, its) in pairwise(zip(line.words, cells, strict=True)):
        if (cell is None) != (its is None) and following.left - word.right < _SPACE * (line.size or 10.0):
            return [None] * len(cells)
    return cells


def _around(word: Word, level: Sequence[Rule], upright: Sequence[Rule]) -> _Cell | None:
    """Return the cell that a word stands in; at a side that no rule closes, it ends where the rules across do."""
    x, y = min(word.left + 2, (word.left + word.right) / 2), word.y
    below, above = _nearest(level, y, x)
    before, after = _nearest(upright, x, y)
    levels, ups = [rule for rule in (below, above) if rule], [rule for rule in (before, after) if rule]
    if not levels or not ups or not all(_meet(each, up) for each in levels for up in ups):
        return None  # what stands beside a table is near its rules, too
    return _Cell(
        top=above.at if above else max(rule.end for rule in ups),
        bottom=below.at if below else min(rule.start for rule in ups),
        left=before.at if before else min(rule.start for rule in levels),
        right=after.at if after else max(rule.end for rule in levels),
    )


def _nearest(rules: Sequence[Rule], place: float, across: float) -> tuple[Rule | None, Rule | None]:
    """Return the rules before and after a place that are nearest to it and pass `across`, of rules in their order."""
    at = bisect_left(rules, place, key=lambda rule: rule.at)

    def first(beside: Iterable[Rule]) -> Rule | None:
        return next((rule for rule in beside if rule.start - _NEAR <= across <= rule.end + _NEAR), None)

    return first(reversed(rules[:at])), first(rules[at:])


def _groups(cells: Sequence[_Cell]) -> Iterable[set[_Cell]]:
    """Return the cells that touch one another, directly or by way of others."""
    ordered = sorted(cells)
    tops = [cell.top for cell in ordered]
    group_of = {cell: {cell} for cell in ordered}
    for cell in ordered:
        for other in ordered[bisect_left(tops, cell.bottom - _NEAR) : bisect_right(tops, cell.top + _NEAR)]:
            if group_of[cell] is not group_of[other] and cell.adjoins(other):
                small, large = sorted((group_of[cell], group_of[other]), key=len)
                large |= small
                group_of |= dict.fromkeys(small, large)
    return {id(group): group for group in group_of.values()}.values()


def _rows(texts: dict[_Cell, str], table: int) -> list[PlacedLine]:
    """Return the rows of a table, where a cell that spans several is repeated in each; none when it hardly is a table."""
    tops, sides = _places(cell.top for cell in texts), _places(cell.left for cell in texts)
    grid = {top: [""] * len(sides) for top in reversed(tops)}
    for cell, text in texts.items():
        for top in tops:
            if cell.bottom + _NEAR < top <= cell.top + _NEAR:
                for column, side in enumerate(sides):
                    if cell.left - _NEAR <= side < cell.right - _NEAR:
                        grid[top][column] = text
    full = sum(len(set(filter(None, row))) >= 2 for row in grid.values())
    if full < 2 or 2 * full < len(grid) or any(sum(map(len, row)) > _LONGEST_ROW for row in grid.values()):
        return []
    return [PlacedLine(" ".join(row), [], y=top, row=tuple(row), table=table) for top, row in grid.items()]


def _places(values: Iterable[float]) -> list[float]:
    """Return the values in their order, of those near one another the first."""
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > _NEAR:
            places.append(value)
    return places


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= _NEAR


def _is_met(level: Rule, upright: Sequence[Rule]) -> bool:
    """Return whether an upright rule, of those in their order, meets a level one: an underline is no part of a table."""
    first = bisect_left(upright, level.start - _NEAR, key=lambda rule: rule.at)
    last = bisect_right(upright, level.end + _NEAR, key=lambda rule: rule.at)
    return any(_meet(level, rule) for rule in upright[first:last])


def _meet(level: Rule, upright: Rule) -> bool:
    crosses = level.start - _NEAR <= upright.at <= level.end + _NEAR
    return crosses and upright.start - _NEAR <= level.at <= upright.end + _NEAR


def _text(words: Sequence[tuple[float, str]]) -> str:
    lines: list[list[str]] = []
    last: float | None = None
    for y, text in words:
        if last is None or abs(y - last) > _NEAR:
            lines.append([])
        lines[-1].append(text)
        last = y
    return joined([" ".join(line) for line in lines])


def _with_aligned(lines: Sequence[PlacedLine], table: int) -> Iterator[PlacedLine]:
    """Return the lines, those of tables without rules with their cells."""
    at = 0
    cells = [[] if line.table else _cells(line) for line in lines]
    while at < len(lines):
        end = at + 1
        if len(cells[at]) >= 2:
            while end < len(lines) and _stands_below(cells[end], cells[at]):
                end += 1
        if end - at >= _LEAST_ROWS:
            for line, row in zip(lines[at:end], cells[at:end], strict=True):
                line.row, line.table = tuple(word.text for word in row), table
            table += 1
        else:
            end = at + 1
        yield from lines[at:end]
        at = end


def _cells(line: PlacedLine) -> list[Word]:
    """Return the words of a line joined to what is set apart by more than a space."""
    found: list[Word] = []
    for word in line.words:
        if found and word.left - found[-1].right < _GAP * (line.size or 10.0):
            found[-1] = Word(f"{found[-1].text} {word.text}", found[-1].left, word.right, word.y)
        else:
            found.append(word)
    if found and not any(character.isalnum() for character in found[0].text):
        return []  # the bullet of a list
    if len(found) == 2 and _MARKER.fullmatch(found[0].text) and found[1].text.endswith(_ENDS):
        return []  # a numbered paragraph
    return found if len(found) >= 2 and all(len(cell.text) <= _LONGEST_CELL for cell in found) else []


def _stands_below(cells: Sequence[Word], above: Sequence[Word]) -> bool:
    if len(cells) != len(above) or cells[0].y >= above[0].y:
        return False
    return all(
        abs(cell.left - other.left) < _ALIGNED
        or abs(cell.right - other.right) < _ALIGNED
        or abs(cell.left + cell.right - other.left - other.right) < 2 * _ALIGNED
        for cell, other in zip(cells, above, strict=True)
    )
