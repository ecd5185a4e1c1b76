"""Workbooks: values as the sheet shows them, hidden and struck ones left out."""

import datetime
import io
import zipfile

import pytest
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart
from openpyxl.styles import Font
from openpyxl.worksheet.filters import AutoFilter, FilterColumn, Filters
from openpyxl.worksheet.table import Table

from functions.docqa.ingestion.formats.xlsx import shown
from functions.docqa.ingestion.reader import read
from tests.unit.reader_files import units

_APRIL = datetime.datetime.fromisoformat("2026-04-01")


def test_xlsx_rows_and_columns_that_are_hidden_are_no_evidence() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (
        ("Effective 1 May 2026",),
        ("Area", "Share", "Old", "Fee"),
        ("East", 0.5, 1, 10),
        ("West", 0.25, 2, 20),
        ("Sum", 0.75, 3, 30),
    ):
        sheet.append(row)
    for number in range(3, 6):
        sheet.cell(number, 2).number_format = "# ?/?"
    sheet.row_dimensions[4].hidden = True
    sheet.column_dimensions["C"].hidden = True
    out = io.BytesIO()
    book.save(out)
    document = read("a.xlsx", "corpus:a", out.getvalue())
    rows = [(unit.text, unit.header) for unit in units(document)[-2:]]
    assert rows == [("East | 0.5 | 10", "Area | Share | Fee"), ("Sum | 0.75 | 30", "Area | Share | Fee")]
    assert document.edition.effective == "2026-05-01"


def test_the_lines_of_a_workbooks_first_sheet_govern_the_tables_of_the_others() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for line in ("Mooring tariff, effective 1 May 2026", "All amounts in yen, tax included"):
        sheet.append((line,))
    tariff = book.create_sheet("Berths")
    for row in (("Length", "Year"), ("under 8 m", 352_000)):
        tariff.append(row)
    out = io.BytesIO()
    book.save(out)
    document = read("a.xlsx", "corpus:a", out.getvalue())
    berth = units(document)[-1]
    assert berth.text == "under 8 m | 352000"
    assert berth.context == ("Mooring tariff, effective 1 May 2026 All amounts in yen, tax included",)
    assert document.edition.effective == "2026-05-01"


def test_rows_that_the_filter_of_an_xlsx_table_leaves_out_are_read() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (("City", "Fee"), ("Oslo", 10), ("Bergen", 20)):
        sheet.append(row)
    chosen = FilterColumn(colId=0, filters=Filters(filter=["Oslo"]))
    sheet.add_table(Table(displayName="Fees", ref="A1:B3", autoFilter=AutoFilter(ref="A1:B3", filterColumn=[chosen])))
    sheet.row_dimensions[3].hidden = True
    out = io.BytesIO()
    book.save(out)
    assert [unit.text for unit in units(read("a.xlsx", "corpus:a", out.getvalue()))] == ["Oslo | 10", "Bergen | 20"]


