"""What each kind of file is read as."""

import datetime
import io
import zipfile
from email.message import EmailMessage

import pytest
from msgspec import structs
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart
from openpyxl.styles import Font
from openpyxl.worksheet.filters import AutoFilter, FilterColumn, Filters
from openpyxl.worksheet.table import Table

from functions.docqa.ingestion.blocks import Unreadable
from functions.docqa.ingestion.editions import in_force
from functions.docqa.ingestion.formats.xlsx import shown
from functions.docqa.ingestion.reader import read
from functions.docqa.model import Document, Standing, Unit

_APRIL = datetime.datetime.fromisoformat("2026-04-01")
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def units(document: Document) -> list[Unit]:
    found = [unit for passage in document.passages for unit in passage.units]
    assert all(document.text[unit.start : unit.end] == unit.text for unit in found)
    return found


def texts(name: str, content: bytes | str) -> list[str]:
    given = content.encode() if isinstance(content, str) else content
    return [unit.text for unit in units(read(name, f"corpus:{name}", given))]


def archive(**parts: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, content in parts.items():
            file.writestr(f"{name.replace('__', '/')}.xml", content)
    return out.getvalue()


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.md", "# T\n\nUse **two** [keys](x). Call ext. 12.", ["Use two keys.", "Call ext. 12."]),
        (
            "a.txt",
            "Contacts\n\nOrders go to Ms. Lind, and all of the invoices to Mr.\nOlsen, ext. 34. Complaints: nobody.",
            ["Orders go to Ms. Lind, and all of the invoices to Mr. Olsen, ext. 34.", "Complaints: nobody."],
        ),
        (
            "a.md",
            "# T\n\nIt is <del>€4</del> €5 for 10<sup>3</sup> litres. The tag <s> strikes.\n\nDoors close at six.",
            ["It is €5 for 10³ litres.", "The tag strikes.", "Doors close at six."],
        ),
        ("a.txt", "Fees\r\rA locker is €5.\r\rA card is €6.\r", ["A locker is €5.", "A card is €6."]),
        ("a.txt", "Fees\n\nA locker is €5.".encode("utf-32"), ["A locker is €5."]),
        (
            "a.html",
            '<meta charset="iso-8859-1"><p>A café au lait is 2 €, a lug\xadgage lock\xader – for a day – 5 €.'.encode(
                "cp1252"
            ),
            ["A café au lait is 2 €, a luggage locker – for a day – 5 €."],
        ),
        ("a.md", "# T\n\nSee[^1].\n\n[^1]: A note.", ["See.", "※1 A note."]),
        (
            "a.md",
            "# T\n\n**Rev. 3 · Owner: Facilities · Confidential**\n\nDoors close at six.",
            ["Doors close at six."],
        ),
        (
            "a.txt",
            "規程\n\n取扱注意\n\n第1条（目的）\n本則は、期限を\n定める。ただし例外を除く。",
            ["本則は、期限を定める。", "ただし例外を除く。"],
        ),
        (
            "a.txt",
            "TITLE\n\n1. Scope\nIt holds for\nall staff.\n\n2. Time\n- one\n- two\n",
            ["It holds for all staff.", "one", "two"],
        ),
        (
            "a.txt",
            "T\n\n          Low   High\nJapan     1     2\nFrance    3     4\n",
            ["Japan | 1 | 2", "France | 3 | 4"],
        ),
        (
            "a.txt",
            "T\n\n1. Hours\nIt opens at 06:00 and closes\nat 22:30. Then it is\nlocked.\n\n2. RULES\na) No smoking.\n",
            ["It opens at 06:00 and closes at 22:30.", "Then it is locked.", "No smoking."],
        ),
        ("a.csv", '品名,単価\nポンプ,"45,000"\n'.encode("cp932"), ["ポンプ | 45,000"]),
        ("a.tsv", "Code\tMeaning\n4711\tPaper jam\n", ["4711 | Paper jam"]),
        ("a.html", '<meta charset="euc-jp"><h1>表</h1><p>営業は九時から。</p>'.encode("euc_jp"), ["営業は九時から。"]),
    ],
)
def test_text_is_read_as_sentences_items_and_rows(name: str, content: bytes | str, expected: list[str]) -> None:
    assert texts(name, content) == expected


