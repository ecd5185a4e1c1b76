"""XLSX to blocks: each sheet a section, each run of filled rows a table; values as the sheet shows them."""

import io
import operator
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise, takewhile
from typing import Any

from msgspec.structs import replace

from functions.docqa.ingestion.blocks import Block, Content, Kind, Unreadable, raised
from functions.docqa.ingestion.formats.archive import STRICT, OfficeFile, shown_text
from functions.docqa.ingestion.formats.lines import shown_width
from functions.docqa.ingestion.tables import table_blocks

_MAX_CELLS, _MAX_MERGED, _MAX_SPAN, _MAX_COLUMNS = 1_000_000, 5_000, 2_000, 500
_LONGEST_COVER, _USUAL_WIDTH, _NARROW = 300, 8.43, 5
_SECTION = re.compile(r"\[(?!\$)[^\]]*\]|_.|\*.")
_LITERAL, _PLACE, _LETTER_OR_PLACE = re.compile(r'"[^"]*"|\\.'), re.compile(r"[#0?]"), re.compile(r"[#0?@a-zA-Z]")
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)\]")
_HOLDS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne}
_ASIDE = 0xE000
# A formula whose value the program that wrote it has not stored.
_UNSTORED = re.compile(rb'<c (?![^>]*t="str")[^>]*><f\b[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>')
# A character that XML cannot hold, such as a carriage return.
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
# An era, its year and a day of the week: dates, which the library takes for numbers.
_ERA, _LAST_DAY = frozenset("gea"), 2_958_466
_CURRENCY = re.compile(r"\[\$([^\]-]*)[^\]]*\]")
# What only says how a workbook looks or is printed, and how programs calculate it and check entries.
# fmt: off
_DECORATION = frozenset({
    "fills", "borders", "alignment", "protection", "cellStyles", "dxfs", "extLst", "bookViews", "calcPr", "definedNames",
    "sheetPr", "sheetViews", "rowBreaks", "colBreaks", "conditionalFormatting", "dataValidations", "printOptions",
    "pageMargins", "pageSetup", "headerFooter", "drawing", "legacyDrawing",
})
# fmt: on
_PLACES = re.compile(r"[#0?]+(?:,[#0?]+)*(?:\.([0#?]+))?(,*)")


def read_xlsx(content: bytes) -> Content:
    """Return the blocks of a workbook. Raises Unreadable."""
    archive = OfficeFile(content)
    unstored, is_strict = 0, False
    main = archive.main("xl/workbook.xml")
    for name, part in archive.parts():
        unstored += len(_UNSTORED.findall(part)) if name.startswith("xl/worksheets/") else 0
        is_strict = is_strict or (name == main and STRICT in part)
    try:
        book = _opened(archive.transitional() if is_strict else io.BytesIO(content))
    except Exception:  # the library refuses many a decoration that Excel accepts
        try:
            book = _opened(archive.transitional(without=_DECORATION))
        except Exception as error:  # a damaged workbook raises anything
            raise Unreadable(f"damaged workbook ({type(error).__name__})") from error
    blocks: list[Block] = []
    left_out = [f"{unstored} formulas without a stored value (open and save the workbook)"] if unstored else []
    parts = archive.links(main)
    sheets = archive.xml(main).iter("sheet")
    names = {each.get("name"): parts.get(each.get("id", ""), ("", ""))[1] for each in sheets}
    left = _MAX_CELLS
    shown_sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    for sheet in shown_sheets:
        left -= len(sheet._cells)
        if left < 0:
            raise Unreadable(f"more than {_MAX_CELLS} cells")
        found = _sheet_blocks(sheet, table=len(blocks) + 1)
        boxes, has_charts = _drawn(archive, names.get(sheet.title, ""), sheet.title)
        found += boxes
        left_out += [f"charts on {sheet.title}"] if has_charts else []
        left_out += [f"columns of {sheet.title} after {_MAX_COLUMNS}"] if sheet.max_column > _MAX_COLUMNS else []
        blocks += [Block(Kind.HEADING, sheet.title, level=3), *found] if found else []
    # A first sheet of a few lines, or what stands above the tables of the only sheet, is about the workbook.
    cover = list(takewhile(_is_line, blocks[1:]))
    if len(shown_sheets) > 1:
        tables = blocks[len(cover) + 1 :]
        text = " ".join(block.text for block in cover)
        if not tables or tables[0].kind is not Kind.HEADING or len(text) > _LONGEST_COVER:
            cover = []
        elif cover:
            governed = (
                replace(each, context=(*each.context, text)) if each.kind is Kind.ROW else each for each in tables
            )
            blocks = [*blocks[: len(cover) + 1], *governed]
    running = "\n".join(block.text for block in (*blocks[:1], *cover)) if cover or len(shown_sheets) == 1 else ""
    return Content(blocks=blocks, title=str(book.properties.title or "").strip(), running=running, left_out=left_out)


