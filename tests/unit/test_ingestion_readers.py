"""Text, pages and tables, as their readers understand them."""

import io

import pytest
from openpyxl import Workbook

from functions.docqa.ingestion.reader import read
from tests.unit.reader_files import W, archive, paragraph, texts, units


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
        ("a.txt", "営業時間 9:00-18:00", ["営業時間 9:00-18:00"]),
        (
            "a.txt",
            "設定\n\n┌───┬───┐\n│項目　│値　　│\n├───┼───┤\n│再試行│３回　│\n└───┴───┘\n",
            ["再試行 | ３回"],
        ),
        ("a.txt", "Menu\nSoup .......... 4.50\nSmoked fish . . . . . 12.80\n", ["Soup | 4.50", "Smoked fish | 12.80"]),
        (
            "a.txt",
            "Pumps\n\nThe pump in the north yields up to\n100 cubic metres an hour.",
            ["The pump in the north yields up to 100 cubic metres an hour."],
        ),
        (
            "a.csv",
            "2026-04-01,Ito,9:00\n2026-04-02,Mori,10:00\n",
            ["2026-04-01 | Ito | 9:00", "2026-04-02 | Mori | 10:00"],
        ),
        ("a.csv", "売上一覧,,,\n期間,4月,,\n店,品,数,金額\n銀座,茶,3,600\n", ["期間 | 4月", "銀座 | 茶 | 3 | 600"]),
        (
            "a.txt",
            "Plan\n\n|Lead|Ito|\n|Budget|900|\n|Until|2026-05-31|\n",
            ["Lead | Ito", "Budget | 900", "Until | 2026-05-31"],
        ),
        (
            "a.html",
            "<table><tr><th>Item<th>Price<tr><td>Menu<td><table><tr><td>Lunch<td>900</table>each<tr><td>Tea<td>2</table>",
            ["Menu | Lunch 900 each", "Tea | 2"],
        ),
        ("a.md", "# Doors close at six\n## Keys at the desk\n", ["Keys at the desk"]),
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
        ("a.csv", "管理番号 No.,品名,数\nA-1,脚立,4\nA-2,台車,2\n", "A-1 | 脚立 | 4", "管理番号 No. | 品名 | 数"),
        (
            "a.csv",
            "Cargo,under 500 t,500–999 t,from 1000 t\nSand,10 hours,14 hours,18 hours\nGrain,18 hours,24 hours,30 hours\n",
            "Grain | 18 hours | 24 hours | 30 hours",
            "Cargo | under 500 t | 500–999 t | from 1000 t",
        ),
        (
            "a.csv",
            "区分,第1四半期,第2四半期\n苦情,14,9\n遅延,3.8％,2.1％\n返品,2,3\n",
            "返品 | 2 | 3",
            "区分 | 第1四半期 | 第2四半期",
        ),
        (
            "a.csv",
            "name,1,2,3,nights\nArai,E,N,x,4\nSato,x,E,N,5\n",
            "Sato | x | E | N | 5",
            "name | 1 | 2 | 3 | nights",
        ),
        (
            "a.csv",
            "Code,Order (pieces),\n,100-299,300-999\nTE-S,28.00,21.50\nTE-M,34.50,26.00\n",
            "TE-S | 28.00 | 21.50",
            "Code | Order (pieces) / 100-299 | Order (pieces) / 300-999",
        ),
        ("a.csv", "項目,1店目,2店目\n加盟金,280,150\n研修費,45,免除\n", "研修費 | 45 | 免除", "項目 | 1店目 | 2店目"),
        (
            "a.html",
            "<h1>T</h1><table><tr><td>Work<td>Stop at (m/s, 10-minute mean)<tr><td>Hub<td>12<tr><td>Roof<td>10</table>",
            "Hub | 12",
            "Work | Stop at (m/s, 10-minute mean)",
        ),
        (
            "a.txt",
            "Errors\n\nCode  Sign  What to do\n----  ----  ----------\nE-1  no light  call\nE-21   noise  stop, then wait\n",
            "E-21 | noise | stop, then wait",
            "Code | Sign | What to do",
        ),
        # Entries, not names: sums below sums, a day's hours, a note in brackets.
        (
            "a.html",
            """<h1>T</h1><table><tr><td>Low<td>up to $9<td>up to $2<tr><td>Mid<td>$9–$18<td>$2–$5
            <tr><td>Top<td>$18–$30<td>$5–$8</table>""",
            "Mid | $9–$18 | $2–$5",
            "",
        ),
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
        word__document=f"<w:document {W}><w:body>{paragraph('Fees')}<w:tbl>{table}</w:tbl></w:body></w:document>"
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


def test_rows_of_dates_alone_are_rows_of_a_calendar() -> None:
    rows = b"# Pay days; edition of 2026-03-16\nMonth,Pay day\n2026-07,2026-07-24\n2026-08,2026-08-25\n"
    (passage,) = read("days.csv", "corpus:days.csv", rows).passages
    assert [unit.text for unit in passage.units] == ["2026-07 | 2026-07-24", "2026-08 | 2026-08-25"]


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


@pytest.mark.parametrize(
    ("name", "content", "title"),
    [
        (
            "乗務員服務規程_第4版.txt",
            "白嶺バス 運輸部\n乗務員服務規程（第4版）\n=====\n\n帽子は自由である。",
            "乗務員服務規程（第4版）",
        ),
        ("parent_handbook.txt", "KAEDE PRESCHOOL\nParent Handbook\n\nDoors open at eight.", "Parent Handbook"),
        ("楽譜貸出.md", "# 合唱連盟 楽譜貸出規程\n\n## 貸出\n\n三冊までとする。", "合唱連盟 楽譜貸出規程"),
        ("notes.txt", "Fees\n\nRooms\n\nA room is 5 euros.", "Fees"),
    ],
)
def test_a_title_is_the_line_that_the_file_is_named_for(name: str, content: str, title: str) -> None:
    assert read(name, "corpus:a", content.encode()).title == title