def test_a_page_is_read_without_what_surrounds_its_content() -> None:
    page = """<title>Hours | Site</title><body><div class="top"><a href=1>Home</a> <a href=2>News</a> <a href=3>Shop</a></div>
    <div class="cookie-banner">We use cookies.</div><div class="share">Share: <a>X</a> <a>Y</a></div>
    <h1>Hours</h1><p>We open at nine. <span style="display: none">secret</span><span hidden>also</span></p>
    <ul><li>Monday<ul><li>closed</li></ul></ul><dl><dt>Desk<dd>ext. 12</dl><pre>run --now</pre>
    <table><tr><th>Day<th>From</tr><tr><td rowspan=2>Sunday<td>10:00</tr><tr><td>14:00</tr></table>
    <footer>© 2026 Site</footer></body>"""
    document = read("a.html", "corpus:a.html", page.encode())
    assert document.title == "Hours"
    expected = "We open at nine.|Monday|closed|Desk: ext. 12|run --now|Sunday | 10:00|Sunday | 14:00"
    assert "|".join(unit.text for unit in units(document)) == expected
    assert units(document)[2].context[0] == "Monday"
    assert units(document)[-1].header == "Day | From"


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.csv", "Item,2025,2026\nDues,100,120\nRent,5,6\n", {"Dues | 100 | 120": "Item | 2025 | 2026"}),
        (
            "a.md",
            "# T\n\n|項目|令和7年度|\n|-|-|\n|会費|100円|\n|注|税抜|",
            {"会費 | 100円": "項目 | 令和7年度", "注 | 税抜": ""},
        ),
        (
            "a.html",
            "<h1>T</h1><table><tr><td>Item<td>1-3 days<td>4-7 days<tr><td>boat<td>12<td>30<tr><td>raft<td>8<td>20</table>",
            {"boat | 12 | 30": "Item | 1-3 days | 4-7 days"},
        ),
        (
            "a.html",
            """<h1>T</h1><table><tr><td rowspan=2>Item<td colspan=2>2025<td colspan=2>2026<tr><td>H1<td>H2<td>H1<td>H2
            <tr><td>Sales<td>1<td>2<td>3<td>4<tr><td colspan=5>Note: in thousands.</table>""",
            {
                "Sales | 1 | 2 | 3 | 4": "Item | 2025 / H1 | 2025 / H2 | 2026 / H1 | 2026 / H2",
                "Note: in thousands.": "",
            },
        ),
        (
            "a.html",
            "<h1>T</h1><table><tr><td>Office<td>9:00-17:00<tr><td>Phone<td>555-0101<tr><td>Fax<td>555-0102</table>",
            {"Office | 9:00-17:00": "", "Phone | 555-0101": ""},
        ),
    ],
)
def test_a_header_may_have_years_spans_and_figures_and_a_note_has_none(
    name: str, content: str, rows: dict[str, str]
) -> None:
    found = {unit.text: unit.header for unit in units(read(name, "corpus:a", content.encode()))}
    assert rows.items() <= found.items()


_SPANS = """<tr><th rowspan=3>Branch<th colspan=4>Sales<th rowspan=3>Staff</tr><tr><th colspan=2>2025<th colspan=2>2026</tr>
<tr><th>first<th>second<th>first<th>second</tr><tr><td>Oslo<td>1<td>2<td>3<td>4<td>9</tr>"""


@pytest.mark.parametrize(
    ("name", "content", "row", "header"),
    [
        (
            "a.csv",
            "Item,Price,,Note\n,plain,gilded,\nFrame,10,20,b\n",
            "Frame | 10 | 20 | b",
            "Item | Price / plain | Price / gilded | Note",
        ),
        (
            "a.csv",
            "科目,予算,実績\n,(千円),(千円)\n会費,100,120\n",
            "会費 | 100 | 120",
            "科目 | 予算 (千円) | 実績 (千円)",
        ),
        ("a.csv", "Boat,Length,Fee\n,m,£\nTern,6,90\n", "Tern | 6 | 90", "Boat | Length (m) | Fee (£)"),
        (
            "a.html",
            f"<h1>T</h1><table>{_SPANS}</table>",
            "Oslo | 1 | 2 | 3 | 4 | 9",
            "Branch | Sales / 2025 / first | Sales / 2025 / second | Sales / 2026 / first | Sales / 2026 / second | Staff",
        ),
        (
            "a.html",
            f"<h1>T</h1><table><tr><th colspan=6>Results</tr>{_SPANS.replace('th', 'td')}</table>",
            "Oslo | 1 | 2 | 3 | 4 | 9",
            "Branch | Sales / 2025 / first | Sales / 2025 / second | Sales / 2026 / first | Sales / 2026 / second | Staff",
        ),
        # Entries, not names: a day's hours, a note in brackets.
        (
            "a.html",
            "<h1>T</h1><table><tr><td rowspan=2>3 May<td>shut<td>shut<tr><td>10:00<td>14:00</table>",
            "3 May | shut | shut",
            "",
        ),
        ("a.csv", "Item,Price\nFrame,(old)\nMount,5\n", "Frame | (old)", "Item | Price"),
    ],
)
def test_a_name_of_a_column_has_all_rows_of_the_header(name: str, content: str, row: str, header: str) -> None:
    found = {unit.text: unit.header for unit in units(read(name, "corpus:a", content.encode()))}
    assert found[row] == header