def _opened(file: io.BytesIO) -> Any:
    from openpyxl import load_workbook

    with warnings.catch_warnings(action="ignore"):
        return load_workbook(file, data_only=True, rich_text=True, keep_links=False)


def _drawn(archive: OfficeFile, part: str, sheet: str) -> tuple[list[Block], bool]:
    """Return the text boxes on a sheet, and whether there are charts."""
    boxes: list[Block] = []
    has_charts = False
    for drawing in (archive.xml(name) for kind, name in archive.links(part).values() if kind == "drawing"):
        has_charts = has_charts or drawing.find(".//chart") is not None
        for shape in drawing.iter("sp"):
            lines = (" ".join(shown_text(line).split()) for line in shape.iterfind("txBody/p"))
            boxes += (Block(Kind.TEXT, line, cell=sheet) for line in lines if line)
    return boxes, has_charts


def _is_line(block: Block) -> bool:
    return block.kind in (Kind.TEXT, Kind.ROW) and " | " not in block.text


def _sheet_blocks(sheet: Any, *, table: int) -> list[Block]:
    rows: dict[int, dict[int, str]] = {}
    hidden_rows, hidden_columns = _hidden(sheet)
    struck = {number for number, font in enumerate(sheet.parent._fonts) if font.strike}
    for (row, column), cell in sheet._cells.items():
        is_hidden = row in hidden_rows or column in hidden_columns or column > _MAX_COLUMNS
        is_hidden = is_hidden or (cell.has_style and cell._style.fontId in struck)
        if cell.value is not None and not is_hidden and (text := shown(cell.value, cell.number_format)):
            rows.setdefault(row, {})[column] = text
    copied: set[tuple[int, int]] = set()
    for area in list(sheet.merged_cells.ranges)[:_MAX_MERGED]:
        merged = rows.get(area.min_row, {}).get(area.min_col)
        if merged and area.size["rows"] * area.size["columns"] <= _MAX_SPAN:
            for row in set(range(area.min_row, area.max_row + 1)) - hidden_rows:
                for column in set(range(area.min_col, area.max_col + 1)) - hidden_columns:
                    rows.setdefault(row, {})[column] = merged
                    copied |= {(row, column)} if column > area.min_col else set()
    widths = {
        column: each.width
        for each in sheet.column_dimensions.values()
        for column in range(each.min or 0, min(each.max or 0, _MAX_COLUMNS) + 1)
    }
    blocks: list[Block] = []
    for run in _runs(rows, hidden_rows):
        lines = [rows[row] for row in run]
        columns_of_tables = _runs({column for line in lines for column in line}, hidden_columns)
        for columns in _joined(list(columns_of_tables), lines, widths):
            # A form on a fine grid has columns that no cell begins in.
            columns = [each for each in columns if any(each in rows[row] and (row, each) not in copied for row in run)]
            blocks += _table(sheet.title, rows, run, columns, table=table + len(blocks))
    return blocks


