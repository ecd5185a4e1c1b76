"""The reader of PDFs, on pages that are written line by line."""

from itertools import pairwise

from functions.docqa.ingestion.child import read_all
from functions.docqa.ingestion.formats.pdf_tables import PlacedLine, Rule, Word, with_tables
from functions.docqa.ingestion.reader import read
from functions.docqa.model import Document, Standing, UnitKind
from tests.unit.reader_files import pdf, units


def test_a_heading_over_two_lines_is_one() -> None:
    document = read(
        "news.pdf",
        "corpus:news.pdf",
        pdf(
            (22, 60, 780, "Mountain Rescue"),
            (22, 60, 754, "Newsletter"),
            (14, 60, 720, "Membership fees"),
            (10, 60, 700, "The annual fee for full members is 48 pounds, payable by"),
            (10, 60, 688, "the end of January each year without a reminder by post,"),
            (10, 60, 676, "and associates pay half of it."),
        ),
    )
    assert document.title == "Mountain Rescue Newsletter"
    assert [passage.section for passage in document.passages] == [("Membership fees",)]
    assert len(units(document)) == 1


def test_a_column_beside_a_table_is_no_part_of_it() -> None:
    own = [(60, 230, top, top) for top in (715, 695, 675)] + [(x, x, 675, 715) for x in (60, 150, 230)]
    beside = [(300, 500, top, top) for top in (770, 745, 720)] + [(x, x, 720, 770) for x in (300, 400, 500)]
    content = pdf(
        (10, 60, 755, "The alarm is set within 90 seconds after"),
        (10, 60, 743, "the last person has gone."),
        (10, 64, 700, "Thing"),
        (10, 154, 700, "Kept"),
        (10, 64, 680, "Keys"),
        (10, 154, 680, "3 days"),
        (10, 304, 752, "Branch"),
        (10, 404, 752, "Seats"),
        (10, 304, 728, "Central"),
        (10, 404, 728, "40"),
        rules=[(left, bottom, right, top) for left, right, bottom, top in own + beside],
    )
    found = [unit.text for unit in units(read("desk.pdf", "corpus:desk.pdf", content))]
    assert found == [
        "The alarm is set within 90 seconds after the last person has gone.",
        "Keys | 3 days",
        "Central | 40",
    ]


def test_the_foot_of_the_only_page_tells_the_edition() -> None:
    content = pdf(
        (16, 60, 780, "Prices"),
        (10, 60, 740, "A locker costs five euros."),
        (8, 60, 40, "AL-3 | in force from 1 January 2027"),
    )
    edition = read("prices.pdf", "corpus:prices.pdf", content).edition
    assert (edition.standing, edition.effective) == (Standing.CURRENT, "2027-01-01")


def test_characters_that_utf_16_writes_in_two_halves_are_read() -> None:
    content = pdf((10, 60, 780, "A is the first kanji of this name."), of_a="d842dfb7")
    (document,) = read_all([("a.pdf", "corpus:a.pdf", content)])
    assert isinstance(document, Document)
    assert [unit.text for unit in units(document)] == ["𠮷 is the first kanji of this name."]


def test_a_file_that_pypdf_cannot_read_is_read_without_the_characters_that_are_missing() -> None:
    content = pdf((10, 60, 780, "It is quiet."), (0, 60, 760, "x"))
    document = read("a.pdf", "corpus:a.pdf", content)
    assert [unit.text for unit in units(document)] == ["It is quiet."]
    assert document.left_out == "single characters of fonts that are not in the file"


def test_a_table_whose_rules_are_drawn_cell_by_cell_has_a_header_of_two_rows_and_no_running_head() -> None:
    sides, tops = (60, 120, 200, 280), (760, 740, 720, 700)
    rules = [(x, x, below, above) for above, below in pairwise(tops) for x in sides]
    rules += [(left, right, top, top) for left, right in pairwise(sides) for top in tops]
    rules.remove((200, 200, 740, 760))  # one name over two columns,
    rules.remove((60, 120, 740, 740))  # and one over two rows
    content = pdf(
        *[(10, 62, 737, "Level"), (10, 150, 747, "By day"), (10, 122, 727, "People"), (10, 202, 727, "Leader")],
        *[(10, 62, 707, "3"), (10, 122, 707, "6"), (10, 202, 707, "Ada")],
        (8, 40, 733, "Print works and packaging, page one of them"),
        rules=[(left, bottom, right, top) for left, right, bottom, top in rules],
    )
    (row,) = [unit for unit in units(read("a.pdf", "corpus:a", content)) if unit.kind is UnitKind.ROW]
    assert (row.text, row.header) == ("3 | 6 | Ada", "Level | By day / People | By day / Leader")


def test_a_grid_that_is_one_path_is_a_table_and_the_title_drawn_after_it_heads_it() -> None:
    cells = [(10, 62, 737, "Course"), (10, 122, 737, "Seats"), (10, 62, 717, "Sewing"), (10, 122, 717, "12")]
    lines = [(left, right, top, top) for left, right in ((60, 120), (120, 200)) for top in (750, 730, 710)]
    lines += [(x, x, 710, 750) for x in (60, 200)]
    grid = "\n".join(f"{left} {bottom} m {right} {top} l" for left, right, bottom, top in lines)
    grid += "\n119.4 730 m 119.4 750 l\n120 710 m 120 730 l\nS"
    document = read("a.pdf", "corpus:a", pdf(*cells, (12, 70, 790, "Evening classes"), drawn=grid))
    assert document.title == "Evening classes"
    assert [(unit.text, unit.header) for unit in units(document)] == [("Sewing | 12", "Course | Seats")]


def test_the_header_that_every_page_repeats_is_no_running_head() -> None:
    rules = [Rule(x, 700, 750, level=False) for x in (60, 140, 220)]
    rules += [Rule(y, 60, 220, level=True) for y in (700, 725, 750)]

    def line(y: float, *words: tuple[str, float]) -> PlacedLine:
        return PlacedLine(" ".join(word for word, _ in words), [Word(word, x, x + 30, y) for word, x in words], y, 10)

    lines = [
        line(780, ("Tramways", 60)),
        line(737, ("Depot", 62), ("Trams", 142)),
        line(712, ("North", 62), ("14", 142)),
    ]
    placed = with_tables(lines, rules, first_table=1, without=[True, True, False])
    assert [each.row for each in placed] == [("Depot", "Trams"), ("North", "14")]
    assert with_tables(lines[:2], rules, first_table=1, without=[True, True]) == []


def test_a_paragraph_that_begins_in_bold_has_no_heading_in_its_first_line() -> None:
    drawn = "BT /F2 10 Tf 60 700 Td (Guest) Tj /F1 10 Tf ( means a person whom a member has invited and who) Tj ET"
    content = pdf(
        (10, 60, 740, "Rules"), (10, 60, 688, "has signed the book in the hall on the same day."), drawn=drawn
    )
    assert units(read("a.pdf", "corpus:a", content))[-1].text.startswith(
        "Guest means a person whom a member has invited"
    )


def test_numbered_paragraphs_are_no_table() -> None:
    said = ("Members pay by the end of May.", "Guests pay at the door.", "Children pay nothing at all.")
    lines = [
        each
        for at, text in enumerate(said)
        for each in ((10, 60, 700 - 20 * at, f"({at + 1})"), (10, 90, 700 - 20 * at, text))
    ]
    assert {unit.kind for unit in units(read("a.pdf", "corpus:a", pdf(*lines)))} & {UnitKind.ROW} == set()
