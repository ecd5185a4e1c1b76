"""Hostile files cost a bounded amount, and each is named with the reason why it is not read."""

import io
import zipfile
import zlib
from pathlib import Path

import pytest

from functions.docqa.ingestion.blocks import Unreadable
from functions.docqa.ingestion.child import read_all
from functions.docqa.ingestion.files import corpus_files, read_bytes, unread
from functions.docqa.ingestion.reader import read
from functions.docqa.model import Document, Skipped, UnitKind


def pdf(pages: list[bytes]) -> bytes:
    """Return a PDF with these content streams; equal ones are shared."""
    objects = {1: b"<</Type/Catalog/Pages 2 0 R>>", 3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}
    streams: dict[bytes, int] = {}
    kids = []
    for page in pages:
        if page not in streams:
            streams[page] = max(objects) + 1
            packed = zlib.compress(page)
            objects[streams[page]] = b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed)
        kids.append(max(objects) + 1)
        objects[kids[-1]] = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>"
            % streams[page]
        )
    objects[2] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    out, places = b"%PDF-1.4\n", []
    for number, body in sorted(objects.items()):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(out))
    return out + b"xref\n0 %d\n%s%s" % (len(objects) + 1, table, end)


def shown(y: int, text: str, size: int = 10, x: int = 50) -> bytes:
    return b"BT /F %d Tf %d %d Td (%s) Tj ET\n" % (size, x, y, text.encode())