def _hidden(sheet: Any) -> tuple[set[int], set[int]]:
    """Return the rows and columns that are hidden, but not by a filter or in a group, which readers open."""
    filters = [sheet.auto_filter, *(each.autoFilter for each in sheet.tables.values() if each.autoFilter)]
    filtered = any(each.filterColumn for each in filters)
    rows = {row for row, each in sheet.row_dimensions.items() if each.hidden and not each.outlineLevel and not filtered}
    columns = (each for each in sheet.column_dimensions.values() if each.hidden and not each.outlineLevel)
    return rows, {column for each in columns for column in range(each.min, min(each.max, _MAX_COLUMNS) + 1)}


def _runs(numbers: Iterable[int], hidden: Collection[int]) -> Iterator[list[int]]:
    """Yield those of the numbers that follow one another, as far as is to be seen."""
    run: list[int] = []
    for number in sorted(numbers):
        if run and any(between not in hidden for between in range(run[-1] + 1, number)):
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _joined(runs: Sequence[list[int]], lines: Sequence[dict[int, str]], widths: dict[int, float]) -> list[list[int]]:
    """Return the columns of the tables that stand side by side: an empty column divides them.

    It does not behind a column of names if it is as narrow as on squared paper, or the names run over it.
    """
    tables: list[list[int]] = []
    for columns in runs:
        left = tables[-1] if tables else []
        if left and all(after - before > 1 for before, after in pairwise(left)):
            gap = [widths.get(column, _USUAL_WIDTH) for column in range(left[-1] + 1, columns[0])]
            longest, own = (
                max(shown_width(line.get(left[-1], "")) for line in lines),
                widths.get(left[-1], _USUAL_WIDTH),
            )
            if max(own, *gap) < _NARROW or sum(gap) <= longest - own:
                left += columns
                continue
        tables.append(columns)
    return tables


def _table(
    sheet: str, rows: dict[int, dict[int, str]], run: list[int], columns: list[int], *, table: int
) -> list[Block]:
    """Return a table, with the lines above and below it that have one text only as text."""
    from openpyxl.utils import get_column_letter

    lines = [(row, [rows[row].get(column, "") for column in columns]) for row in run]
    lines = [(row, cells) for row, cells in lines if any(cells)]
    place = f"{sheet}!{get_column_letter(columns[0])}"
    notes: list[Block] = []
    while lines and len(set(filter(None, lines[0][1]))) == 1 and (len(lines) == 1 or len(columns) > 1):
        row, cells = lines.pop(0)
        notes.append(Block(Kind.TEXT, next(filter(None, cells)), cell=f"{place}{row}"))
    after: list[Block] = []
    while len(lines) > 1 and len(columns) > 1 and len(set(filter(None, lines[-1][1]))) == 1:
        row, cells = lines.pop()
        after.insert(0, Block(Kind.TEXT, next(filter(None, cells)), cell=f"{place}{row}"))
    grid, cells_at = [cells for _, cells in lines], [f"{place}{row}" for row, _ in lines]
    return [*notes, *table_blocks(grid, table=table, cells=cells_at), *after]


