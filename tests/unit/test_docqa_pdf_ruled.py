"""Tables of a PDF that are drawn with rules have the rows and cells that a reader sees."""

import io

from functions.docqa.documents.blocks import BlockKind, blocks
from functions.docqa.documents.formats.pdf import pdf_text
from functions.docqa.documents.formats.pdf_lines import Line
from functions.docqa.documents.formats.pdf_pages import as_one_text, recurring
from functions.docqa.documents.formats.pdf_ruled import Piece, Rules, with_ruled_tables
from functions.docqa.documents.formats.pdf_tables import rows_of, with_tables
from functions.docqa.documents.formats.pdf_vertical import in_lines, is_vertical

_UNMOVED = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def _ruled(level: list[int], upright: list[int]) -> Rules:
    """Rules from end to end, as strokes."""
    rules = Rules()
    lines = [((upright[0], y), (upright[-1], y)) for y in level]
    lines += [((x, level[0]), (x, level[-1])) for x in upright]
    for start, end in lines:
        rules.operated(b"m", start, _UNMOVED, None)
        rules.operated(b"l", end, _UNMOVED, None)
        rules.operated(b"S", (), _UNMOVED, None)
    return rules


def _set(text: str, x: float, y: float) -> Piece:
    return Piece(text, x, y, 10)


_CELLS = [
    *(_set("症状", 11, 52), _set("原因", 61, 52), _set("処置", 111, 52)),
    *(_set("主軸が回ら", 11, 34), _set("ない", 11, 22), _set("カバー", 61, 28), _set("閉める", 111, 28)),
    *(_set("E", 11, 8), Piece(" "), _set("12", 20, 8), _set("過熱", 61, 8), _set("冷ます", 111, 8)),
]
_ROWS = [["症状", "原因", "処置"], ["主軸が回らない", "カバー", "閉める"], ["E 12", "過熱", "冷ます"]]


def test_lines_that_are_wrapped_within_a_cell_are_one_text() -> None:
    pieces = [_set("前の文。", 10, 90), *_CELLS, _set("後の文。", 10, -20)]
    assert with_ruled_tables(pieces, _ruled([60, 45, 18, 0], [10, 60, 110, 160])) == [
        pieces[0],
        _ROWS,
        pieces[-1],
    ]


def test_bars_that_are_filled_and_frames_of_cells_are_rules_as_well() -> None:
    bars, frames = Rules(), Rules()
    for y in (60, 45, 18, 0):
        bars.operated(b"re", (10, y, 150, 0.5), _UNMOVED, None)
        bars.operated(b"f", (), _UNMOVED, None)
    for x in (10, 60, 110, 160):
        bars.operated(b"re", (x, 0, 0.5, 60), _UNMOVED, None)
        bars.operated(b"f*", (), _UNMOVED, None)
    for bottom, height in ((45, 15), (18, 27), (0, 18)):
        for left in (10, 60, 110):
            frames.operated(b"re", (left, bottom, 50, height), _UNMOVED, None)
            frames.operated(b"S", (), _UNMOVED, None)
    assert with_ruled_tables(_CELLS, bars) == with_ruled_tables(_CELLS, frames) == [_ROWS]


def test_rules_are_where_the_page_is_moved_to_and_scaled() -> None:
    rules = Rules()
    for start, end in (((0, 0), (50, 0)), ((0, 10), (50, 10)), ((0, 20), (50, 20))):
        rules.operated(b"m", start, (2.0, 0.0, 0.0, -1.0, 10.0, 100.0), None)
        rules.operated(b"l", end, (2.0, 0.0, 0.0, -1.0, 10.0, 100.0), None)
        rules.operated(b"S", (), _UNMOVED, None)
    assert [(rule.at, rule.start, rule.end) for rule in rules.level] == [
        (100, 10, 110),
        (90, 10, 110),
        (80, 10, 110),
    ]


def test_a_cell_over_several_rows_or_columns_is_repeated_in_each() -> None:
    rules = Rules()
    for start, end in (
        *(((10, 60), (160, 60)), ((60, 40), (160, 40)), ((10, 20), (160, 20)), ((10, 0), (160, 0))),
        *(((10, 0), (10, 60)), ((60, 20), (60, 60)), ((110, 0), (110, 60)), ((160, 0), (160, 60))),
    ):
        rules.operated(b"m", start, _UNMOVED, None)
        rules.operated(b"l", end, _UNMOVED, None)
        rules.operated(b"S", (), _UNMOVED, None)
    pieces = [
        *(_set("大人", 11, 38), _set("平日", 61, 48), _set("100円", 111, 48)),
        *(_set("休日", 61, 28), _set("200円", 111, 28), _set("子ども", 11, 8), _set("無料", 111, 8)),
    ]
    assert with_ruled_tables(pieces, rules) == [
        [["大人", "平日", "100円"], ["大人", "休日", "200円"], ["子ども", "子ども", "無料"]]
    ]


def test_a_table_that_is_open_at_its_sides_has_its_outer_columns() -> None:
    rules = _ruled([60, 45, 18, 0], [60, 110])
    rules.level = [type(rule)(rule.at, 10, 160) for rule in rules.level]
    assert with_ruled_tables(_CELLS, rules) == [_ROWS]


