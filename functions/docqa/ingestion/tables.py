"""Grids of cells to rows under a header."""

import re
from collections import deque
from collections.abc import Sequence

from msgspec import Struct

from functions.docqa.ingestion.blocks import Block, Kind

_FIGURE = re.compile(r"\d")
_LONGEST_NAME = 60
_MOST_HEADER_ROWS = 3
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
    page: int = 0,
    cells: Sequence[str] = (),
) -> list[Block]:
    """Return the rows of a table under its header, which is detected unless `header_rows` says how many rows it has.

    A row without a first cell has the one above it in its context. `cells` are the rows' places.
    """
    width = max(map(len, grid), default=0)
    rows = [[" ".join(cell.split()) for cell in row] + [""] * (width - len(row)) for row in grid]
    kept = [column for column in range(width) if any(row[column] for row in rows)]
    places = [cells[number] if number < len(cells) else "" for number in range(len(rows))]
    filled = [(place, [row[column] for column in kept]) for place, row in zip(places, rows, strict=True) if any(row)]
    if not filled:
        return []
    texts = [row for _, row in filled]
    count = (1 if is_header(texts) else 0) if header_rows is None else min(header_rows, _MOST_HEADER_ROWS)
    count = count if count < len(texts) else 0
    header = BAR.join(_names(texts[:count])) if count else ""
    blocks = [Block(Kind.ASIDE, header, marker="| ", line=line, page=page, table=table)] if header else []
    first = ""
    for place, row in filled[count:]:
        said = [cell for cell in row if cell]
        if len(set(said)) == 1 and len(kept) > 1 and not row[-1]:
            # A caption inside the table governs the rows below it.
            first = said[0]
            blocks.append(Block(Kind.ROW, said[0], cell=place, page=page, table=table, marker="| "))
            continue
        context = (first,) if not row[0] and first else ()
        first = row[0] or first
        text = BAR.join(row).strip() if row[0] else BAR.join(row).lstrip(" |").rstrip()
        blocks.append(
            Block(Kind.ROW, text, marker="| ", header=header, context=context, cell=place, page=page, table=table)
        )
    return blocks


def is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns: all short, distinct and without figures, unlike the rows below."""
    first = rows[0]
    if len(rows) < 2 or len(first) < 2 or not all(first[1:]) or len(set(first)) < len(first):
        return False
    if any(len(cell) > _LONGEST_NAME or cell.endswith(("。", ".")) for cell in first):
        return False
    figures = [sum(_FIGURE.search(cell) is not None for cell in row) for row in rows]
    if len(first) == 2:
        # A name and its value side by side look like a header, too, unless figures stand below.
        return figures[0] == 0 and sum(map(bool, figures[1:])) * 2 >= len(rows) - 1
    return figures[0] == 0 or figures[0] * 2 <= min(len(first), max(figures[1:]))


def _names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the columns' names; of a header of several rows, each name stands after the one that spans it."""
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True)]


def span_of(written: str | None) -> int:
    """Return how many rows or columns a cell spans; 1 where it does not say so."""
    return max(1, min(int(written), _MAX_SPAN)) if written and written.isdecimal() and len(written) < 6 else 1


def grid_of(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """Return the rows with cells that span several rows or columns repeated in each."""
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    left = _MAX_CELLS
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
            for _ in range(columns):
                if more:
                    hanging[len(line)] = (more - 1, text)
                line.append(text)
            left -= columns
        grid.append(line)
    return grid