def test_a_workbook_and_a_word_file_have_headers_of_two_rows() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    rows = [("Fees",), ("Tool", "Fee (€)", None, "Keeper"), (None, "day", "week", None), ("Saw", 4, 15, "Ana")]
    for each in rows:
        sheet.append(each)
    sheet.merge_cells("A1:D1")
    sheet.merge_cells("B2:C2")
    out = io.BytesIO()
    book.save(out)
    cell = "<w:tc><w:tcPr>{1}</w:tcPr>{0}</w:tc>".format
    span, begin, on = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    lines = [
        [("Tool", begin), ("Fee (€)", span), ("Keeper", begin)],
        [("", on), ("day", ""), ("week", ""), ("", on)],
        [(text, "") for text in ("Saw", "4", "15", "Ana")],
    ]
    table = "".join(
        f"<w:tr>{mark}{''.join(cell(paragraph(text), form) for text, form in line)}</w:tr>"
        for mark, line in zip(("<w:trPr><w:tblHeader/></w:trPr>", "", ""), lines, strict=True)
    )
    word = archive(
        word__document=f"<w:document {_W}><w:body>{paragraph('Fees')}<w:tbl>{table}</w:tbl></w:body></w:document>"
    )
    for name, content in (("a.xlsx", out.getvalue()), ("a.docx", word)):
        (row,) = [unit for unit in units(read(name, "corpus:a", content)) if unit.text.startswith("Saw")]
        assert (row.text, row.header) == ("Saw | 4 | 15 | Ana", "Tool | Fee (€) / day | Fee (€) / week | Keeper")


def test_rows_are_governed_by_the_caption_and_the_header_right_above_them() -> None:
    lines = [
        "Stay,Single,Double",
        "Abroad,,",
        "Hotel,90,120",
        "At home,,",
        "Hotel,60,80",
        "Stay,Adult,Child",
        "Camp,9,5",
    ]
    found = units(read("a.csv", "corpus:a", "\n".join(lines).encode()))
    assert [(unit.text, unit.header, unit.context) for unit in found if "|" in unit.text] == [
        ("Hotel | 90 | 120", "Stay | Single | Double", ("Abroad",)),
        ("Hotel | 60 | 80", "Stay | Single | Double", ("At home",)),
        ("Camp | 9 | 5", "Stay | Adult | Child", ()),
    ]
    missing = units(read("a.csv", "corpus:a", b"Item,Fee\nTowel,\nLocker,5\n"))
    assert missing[-1].context == ()


def test_rows_of_a_csv_file_are_counted_as_a_spreadsheet_does() -> None:
    found = units(read("a.csv", "corpus:a", b'Fees,\n,\nItem,Fee\nBadge,"5\nEUR"\nKey,9\n'))
    assert [(unit.text, unit.cell) for unit in found] == [("Badge | 5 EUR", "row 4"), ("Key | 9", "row 5")]


def test_an_article_without_a_heading_is_no_part_of_the_one_above_it() -> None:
    text = "旅費規程\n\n第2条（宿泊）\n宿泊料は12,000円とする。\n\n第3条 旅費は翌月末日までに精算する。\n"
    passages = read("a.txt", "corpus:a", text.encode()).passages
    assert [passage.section[-1] for passage in passages] == ["第2条（宿泊）", "第3条"]
    assert passages[-1].units[0].text == "第3条 旅費は翌月末日までに精算する。"


def test_the_front_matter_of_markdown_may_be_toml() -> None:
    document = read(
        "a.md", "corpus:a", b'+++\ntitle = "Lockers"\nversion = "2.1"\n+++\n\n# Fees\n\nA locker is 5 euro.\n'
    )
    assert (document.title, document.edition.labels) == ("Lockers", ("v2.1",))
    assert [unit.text for unit in units(document)] == ["A locker is 5 euro."]


def test_units_know_their_section_introduction_and_line() -> None:
    document = read(
        "a.md", "corpus:a.md", b"---\ntitle: Leave\n---\n# Leave\n\n## Days\n\nYou need:\n\n1. a form\n2. a stamp\n"
    )
    passage = document.passages[0]
    assert (document.title, passage.section) == ("Leave", ("Days",))
    assert [unit.context for unit in passage.units] == [(), ("You need:",), ("You need:",)]
    assert document.text[: passage.units[0].start].count("\n") == 7


