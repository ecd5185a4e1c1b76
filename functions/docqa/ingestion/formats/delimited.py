"""CSV and TSV to blocks: a table whose delimiter is found by counting."""

import csv
import io
import re

from functions.docqa.ingestion.blocks import Block, Content, Kind, Unreadable
from functions.docqa.ingestion.tables import is_header, preamble_rows, table_blocks

_DELIMITERS = (",", "\t", ";", "|")
_VALUE = re.compile(r"[\W_]*\d[\d\W_]*[%年月日時分円]?")  # a number, a date or a time: no name
_SAMPLE_LINES, _MAX_CELLS = 50, 2_000_000


def read_delimited(text: str) -> Content:
    """Return the rows of a table of text; lines above it that have one cell only are text. Raises Unreadable."""
    if text.startswith("sep="):
        text = text.partition("\n")[2]
    sample = [line for line in text.splitlines()[:_SAMPLE_LINES] if line.strip()]
    counts = {mark: [line.count(mark) for line in sample] for mark in _DELIMITERS}
    # The one that most lines have, and have alike.
    best = max(_DELIMITERS, key=lambda mark: (sum(map(bool, counts[mark])), -len(set(counts[mark])), sum(counts[mark])))
    csv.field_size_limit(1_000_000)
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=""), delimiter=best)]
    except csv.Error as error:
        raise Unreadable("damaged table of text") from error
    if sum(map(len, rows)) > _MAX_CELLS:
        raise Unreadable(f"more than {_MAX_CELLS} cells")
    numbered = [(f"row {number}", row) for number, row in enumerate(rows, start=1) if any(row)]
    notes: list[Block] = []
    while len(numbered) > 1 and sum(map(bool, numbered[0][1])) == 1 < max(len(row) for _, row in numbered):
        notes.append(Block(Kind.TEXT, next(filter(None, numbered.pop(0)[1]))))
    cells, rows = [cell for cell, _ in numbered], [row for _, row in numbered]
    names = rows[0] if rows else []
    figures = any(_VALUE.fullmatch(cell) for cell in names)
    named = len(names) > 1 and (not figures or is_header(rows))
    width = max(map(len, rows), default=0)
    has_preamble = preamble_rows([row + [""] * (width - len(row)) for row in rows[:50]]) > 0
    header_rows = None if has_preamble else int(named)
    return Content(blocks=[*notes, *table_blocks(rows, table=1, header_rows=header_rows, cells=cells)])