def shown(value: object, form: str) -> str:
    """Return a cell's value as its number format shows it: 10%, 2026-04-01, 1,200円."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case datetime():
            return value.strftime(_date_form(form, value))
        case date():
            return value.isoformat()
        case time():
            return value.strftime(_clock_form(form, value.second))
        case timedelta():
            minutes, seconds = divmod(int(value.total_seconds()), 60)
            has_seconds = seconds and "s" in _letters(form)
            return f"{minutes // 60}:{minutes % 60:02d}" + (f":{seconds:02d}" if has_seconds else "")
        case int() | float():
            return _figure(value, form or "General")
        case list():  # runs of text with fonts of their own
            text = ""
            for run in value:
                font = getattr(run, "font", None)
                if font is None or not font.strike:
                    is_raised = font is not None and font.vertAlign == "superscript"
                    text += raised(str(run), text) if is_raised else str(run)
        case _:
            text = str(value)
    return " ".join(_ESCAPED.sub(lambda code: chr(int(code[1], 16)), text).split())


def _letters(form: str) -> set[str]:
    """Return the letters of a format that stand for a part of the value."""
    return set(re.sub(r"\W", "", _SECTION.sub("", _LITERAL.sub("", _CURRENCY.sub("", form)))).casefold())


def _date_form(form: str, value: datetime) -> str:
    """Return how a date is written: as far as its format shows it."""
    letters = _letters(form)
    if "h" in letters and value.time() != time():
        return f"%Y-%m-%d {_clock_form(form, value.second)}"
    if letters & {"d", "a"} or not letters & {"y", "e"}:
        return "%Y-%m-%d"
    return "%Y-%m" if "m" in letters else "%Y"


def _clock_form(form: str, seconds: int) -> str:
    letters = _letters(form)
    if seconds and "s" in letters:
        return "%H:%M:%S" if "h" in letters else "%M:%S"
    return "%H:%M"


def _figure(value: float, form: str) -> str:
    if (letters := _letters(form)) and letters <= _ERA and 0 <= value < _LAST_DAY:
        from openpyxl.utils.datetime import from_excel

        return shown(from_excel(value), form)
    pattern, number = _section(value, form)
    if not pattern:
        return ""
    literals: list[str] = []

    def put_aside(literal: re.Match[str]) -> str:
        literals.append(literal[0].replace("\\", "").strip('"'))
        return chr(_ASIDE + len(literals) - 1)

    pattern = _SECTION.sub("", _LITERAL.sub(put_aside, _CURRENCY.sub(r'"\1"', pattern)))
    places = _PLACES.search(pattern)
    plain = f"{value:.10g}" if isinstance(value, float) and abs(value) < 1e15 else str(value)
    if (name := pattern.casefold()).startswith("general"):
        text = plain + pattern[len("general") :]
    elif not _LETTER_OR_PLACE.search(pattern):
        text = pattern
    elif "@" in pattern or "e+" in name or "/" in pattern or not places or abs(value) >= 1e15:
        return plain
    else:
        text = "-" * (number < 0) + _in_places(abs(number), pattern, places)
    return re.sub(f"[{chr(_ASIDE)}-\uf8ff]", lambda mark: literals[ord(mark[0]) - _ASIDE], text).strip()


def _section(value: float, form: str) -> tuple[str, Decimal]:
    """Return the part of a number format that is for this value, and the value as that part shows it."""
    sections, number = form.split(";"), Decimal(str(value))
    conditions = [_CONDITION.search(each) for each in sections]
    if any(conditions):
        fitting = (at for at, each in enumerate(conditions) if each is None or _HOLDS[each[1]](value, float(each[2])))
        return sections[next(fitting, -1)], number
    if value < 0 and len(sections) > 1:
        return sections[1], abs(number)
    return sections[2 if value == 0 and len(sections) > 2 else 0], number


def _in_places(number: Decimal, pattern: str, places: re.Match[str]) -> str:
    number = number * 100 if "%" in pattern else number / 1000 ** len(places[2])
    digits = len(places[1] or "")
    number = number.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    if _PLACE.search(pattern, places.end()):  # a number in groups: 000-0000
        marks = list(pattern)
        at = [place for place, mark in enumerate(pattern) if mark in "#0?"]
        text = f"{number:.0f}".zfill(pattern.count("0")).rjust(len(at))
        for place, digit in zip(reversed(at), reversed(text), strict=False):
            marks[place] = digit
        marks[at[0]] = text[: len(text) - len(at) + 1]
        return "".join(marks)
    whole, point, rest = f"{number:,}".partition(".") if "," in places[0] else f"{number:f}".partition(".")
    if rest and "0" not in places[1]:
        rest = rest.rstrip("0")
    least = places[0].partition(".")[0].count("0")
    text = whole.zfill(least) if number or least or rest else ""
    text += point + rest if rest else ""
    return pattern[: places.start()] + text + pattern[places.end() :]