def test_docx_keeps_automatic_numbers_merged_cells_and_notes_but_no_running_heads() -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for at, (form, text) in enumerate((("decimal", "第%1条"), ("aiueo", "（%2）")))
    )
    numbers = f'<w:abstractNum w:abstractNumId="5">{levels}</w:abstractNum>'
    numbers += '<w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="5"/>'
    numbers += '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>'
    numbered = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'.format
    cell = "<w:tc><w:tcPr>{1}</w:tcPr>{0}</w:tc>".format
    rows = [
        cell(paragraph("区分"), "") + cell(paragraph("日当"), ""),
        cell(paragraph("部長"), '<w:vMerge w:val="restart"/>') + cell(paragraph("900円"), ""),
        cell(paragraph(""), "<w:vMerge/>") + cell(paragraph("800円"), ""),
    ]
    body = (
        paragraph("（目的）", numbered(0))
        + paragraph("本則は目的を定める。")
        + paragraph("（休暇）", numbered(0))
        + paragraph("次の者を除く。", "").replace("</w:r>", '</w:r><w:r><w:footnoteReference w:id="2"/></w:r>')
        + paragraph("役員", numbered(1))
        + f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"
        + paragraph("（細則）", numbered(0).replace('numId w:val="1"', 'numId w:val="2"'))
        + paragraph("別に定める。")
    )
    note = paragraph("例外がある。")
    content = archive(
        word__document=f"<w:document {_W}><w:body>{body}</w:body></w:document>",
        word__numbering=f"<w:numbering {_W}>{numbers}</w:numbering>",
        word__header1=f"<w:hdr {_W}>{paragraph('第3版 社外秘')}</w:hdr>",
        word__footnotes=f'<w:footnotes {_W}><w:footnote w:id="2">{note}</w:footnote></w:footnotes>',
    )
    document = read("規程.docx", "corpus:x", content)
    sections = [("第1条（目的）",), ("第2条（休暇）",), ("第1条（細則）",)]
    assert [passage.section for passage in document.passages] == sections
    found = units(document)
    assert [unit.text for unit in found[1:]] == [
        "次の者を除く。",
        "例外がある。",
        "役員",
        "部長 | 900円",
        "部長 | 800円",
        "別に定める。",
    ]
    assert found[2].context == ("次の者を除く。",)
    assert found[4].header == "区分 | 日当"
    assert document.edition.labels == ("v3",)


def test_docx_text_that_is_not_shown_is_no_evidence_and_boxes_and_tables_inside_are_read_once() -> None:
    run = "<w:r><w:rPr>{1}</w:rPr><w:t>{0}</w:t></w:r>".format
    box = f"<w:txbxContent>{paragraph('Ring twice.')}</w:txbxContent>"
    cell = "<w:tc>{}</w:tc>".format
    inner = f"<w:tbl><w:tr>{cell(paragraph('6 hours'))}{cell(paragraph('boss'))}</w:tr></w:tbl>"
    outer = f"<w:tbl><w:tr>{cell(paragraph('Business'))}{cell(inner + paragraph('ask'))}</w:tr></w:tbl>"
    runs = [
        ("It is 5", ""),
        ("2", '<w:vertAlign w:val="superscript"/>'),
        (" or", ""),
        (" 9", "<w:strike/>"),
        (" 8", "<w:vanish/>"),
        (" less", '<w:strike w:val="0"/>'),
        (".", '<w:dstrike w:val="off"/>'),
    ]
    boxes = f"<w:AlternateContent><w:Choice>{box}</w:Choice><w:Fallback>{box}</w:Fallback></w:AlternateContent>"
    body = f"<w:p>{''.join(run(*each) for each in runs)}</w:p><w:p><w:r>{boxes}</w:r></w:p>{outer}"
    parts = archive(word__document=f"<w:document {_W}><w:body>{body}</w:body></w:document>")
    found = units(read("a.docx", "corpus:a", parts))
    assert [unit.text for unit in found] == ["It is 5² or less.", "Ring twice.", "Business | ask", "6 hours | boss"]
    assert found[-1].context[0] == "Business"