def test_xlsx_shows_values_as_the_sheet_does() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Rates"
    values = [
        ("Fees 2026",),
        (),
        ("Area", "Discount", "Price", "From"),
        ("East", 0.1, 1200, datetime.date(2026, 4, 1)),
        (None, 0.055, 900_400),
    ]
    for row in values:
        sheet.append(row)
    for place, form in (("B4", "0%"), ("B5", "0.0%"), ("C4", '#,##0"円"'), ("C5", '#,##0,"千円"')):
        sheet[place].number_format = form
    book.create_sheet("Hidden").sheet_state = "hidden"
    out = io.BytesIO()
    book.save(out)
    found = units(read("a.xlsx", "corpus:a", out.getvalue()))
    assert [(unit.text, unit.cell) for unit in found[-2:]] == [
        ("East | 10% | 1,200円 | 2026-04-01", "Rates!A4"),
        ("5.5% | 900千円 |", "Rates!A5"),
    ]
    assert found[-1].context[0] == "East"


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        (42, '"P-"000', "P-042"),
        (9012345678, "000-0000-0000", "090-1234-5678"),
        (3, '0.0"%"', "3.0%"),
        (0.125, "0%", "13%"),
        (-5, "[$£-809]#,##0.00", "-£5.00"),
        (500, '[>=1000]#,##0,"k";0', "500"),
        (5000, '[>=1000]#,##0,"k";0', "5k"),
        (0, '#,##0;-#,##0;"none"', "none"),
        (0, '_-"£"* #,##0_-;-"£"* #,##0_-;_-"£"* "-"??_-;_-@_-', "£-"),
        (7, ";;;", ""),
        (0.1, 'General"円"', "0.1円"),
        (1e300, "#,##0.00", "1e+300"),
        (_APRIL, '[$-ja-JP]yyyy"年"m"月"', "2026-04"),
        (_APRIL, "[$-411]ggge.m.d", "2026-04-01"),
        (_APRIL.replace(hour=9), "yyyy/m/d", "2026-04-01"),
        (_APRIL.replace(hour=9), "yyyy/m/d h:mm", "2026-04-01 09:00"),
        (_APRIL.replace(hour=9, second=5), "yyyy/m/d h:mm:ss", "2026-04-01 09:00:05"),
        (datetime.time(0, 1, 48), "mm:ss", "01:48"),
        (datetime.time(9, 1, 48), "h:mm", "09:01"),
        (datetime.timedelta(hours=30, seconds=5), "[h]:mm:ss", "30:00:05"),
        (46113, "aaa", "2026-04-01"),
        (46113, '[$-411]ggge"年度"', "2026"),
    ],
)
def test_a_number_is_written_as_its_format_shows_it(
    value: float | datetime.datetime | datetime.time | datetime.timedelta, form: str, expected: str
) -> None:
    assert shown(value, form) == expected


def test_xlsx_text_boxes_are_read_and_struck_text_is_none_and_what_is_not_read_is_named() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Fees"
    old = TextBlock(InlineFont(strike=True), "€4 ")
    for row in (
        ["Fee", "Now", "Tax"],
        ["Locker", CellRichText(old, "€5"), "=B2*2"],
        ["Card", "€6", "=B3*2"],
        ["Key", "€7", "€1"],
    ):
        sheet.append(row)
    sheet["A4"].font = sheet["B4"].font = sheet["C4"].font = Font(strike=True)
    sheet.add_chart(BarChart(), "E5")
    sheet.cell(1, 501, "far away")
    out, boxed = io.BytesIO(), io.BytesIO()
    book.save(out)
    with zipfile.ZipFile(out) as file, zipfile.ZipFile(boxed, "w") as copy:
        for name in file.namelist():
            box = b"<sp><txBody><p><r><t>Ask first.</t></r></p></txBody></sp>" * (name == "xl/drawings/drawing1.xml")
            copy.writestr(name, file.read(name).replace(b"</wsDr>", box + b"</wsDr>"))
    document = read("a.xlsx", "corpus:a", boxed.getvalue())
    assert [(unit.text, unit.cell) for unit in units(document)] == [
        ("Locker | €5 |", "Fees!A2"),
        ("Card | €6 |", "Fees!A3"),
        ("Ask first.", "Fees"),
    ]
    assert document.left_out == (
        "2 formulas without a stored value (open and save the workbook); charts on Fees; columns of Fees after 500"
    )