def zipped(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
    return out.getvalue()


def result(name: str, content: bytes) -> Document | Skipped:
    (only,) = read_all([(name, f"corpus:{name}", content)])
    return only


def drawn_table(heights: list[int], rows: list[tuple[str, ...]]) -> bytes:
    """Return a table with a rule at each height, its texts at the top of their rows."""
    sides = range(50, 51 + 100 * len(rows[0]), 100)
    level = (b"50 %d m %d %d l S\n" % (y, sides[-1], y) for y in heights)
    upright = (b"%d %d m %d %d l S\n" % (x, heights[-1], x, heights[0]) for x in sides)
    cells = (
        shown(top - 15, text, x=side + 5)
        for top, row in zip(heights, rows, strict=False)
        for side, text in zip(sides, row, strict=False)
    )
    return b"".join((*level, *upright, *cells))


def test_running_heads_of_two_pages_are_dropped_and_tables_read() -> None:
    table = drawn_table([660, 640, 620], [("Grade", "Fee"), ("Grade 1", "45 EUR")])
    first = (
        shown(780, "ACME Rules 7, page 1 of 2")
        + shown(740, "Travel rules", 20)
        + shown(700, "Fees are paid in June.")
        + table
    )
    second = shown(780, "ACME Rules 7, page 2 of 2") + shown(700, "Exceptions need consent.")
    document = read("a.pdf", "corpus:a", pdf([first, second]))
    found = [unit for passage in document.passages for unit in passage.units]
    assert document.title == "Travel rules"
    assert [unit.text for unit in found] == [
        "Fees are paid in June.",
        "Grade 1 | 45 EUR",
        "Exceptions need consent.",
    ]
    assert found[1].header == "Grade | Fee"
    assert document.page_starts[1] <= found[-1].start


def test_the_rows_of_a_table_keep_their_header_below_tall_rows_and_on_the_next_page() -> None:
    names, rows = ("Product", "Guarantee"), [("Crown", "5 years"), ("Bridge", "3 years"), ("Denture", "2 years")]
    first = shown(780, "Terms of supply", 20) + shown(700, "The guarantee:")
    first += drawn_table([660, 640, 600, 580, 560], [names, *rows])
    second = drawn_table([760, 740, 720], [("Guard", "6 months"), ("Splint", "4 months")]) + shown(
        600, "It ends with abuse."
    )
    third = shown(780, "Fees and more", 20) + drawn_table([760, 740, 720], [("Kind", "Fee"), ("Repair", "900 yen")])
    document = read("a.pdf", "corpus:a", pdf([first, second, third]))
    found = [unit for passage in document.passages for unit in passage.units if unit.kind is UnitKind.ROW]
    assert [(unit.text, unit.header) for unit in found] == [
        *((f"{product} | {years}", "Product | Guarantee") for product, years in rows),
        ("Guard | 6 months", "Product | Guarantee"),
        ("Splint | 4 months", "Product | Guarantee"),
        ("Repair | 900 yen", "Kind | Fee"),
    ]


def test_a_table_at_the_top_of_a_page_is_another_if_its_header_has_figures_of_its_own() -> None:
    first = shown(780, "Port fees", 20) + shown(700, "Mooring:")
    first += drawn_table(
        [660, 640, 620, 600], [("Length", "2025", "2026"), ("6 m", "100", "110"), ("8 m", "150", "160")]
    )
    second = drawn_table([760, 740, 720, 700], [("9 m", "170", "180"), ("10 m", "190", "200"), ("12 m", "210", "220")])
    third = drawn_table(
        [760, 740, 720, 700], [("Crane", "1-3 days", "4-7 days"), ("small", "20", "25"), ("big", "40", "45")]
    )
    document = read("a.pdf", "corpus:a", pdf([first, second, third]))
    found = [unit for passage in document.passages for unit in passage.units if unit.kind is UnitKind.ROW]
    pages = [sum(start <= unit.start for start in document.page_starts) for unit in found]
    assert [(unit.text, unit.header, page) for unit, page in zip(found, pages, strict=True)] == [
        ("6 m | 100 | 110", "Length | 2025 | 2026", 1),
        ("8 m | 150 | 160", "Length | 2025 | 2026", 1),
        ("9 m | 170 | 180", "Length | 2025 | 2026", 2),
        ("10 m | 190 | 200", "Length | 2025 | 2026", 2),
        ("12 m | 210 | 220", "Length | 2025 | 2026", 2),
        ("small | 20 | 25", "Crane | 1-3 days | 4-7 days", 3),
        ("big | 40 | 45", "Crane | 1-3 days | 4-7 days", 3),
    ]
    assert [unit.context for unit in found[-2:]] == [(), ()]


def test_a_table_on_a_page_that_is_turned_has_its_rows() -> None:
    turned = b"0 1 -1 0 600 0 cm\n" + shown(540, "Terms") + shown(500, "The doors are locked by the guards at night.")
    turned += drawn_table([460, 440, 420, 400], [("Item", "Fee"), ("Key", "5 EUR"), ("Card", "9 EUR")])
    content = pdf([turned]).replace(b"/Type/Page/", b"/Type/Page/Rotate 90/")
    found = [unit for passage in read("a.pdf", "corpus:a", content).passages for unit in passage.units]
    assert [(unit.text, unit.header) for unit in found] == [
        ("The doors are locked by the guards at night.", ""),
        ("Key | 5 EUR", "Item | Fee"),
        ("Card | 9 EUR", "Item | Fee"),
    ]


def test_a_raised_figure_is_no_digit_of_the_number_before_it() -> None:
    raised = b"BT /F 10 Tf 50 700 Td (The fee is 50) Tj /F 6 Tf 5 Ts (1) Tj /F 10 Tf 0 Ts ( EUR for 25 m) Tj /F 6 Tf 5 Ts (2) Tj"
    content = pdf([shown(780, "Terms", 20) + raised + b" /F 10 Tf 0 Ts (.) Tj ET\n" + shown(650, "It is due at once.")])
    found = [unit.text for passage in read("a.pdf", "corpus:a", content).passages for unit in passage.units]
    assert found == ["The fee is 50¹ EUR for 25 m².", "It is due at once."]


def test_pages_of_images_are_said_to_be_left_out() -> None:
    image = b"q 500 0 0 500 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI Q"
    document = read("a.pdf", "corpus:a", pdf([shown(700, "The contract is attached."), image, b"q Q", image]))
    assert document.left_out == "images without text, which need text recognition, on pages 2, 4"


def test_a_word_that_a_hyphen_divides_is_whole() -> None:
    lines = (
        "Interns bring the form with the name P-",
        "7 or a copy of it to the person-",
        "nel office on their first day.",
    )
    text = b"".join(shown(700 - 12 * at, line) for at, line in enumerate(lines))
    document = read("a.pdf", "corpus:a", pdf([shown(780, "Interns", 20) + text]))
    expected = "Interns bring the form with the name P-7 or a copy of it to the personnel office on their first day."
    assert document.passages[0].units[0].text == expected


def test_what_is_cut_off_a_page_is_no_evidence_also_if_the_page_is_turned() -> None:
    content = pdf(
        [shown(700, "The fee is 50 EUR.") + shown(-40, "It was 40 EUR.") + shown(600, "It was 30 EUR.", x=650)]
    )
    for turned in (b"", b"/Rotate 90", b"/Rotate 180", b"/Rotate 270"):
        document = read("a.pdf", "corpus:a", content.replace(b"/MediaBox", turned + b"/MediaBox"))
        assert [unit.text for passage in document.passages for unit in passage.units] == ["The fee is 50 EUR."]


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (b"/Subtype/Widget/FT/Tx/T(n)/V(Ada)", "values of forms and text in annotations on pages 1"),
        (b"/Subtype/FreeText/Contents(Ada)", "values of forms and text in annotations on pages 1"),
        (b"/Subtype/Widget/FT/Tx/T(n)/V()", ""),
        (b"/Subtype/Link/Contents(Ada)", ""),
    ],
)
def test_what_is_filled_into_a_form_is_said_to_be_left_out(annotation: bytes, reason: str) -> None:
    annots = b"/Annots[<</Type/Annot/Rect[10 10 90 30]%s>>]/MediaBox" % annotation
    content = pdf([shown(700, "The name of who asks:")]).replace(b"/MediaBox", annots)
    assert read("a.pdf", "corpus:a", content).left_out == reason


def test_a_page_that_is_there_twice_is_no_running_head() -> None:
    document = read("a.pdf", "corpus:a", pdf([shown(700, "The gate is opened at seven every morning.")] * 2))
    assert document.passages[0].units[0].text == "The gate is opened at seven every morning."