def test_docx_text_that_is_hidden_by_its_style_or_row_or_a_placeholder_is_no_evidence() -> None:
    style = '<w:style w:styleId="{0}"><w:basedOn w:val="{1}"/><w:rPr>{2}</w:rPr></w:style>'.format
    styles = style("Note", "", "<w:vanish/>") + style("Old", "Note", "") + style("Cut", "", "<w:strike/>")
    run = "<w:r><w:rPr>{1}</w:rPr><w:t>{0}</w:t></w:r>".format
    runs = run("It is ", "") + run("4 or ", '<w:rStyle w:val="Cut"/>')
    runs += run("5", '<w:rStyle w:val="Cut"/><w:strike w:val="0"/>')
    fraction = "<w:f><w:num><w:t>1</w:t></w:num><w:den><w:t>2</w:t></w:den></w:f>"
    power = "<w:sSup><w:e><w:t>10</w:t></w:e><w:sup><w:t>6</w:t></w:sup></w:sSup>"
    empty = "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>".format
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>".format
    rows = ("", "Grade", "Room", "Meal"), ("", "A", "€80", "€20"), ("<w:hidden/>", "B", "€70", "€10")
    table = "".join(f"<w:tr><w:trPr>{each[0]}</w:trPr>{''.join(map(cell, each[1:]))}</w:tr>" for each in rows)
    table += f'<w:tr><w:trPr><w:gridBefore w:val="2"/></w:trPr>{cell("€25")}</w:tr>'
    body = f"<w:p>{runs}{run('.', '')}{empty(run('Choose an item.', ''))}</w:p>{paragraph('9', '<w:pStyle w:val=%sOld%s/>')}"
    body = body.replace("%s", '"') + empty(paragraph("Enter text.")) + f"<w:p>{fraction}{run(' of ', '')}{power}</w:p>"
    parts = archive(
        word__document=f"<w:document {_W}><w:body>{body}<w:tbl>{table}</w:tbl></w:body></w:document>",
        word__styles=f"<w:styles {_W}>{styles}</w:styles>",
    )
    found = units(read("a.docx", "corpus:a", parts))
    assert [unit.text for unit in found] == ["It is 5.", "1/2 of 10⁶", "A | €80 | €20", "€25"]
    assert found[-1].header == "Grade | Room | Meal"
    assert found[-1].context[0] == "A"


def test_docx_list_items_with_kana_or_roman_numbers_are_governed_by_what_is_above_them() -> None:
    level = '<w:lvl w:ilvl="{0}"><w:numFmt w:val="{1}"/><w:lvlText w:val="%{2}"/></w:lvl>'.format
    levels = level(0, "upperRoman", 1) + level(1, "aiueo", 2)
    numbering = f'<w:abstractNum w:abstractNumId="1">{levels}</w:abstractNum>'
    numbering += '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
    numbered = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'.format
    lines = [("対象の者", 0), ("次の場合は除く", 0), ("独身寮", 1), ("社宅", 1)]
    body = "".join(paragraph(text, numbered(depth)) for text, depth in lines)
    parts = archive(
        word__document=f"<w:document {_W}><w:body>{paragraph('寮')}{body}</w:body></w:document>",
        word__numbering=f"<w:numbering {_W}>{numbering}</w:numbering>",
    )
    document = read("a.docx", "corpus:a", parts)
    assert "II 次の場合は除く\n  ア 独身寮" in document.text
    assert [unit.context for unit in units(document)][-2:] == [("次の場合は除く",)] * 2


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
    ],
)
def test_a_number_is_written_as_its_format_shows_it(value: float | datetime.datetime, form: str, expected: str) -> None:
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


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            "<p>It costs <del>€6</del> <s>€7</s> €5<sup>1</sup>, for 10<sup>3</sup> l on 4 m<sup>2</sup>.",
            "It costs €5¹, for 10³ l on 4 m².",
        ),
        ('<div class="cc-window">This site uses cookies. <a>Got it!</a></div><p>We open at nine.', "We open at nine."),
        (
            "<section><p>A cookie is kept for a day. You may allow it in the <a>settings</a>.</section>",
            "A cookie is kept for a day.|You may allow it in the settings.",
        ),
        (
            "<div>We bake no cookies, we set them. <button>Accept all</button></div><p>We open at nine.",
            "We open at nine.",
        ),
        ("<p>Our shop uses cookies for the basket.", "Our shop uses cookies for the basket."),
        (
            "<table><tr><td><a>News</a> <a>Map</a> <a>Jobs</a><td><h1>Hours</h1><p>We open at nine.</p></table>",
            "We open at nine.",
        ),
        ("<p>A locker is €5, see <a href='#n'>1</a>. <a href='#back'>↩</a>", "A locker is €5, see 1."),
        (
            "<p><math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> of <math><msup><mn>10</mn><mn>3</mn></msup></math> l.",
            "1/2 of 10³ l.",
        ),
        ("<dl><dt>Phone<dt>Fax<dd>555-01<dt>Desk<dd><p>2</p></dl>", "Phone / Fax: 555-01|Desk: 2"),
    ],
)
def test_a_page_says_what_it_shows(markup: str, expected: str) -> None:
    more = "All visitors sign the book at the desk before they go upstairs."
    page = f"<title>Hours</title><body>{markup}<p>{more}"
    assert texts("a.html", page) == [*expected.split("|"), more]