def test_frames_around_text_and_rules_without_text_are_no_tables() -> None:
    pieces = [_set("枠の中の文。", 11, 30)]
    for rules in (_ruled([60, 0], [10, 160]), _ruled([60, 45, 18, 0], [10, 60, 110, 160]), Rules()):
        assert with_ruled_tables(pieces, rules) == pieces


def test_a_clip_paints_no_rule() -> None:
    rules = Rules()
    rules.operated(b"re", (10, 10, 100, 0.5), _UNMOVED, None)
    rules.operated(b"n", (), _UNMOVED, None)
    rules.operated(b"f", (), _UNMOVED, None)
    assert (rules.level, rules.upright) == ([], [])


def test_a_drawing_of_thousands_of_lines_is_no_table() -> None:
    rules = _ruled(list(range(3_000, 0, -1)), [10, 60, 110, 160])
    assert with_ruled_tables(_CELLS, rules) == _CELLS


def test_a_page_of_a_pdf_has_its_ruled_table_between_bars() -> None:
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    page = writer.add_blank_page(595, 842)
    words = [("Plan", 62, 702), ("Reply within", 122, 702), ("Day", 62, 682), ("4 hours", 122, 682)]
    shown = [f"BT /F 10 Tf {x} {y} Td ({text}) Tj ET" for text, x, y in words]
    rules = [f"60 {y} 140 0.5 re f" for y in (715, 695, 675)] + [f"{x} 675 0.5 40 re f" for x in (60, 120, 200)]
    content = DecodedStreamObject()
    content.set_data("\n".join(["BT /F 10 Tf 60 740 Td (Before it.) Tj ET", *shown, *rules]).encode())
    page[NameObject("/Contents")] = writer._add_object(content)
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    named = DictionaryObject({NameObject(key): NameObject(value) for key, value in font.items()})
    page[NameObject("/Resources")] = DictionaryObject(
        {NameObject("/Font"): DictionaryObject({NameObject("/F"): named})}
    )
    out = io.BytesIO()
    writer.write(out)
    text, _, _ = pdf_text(out.getvalue())
    assert text.splitlines() == [
        *("Before it.", "", "", "| Plan | Reply within |", "|---|---|", "| Day | 4 hours |"),
        *("", ""),
    ]


def test_a_table_goes_on_over_the_end_of_a_page_with_its_header() -> None:
    first = "\n".join(["前。", "", *rows_of(_ROWS), ""])
    pages = [first, "\n| E 31 | 汚れ | 拭く |\n\n後。", "\n| 名 | 値 | 版 |\n|---|---|---|\n| a | b | c |"]
    text = "\n\f".join(as_one_text(pages, recurring([])))
    rows = [block for block in blocks(text) if block.kind is BlockKind.ROW]
    assert [(text[row.start : row.end], row.header) for row in rows[2:]] == [
        ("E 31 | 汚れ | 拭く", "症状 | 原因 | 処置"),
        ("a | b | c", "名 | 値 | 版"),
    ]


def test_a_paragraph_whose_figures_are_set_apart_is_no_table() -> None:
    lines = [
        "目標を達成できなかったとき、 1 回につき年間料金の",
        "20％を次年度の料金から減額する。 30 日以内に請求する",
    ]
    text = "\n".join([*lines, "短い行。"])
    layout = text.replace("、 1", "、   1").replace("。 30", "。   30")
    assert with_tables(text, layout) == text


def test_a_page_that_is_written_from_top_to_bottom_is_read_line_by_line() -> None:
    columns = ("第一条　会員は、会費を毎月", "納める。ただし、子は除く。")
    pieces = [
        Piece("　\n") if character == "　" else _set(f"{character}\n", 700 - 20 * at, 500 - 10 * down)
        for at, column in enumerate(columns)
        for down, character in enumerate(column)
    ]
    assert is_vertical(pieces)
    assert "".join(piece.text for piece in in_lines(pieces)) == "\n".join(columns)


def test_lines_below_one_another_are_not_written_from_top_to_bottom() -> None:
    assert not is_vertical([_set(f"{number} 行目の文", 60, 800 - 12 * number) for number in range(50)])
    assert not is_vertical([_set(str(number % 10), 60, 800 - 12 * number) for number in range(50)])
    assert not is_vertical([_set("字", 60 + 12 * at, 700) for at in range(50)])


def test_a_heading_of_one_column_may_stand_beside_text_of_another() -> None:
    from functions.docqa.documents.formats.pdf_lines import Headings

    left = [Line("本文の行である。", 700 - 12 * at, 10) for at in range(20)]
    right = [Line("設置", 700, 14), *(Line("右の本文の行。", 688 - 12 * at, 10) for at in range(20))]
    found = Headings([left + right]).among(left + right)
    assert [heading.lines for heading in found] == [("設置",)]


def test_a_character_of_a_font_for_symbols_is_a_bullet() -> None:
    from functions.docqa.documents.formats.pdf import page_text

    class _Page:
        def extract_text(self, **_: object) -> str:
            return ""

    lines = [Line("\uf0b7 重大度1：8時間"), Line("\uf06c　重大度2：3日")]
    assert page_text(_Page(), lines) == "- 重大度1：8時間\n- 重大度2：3日"  # type: ignore[arg-type]