def test_a_header_that_is_repeated_on_the_next_page_is_no_row() -> None:
    names = ("Product", "Guarantee")
    first = shown(780, "Terms", 20) + drawn_table([660, 640, 620], [names, ("Crown", "5 years")])
    second = drawn_table([760, 740, 720], [names, ("Guard", "6 months")])
    document = read("a.pdf", "corpus:a", pdf([first, second]))
    found = [(unit.text, unit.header) for passage in document.passages for unit in passage.units]
    assert found == [("Crown | 5 years", "Product | Guarantee"), ("Guard | 6 months", "Product | Guarantee")]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.doc", b"x", "not read"),
        ("a.txt", b"a\0b", "binary"),
        ("a.txt", b" \n", "no text"),
        ("a.pdf", b"%PDF-1.4 nothing", "damaged PDF"),
        ("a.pdf", pdf([b"q Q"] * 3_100), "3100 pages"),
        ("a.docx", b"PK no archive", "damaged archive"),
        ("a.docx", b"\xd0\xcf\x11\xe0 old", "password"),
        (
            "a.docx",
            zipped("word/document.xml", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'),
            "document type definition",
        ),
        ("a.xlsx", zipped("xl/workbook.xml", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), "document type definition"),
        ("a.xlsx", zipped("xl/workbook.xml", b"<a/>"), "damaged workbook"),
        ("a.docx", zipped("word/document.xml", b"<sdt>" * 3_000 + b"</sdt>" * 3_000), "no Word document"),
        ("a.csv", b"," * 2_100_000 + b"\nx", "cells"),
        ("a.eml", b"hello", "no mail"),
    ],
)
def test_what_is_not_read_is_named_with_the_reason(name: str, content: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(name, "corpus:a", content)


def test_an_archive_that_is_too_large_when_unpacked_is_not_read() -> None:
    content = zipped("word/document.xml", b"<a>" + b" " * 210_000_000)
    with pytest.raises(Unreadable, match="when unpacked"):
        read("a.docx", "corpus:a", content)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("spaces.txt", b"a" + b" " * 1_000_000 + b"b\n" + b"x  y " * 50_000),
        ("aligned.txt", b"".join(b"aa  bb%s  cc\n" % (b" " * (at % 7)) for at in range(20_000))),
        ("brackets.txt", "（".encode() * 200_000),
        ("bars.txt", b"|" * 500_000 + b"\n| a | b |" * 5_000),
        ("links.md", b"[" * 20_000 + b"\n\n" + b"*a_ " * 20_000),
        ("span.html", b"<table>" + b"<tr><td rowspan=99999 colspan=99999>x</td><td>y</td></tr>" * 500 + b"</table>"),
        ("deep.html", b"<div>" * 5_000 + b"Hello world."),
        ("leaders.txt", b"a" + b". " * 100_000 + b"\n" + b"a ..... b\n" * 5_000),
        ("quoted.eml", b"From: a@b.c\nSubject: x\n\n" + "2026年 March the 1st <".encode() + b"@" * 200_000 + b"\n"),
    ],
)
def test_hostile_text_is_read_in_linear_time(name: str, content: bytes) -> None:
    assert isinstance(result(name, content), Document)


def test_one_file_that_ends_the_child_takes_no_other_with_it() -> None:
    bomb = pdf([shown(700, "over and over again") * 3_000_000])
    files = [("a.txt", "corpus:a", b"First one."), ("bomb.pdf", "corpus:b", bomb), ("c.txt", "corpus:c", b"Last one.")]
    found = list(read_all(files))
    assert [type(each) for each in found] == [Document, Skipped, Document]


def test_a_file_that_takes_too_long_is_skipped() -> None:
    slow = b"Hello *world* of text.\n\n" * 400_000
    found = list(read_all([("slow.md", "corpus:s", slow), ("a.txt", "corpus:a", b"One.")], wall_seconds=3.0))
    assert isinstance(found[0], Skipped)
    assert "time" in found[0].reason
    assert isinstance(found[1], Document)


def test_every_file_of_a_folder_is_read_or_named(tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("Secret.")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in ("a.txt", "b.doc", "c.png", "~$a.docx", ".hidden"):
        (corpus / name).write_text("x")
    (corpus / "link.txt").symlink_to(outside)
    names = [name for name, _ in corpus_files(corpus)]
    assert names == ["a.txt", "b.doc", "c.png", "link.txt"]
    assert [unread(name) and unread(name).reason for name in names[:3]] == [  # type: ignore[union-attr]
        None,
        "this kind of file (.doc) is not read; save it as .docx",
        "this kind of file (.png) is not read",
    ]
    with pytest.raises(Unreadable, match="out of the folder"):
        read_bytes(corpus / "link.txt", corpus_dir=corpus)


def test_a_footer_that_is_drawn_first_is_no_title() -> None:
    page = [shown(30, "Ambulance guide"), shown(30, "1", x=500), shown(740, "Calling an ambulance", 18)]
    page += [shown(700, "One person may ride along."), shown(680, "The crew chooses the hospital.")]
    document = read("a.pdf", "corpus:a", pdf([b"".join(page)]))
    assert document.title == "Calling an ambulance"
    assert document.text.endswith("Ambulance guide 1")
