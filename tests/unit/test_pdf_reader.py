"""The reader of PDFs, on pages that are written line by line."""

from functions.docqa.ingestion.reader import read
from tests.unit.reader_files import pdf, units


def test_a_heading_over_two_lines_is_one() -> None:
    document = read(
        "news.pdf",
        "corpus:news.pdf",
        pdf(
            (22, 780, "Mountain Rescue"),
            (22, 754, "Newsletter"),
            (14, 720, "Membership fees"),
            (10, 700, "The annual fee for full members is 48 pounds, payable by"),
            (10, 688, "the end of January each year without a reminder by post,"),
            (10, 676, "and associates pay half of it."),
        ),
    )
    assert document.title == "Mountain Rescue Newsletter"
    assert [passage.section for passage in document.passages] == [("Membership fees",)]
    assert len(units(document)) == 1