def test_pptx_slides_are_sections_with_bullets_and_notes() -> None:
    shape = '<sp><nvSpPr><nvPr><ph type="{}"/></nvPr></nvSpPr><txBody>{}</txBody></sp>'.format
    line = '<p><r><rPr strike="noStrike"/><t>{}</t></r><r><rPr strike="sngStrike"/><t> old</t></r></p>'.format
    slide = f"<sld>{shape('title', line('Fire'))}{shape('body', line('Leave') + line('Call 119'))}<c><chart/></c></sld>"
    links = '<Relationships><Relationship Id="{}" Type="x/{}" Target="{}"/></Relationships>'.format
    content = {
        "ppt/presentation.xml": '<p xmlns:r="r"><sldIdLst><sldId id="256" r:id="rId1"/></sldIdLst></p>',
        "ppt/_rels/presentation.xml.rels": links("rId1", "slide", "slides/slide1.xml"),
        "ppt/slides/slide1.xml": slide,
        "ppt/slides/_rels/slide1.xml.rels": links("rId1", "notesSlide", "../notesSlides/n.xml"),
        "ppt/notesSlides/n.xml": f"<notes>{shape('body', line('Drills are in March.'))}</notes>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, part in content.items():
            file.writestr(name, part)
    document = read("a.pptx", "corpus:a", out.getvalue())
    assert document.title == "Fire"
    assert document.left_out == "charts on slides 1"
    assert [unit.text for unit in units(document)] == ["Leave", "Call 119", "Drills are in March."]
    assert {unit.cell for unit in units(document)} == {"slide 1"}


def test_diagrams_are_read_and_shapes_that_are_hidden_are_not() -> None:
    link = '<Relationships><Relationship Id="{}" Type="x/{}" Target="{}"/></Relationships>'.format
    marks = '<graphicData xmlns:r="r"><relIds r:dm="rId9"/></graphicData>'
    shape = '<sp><nvSpPr><cNvPr hidden="{}"/><nvPr/></nvSpPr><txBody><p><r><t>{}</t></r></p></txBody></sp>'.format
    group = f'<grpSp><nvGrpSpPr><cNvPr hidden="1"/></nvGrpSpPr>{shape(0, "Call 117.")}</grpSp>'
    call = shape(0, "Call 119.")
    older = f"<AlternateContent><Choice>{call}</Choice><Fallback>{call}</Fallback></AlternateContent>"
    point = "<pt><t><p><r><t>{}</t></r></p></t></pt>".format
    diagram = f"<dataModel>{point('Fill in the form')}{point('Wait three days')}</dataModel>"
    slides = {
        "ppt/presentation.xml": '<p xmlns:r="r"><sldIdLst><sldId id="256" r:id="rId1"/></sldIdLst></p>',
        "ppt/_rels/presentation.xml.rels": link("rId1", "slide", "slides/slide1.xml"),
        "ppt/slides/slide1.xml": f"<sld>{older}{shape(1, 'Call 118.')}{group}{marks}</sld>",
        "ppt/slides/_rels/slide1.xml.rels": link("rId9", "diagramData", "../diagrams/data1.xml"),
        "ppt/diagrams/data1.xml": diagram,
    }
    body = f"<w:body>{paragraph('Call 119.')}<w:p><w:r><w:drawing>{marks}</w:drawing></w:r></w:p></w:body>"
    text = {
        "word/document.xml": f"<w:document {_W}>{body}</w:document>",
        "word/_rels/document.xml.rels": link("rId9", "diagramData", "diagrams/data1.xml"),
        "word/diagrams/data1.xml": diagram,
    }
    for name, content in (("a.pptx", slides), ("a.docx", text)):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as file:
            for part, xml in content.items():
                file.writestr(part, xml)
        found = units(read(name, f"corpus:{name}", out.getvalue()))
        assert [unit.text for unit in found] == ["Call 119.", "Fill in the form", "Wait three days"]


def test_mail_is_read_with_earlier_mails_behind_it_and_attachments_as_sections() -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.com", "夏季休業"
    wrote = "2026年7月1日(水) 10:00 田中 <t@example.com>:"
    message.set_content(
        f"休業は8月12日からです。\n\n{wrote}\n> 昨年は11日でした。\n\n-- \n佐藤\n", charset="iso-2022-jp"
    )
    message.add_attachment(b"Area,Fee\nEast,900\n", maintype="text", subtype="csv", filename="fees.csv")
    message.add_attachment(b"\0", maintype="image", subtype="png", filename="x.png")
    document = read("a.eml", "corpus:a", message.as_bytes())
    assert document.title == "夏季休業"
    assert [unit.text for unit in units(document)] == [
        "休業は8月12日からです。",
        wrote,
        "昨年は11日でした。",
        "East | 900",
    ]
    assert document.passages[1].section == ("Earlier messages / 過去のメール",)
    assert document.passages[-1].section == ("fees.csv",)


@pytest.mark.parametrize(
    ("kind", "content", "standing"),
    [
        (
            "html",
            "<p>It is 45 EUR now.<div>On Monday Bob wrote:</div><blockquote>It was 40 EUR.</blockquote>",
            Standing.SUPERSEDED,
        ),
        ("html", "<p>For your files.<p>From: Bob<p>It is 40 EUR.", Standing.CURRENT),
        ("plain", "It is 45 EUR now.\n\n> It is 40 EUR.\n", Standing.SUPERSEDED),
        ("plain", "I agree, see you on 3 May.\n\n> It is 40 EUR.\n", Standing.CURRENT),
    ],
)
def test_what_a_reply_quotes_no_longer_holds_if_it_has_such_figures_itself(
    kind: str, content: str, standing: Standing
) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.com", "Fees"
    message.set_content(content, subtype=kind)
    message.add_attachment(b"\0", maintype="application", subtype="zip", filename="x.zip")
    document = read("a.eml", "corpus:a", message.as_bytes())
    own, earlier = document.passages
    assert earlier.section == ("Earlier messages / 過去のメール",)
    assert (own.edition.standing, earlier.edition.standing) == (Standing.CURRENT, standing)
    assert document.left_out == "x.zip: this kind of file (.zip) is not read"


@pytest.mark.parametrize(
    "body",
    [
        "<p>It costs €5.</p><blockquote type='cite'>It costs €4.<blockquote type='cite'>It was €3.</blockquote></blockquote>",
        "<div>On 30/03/2026 10:00, Bob wrote:</div><blockquote type='CITE'>It costs €4.</blockquote><p>It costs €5.</p>",
        "<p>It costs €5.</p><div>2026年3月30日(月) 10:00 田中 &lt;t@example.com&gt;:</div><div>It costs €4.</div>",
    ],
)
def test_what_an_html_mail_quotes_no_longer_holds(body: str) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.com", "Re: Lockers"
    message.set_content(body, subtype="html")
    found = read("a.eml", "corpus:a", message.as_bytes()).passages
    standing = {passage.edition.standing: [unit.text for unit in passage.units] for passage in found}
    assert standing[Standing.CURRENT] == ["It costs €5."]
    assert "It costs €4." in standing[Standing.SUPERSEDED]


def test_all_parts_of_a_mail_are_read_or_named() -> None:
    message, inner, other = EmailMessage(), EmailMessage(), EmailMessage()
    message["From"], message["Subject"] = "a@example.com", "Fees"
    message.set_content("The list is below.")
    message.make_alternative()
    inner.set_content("<p>The list is below.</p>", subtype="html")
    inner.add_attachment("Area,Fee\nEast,900\n", subtype="csv", filename="fees.csv")
    inner.add_attachment("<p>Ask Ada.</p>", subtype="html", disposition="inline")
    message.attach(inner)
    message.make_mixed()
    other["From"], other["Subject"] = "b@example.com", "Gate"
    other.set_content("The gate closes at nine.")
    message.add_attachment(other, filename="Gate")
    message.add_attachment("See you on Monday.", disposition="inline")
    message.add_attachment(b"BEGIN", maintype="application", subtype="zip", filename="a.zip")
    document = read("a.eml", "corpus:a", message.as_bytes())
    expected = ["The list is below.", "See you on Monday.", "East | 900", "The gate closes at nine."]
    assert [unit.text for unit in units(document)] == expected
    assert document.left_out == "a.zip: this kind of file (.zip) is not read"
    only = b"From: a@example.com\nContent-Type: application/pdf; name=a.pdf\n\n%PDF"
    with pytest.raises(Unreadable, match=r"no text in it beside its title; a\.pdf: damaged PDF"):
        read("a.eml", "corpus:a", only)


@pytest.mark.parametrize(
    ("name", "content", "standing", "effective"),
    [
        ("a.md", "# Rules\n\nStatus: superseded\n\nText here.", Standing.SUPERSEDED, ""),
        ("a.md", "# Prices 2025 (withdrawn 31 December 2025)\n\nText here.", Standing.SUPERSEDED, ""),
        ("a.md", "# 旧料金表（令和8年1月4日まで）\n\n初診料は千円です。", Standing.SUPERSEDED, ""),
        ("a.md", "# Money withdrawn from accounts\n\nText here.", Standing.CURRENT, ""),
        ("規程_旧版.txt", "規程\n\n令和7年4月1日施行　所管：総務部\n\n本文である。", Standing.SUPERSEDED, "2025-04-01"),
        ("a.md", "# Plan (draft)\n\nStatus: draft\n\nText here.", Standing.DRAFT, ""),
        ("a.md", "# Rules\n\nEffective: 1 May 2026 · Rev. 3\n\nText here.", Standing.CURRENT, "2026-05-01"),
        ("a.md", "# Agenda\n\n## Change of the fee\n\n施行予定：令和19年4月1日", Standing.CURRENT, ""),
    ],
)
def test_editions_are_read_from_lines_that_are_no_units(
    name: str, content: str, standing: Standing, effective: str
) -> None:
    document = read(name, "corpus:a", content.encode())
    assert (document.edition.standing, document.edition.effective) == (standing, effective)
    assert len(units(document)) == 1


_DRAFTS = {
    "a.md": [
        "# Data policy – DRAFT\n\nText here.",
        "# Data policy\n\nNot adopted. For discussion at the meeting on 3 May.\n\n## Access\n\nText here.",
        "# Terms\n\nDraft 2 of edition 9, for internal discussion.\n\nText here.",
        "# Terms\n\nFor consultation until 3 May.\n\nText here.",
        "# Terms\n\nThis policy has not been approved by the board.\n\nText here.",
        "# 荷受規程の改正(素案)\n\n本文である。",
        "# 会費規程（案）\n\n本文である。",
        "# 会費規程\n\n取扱注意：理事会未承認。\n\n本文である。",
        "# 会費規程\n\n本規程は検討中です。\n\n本文である。",
    ],
    "terms_ed9_DRAFT.md": ["# Terms\n\nText here."],
    "規程改正_素案.md": ["# 規程\n\n本文である。"],
}
_IN_FORCE = {
    "a.md": [
        "# Draft beer prices\n\nDraft-beer is 5 euros.",
        "# How to draft a contract\n\nA draft is sent to the legal team. The draft of edition 9 is not in force.",
        "# Call for proposals\n\nFor consultation by phone, dial 12.",
        "# Terms, edition 8\n\n## Drafts\n\nNot adopted. For discussion.",
        "# 図書館利用案内\n\n開館は九時である。",
        "# 会費規程（案）への意見の募集\n\n会費規程の改正案はまだ施行されていない。",
        "# 機器管理規程\n\n未承認の機器は使用しない。",
        "# 提案制度\n\nこの案内は提案の出し方を示す。",
    ],
    "ご案内_提案書.md": ["# 規程\n\n本文である。"],
}


@pytest.mark.parametrize(
    ("name", "content", "standing"),
    [
        (name, text, standing)
        for standing, given in ((Standing.DRAFT, _DRAFTS), (Standing.CURRENT, _IN_FORCE))
        for name, texts in given.items()
        for text in texts
    ],
)
def test_a_draft_says_of_itself_that_it_is_one(name: str, content: str, standing: Standing) -> None:
    assert read(name, "corpus:a", content.encode()).edition.standing is standing


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Handbook (2nd copy) 2023, version 8", "Handbook, version 9"),
        ("Handbook 2023", "Handbook 2024"),
        ("Handbook, version 2.9", "Handbook, version 2.10"),
    ],
)
def test_of_two_editions_the_newer_is_in_force_by_what_both_tell(older: str, newer: str) -> None:
    documents = [read("a.md", "corpus:a", f"# {title}\n\nText here.".encode()) for title in (newer, older)]
    documents = [structs.replace(each, edition=structs.replace(each.edition, series="handbook")) for each in documents]
    standings = [each.edition.standing for each in in_force(documents, datetime.date(2026, 11, 1))]
    assert standings == [Standing.CURRENT, Standing.SUPERSEDED]


@pytest.mark.parametrize(
    ("older", "newer", "standing"),
    [
        ("terms_2023.txt", "terms_2025.md", Standing.SUPERSEDED),
        ("規程_第4版.txt", "規程_第5版.md", Standing.SUPERSEDED),
        ("説明書_令和6年度.txt", "説明書_令和7年度.md", Standing.SUPERSEDED),
        ("terms_ed7_2021.txt", "terms_ed8.md", Standing.SUPERSEDED),
        ("terms.txt", "terms.md", Standing.CURRENT),
        ("a/terms_2023.txt", "b/terms_2025.md", Standing.CURRENT),
    ],
)
def test_editions_whose_titles_differ_are_known_by_the_names_of_their_files(
    older: str, newer: str, standing: Standing
) -> None:
    texts = {
        older: "Company Ltd\n\nValid from 1 June 2023\n\nText.",
        newer: "# Terms\n\nIn force from 1 June 2025\n\nText.",
    }
    found = in_force([read(name, name, text.encode()) for name, text in texts.items()], datetime.date(2026, 11, 1))
    assert [each.edition.standing for each in found] == [standing, Standing.CURRENT]