def test_a_workbook_in_the_strict_form_of_the_standard_is_read() -> None:
    book = Workbook()
    book.active.append(["Room", "Since"])
    book.active.append(["Plum", _APRIL])
    book.active["B2"].number_format = "yyyy-mm-dd"
    saved, strict = io.BytesIO(), io.BytesIO()
    book.save(saved)
    with zipfile.ZipFile(saved) as parts, zipfile.ZipFile(strict, "w") as out:
        for name in parts.namelist():
            content = parts.read(name).replace(
                b"schemas.openxmlformats.org/spreadsheetml/2006", b"purl.oclc.org/ooxml/spreadsheetml"
            )
            out.writestr(
                name,
                content.replace(
                    b"schemas.openxmlformats.org/officeDocument/2006", b"purl.oclc.org/ooxml/officeDocument"
                ),
            )
    assert [unit.text for unit in units(read("a.xlsx", "corpus:a", strict.getvalue()))] == ["Plum | 2026-04-01"]


def test_a_form_that_is_drawn_on_a_fine_grid_has_its_columns_once() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for number, row in enumerate((("費目", "単価"), ("新幹線_x000D_\n往復", 14_000), ("宿泊", 12_000)), start=1):
        for column, value in zip((1, 6), row, strict=True):
            sheet.cell(number, column, value)
            sheet.merge_cells(start_row=number, end_row=number, start_column=column, end_column=column + 4)
    out = io.BytesIO()
    book.save(out)
    found = [(unit.text, unit.header) for unit in units(read("a.xlsx", "corpus:a", out.getvalue()))]
    assert found == [("新幹線 往復 | 14000", "費目 | 単価"), ("宿泊 | 12000", "費目 | 単価")]


def test_columns_of_the_same_values_are_all_read() -> None:
    book = Workbook()
    book.active.append([7, 7, 9])
    book.active.append([8, 8, 9])
    out = io.BytesIO()
    book.save(out)
    assert [unit.text for unit in units(read("a.xlsx", "corpus:a", out.getvalue()))] == ["7 | 7 | 9", "8 | 8 | 9"]


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("xl/styles.xml", b"<fill><patternFill /></fill>", b"<fill/>"),
        ("xl/styles.xml", b'<cellStyle name="Normal"', b"<cellStyle"),
        ("docProps/core.xml", b"Z</dcterms:modified>", b" yesterday</dcterms:modified>"),
        ("xl/workbook.xml", b'visibility="visible"', b'visibility="odd"'),
        (
            "xl/worksheets/sheet1.xml",
            b"</sheetData>",
            b'</sheetData><dataValidations><dataValidation type="odd"/></dataValidations>',
        ),
    ],
)
def test_a_workbook_is_read_without_decoration_that_the_library_refuses(part: str, old: bytes, new: bytes) -> None:
    book = Workbook()
    book.active.append(["Room", "Share"])
    book.active.append(["Plum", 0.1])
    book.active["B2"].number_format = "0%"
    saved, odd = io.BytesIO(), io.BytesIO()
    book.save(saved)
    with zipfile.ZipFile(saved) as parts, zipfile.ZipFile(odd, "w") as out:
        for name in parts.namelist():
            content = parts.read(name)
            assert name != part or old in content
            out.writestr(name, content.replace(old, new) if name == part else content)
    assert [unit.text for unit in units(read("a.xlsx", "corpus:a", odd.getvalue()))] == ["Plum | 10%"]


def test_a_narrow_column_divides_no_names_from_their_values_and_a_wide_one_divides_lists() -> None:
    book = Workbook()
    for width, rows in ((2, [("申請者", "伊藤"), ("出張先", "大阪")]), (9, [("Ito", "Plum"), ("Mori", "Fig")])):
        sheet = book.create_sheet(f"w{width}")
        sheet.column_dimensions["A"].width = sheet.column_dimensions["B"].width = width
        for number, row in enumerate(rows, start=1):
            sheet.cell(number, 1, row[0])
            sheet.cell(number, 3, row[1])
    out = io.BytesIO()
    book.save(out)
    found = [unit.text for unit in units(read("a.xlsx", "corpus:a", out.getvalue()))]
    assert found == ["申請者 | 伊藤", "出張先 | 大阪", "Ito", "Mori", "Plum", "Fig"]
