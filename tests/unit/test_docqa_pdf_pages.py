"""The pages of a PDF as readers see them: headings, paragraphs, running heads and divided words."""

import io

import pytest

from functions.docqa.documents.formats.pdf import pdf_text
from functions.docqa.documents.formats.pdf_pages import as_one_text, recurring
from functions.docqa.documents.passages import passages
from functions.docqa.documents.sources import document_from

_STEP = 14
_Set = tuple[str, int, int, str]  # font, size, y, text


def _pdf(*pages: list[_Set]) -> bytes:
    """A PDF with these lines; the fonts are "Helvetica" and "Helvetica-Bold"."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    for lines in pages:
        page = writer.add_blank_page(595, 842)
        content = DecodedStreamObject()
        shown = (
            f"BT /{'B' if font.endswith('Bold') else 'R'} {size} Tf 60 {y} Td ({text}) Tj ET"
            for font, size, y, text in lines
        )
        content.set_data("\n".join(shown).encode("latin-1"))
        page[NameObject("/Contents")] = writer._add_object(content)
        fonts = {
            NameObject(f"/{name}"): DictionaryObject(
                {
                    NameObject("/Type"): NameObject("/Font"),
                    NameObject("/Subtype"): NameObject("/Type1"),
                    NameObject("/BaseFont"): NameObject(f"/{font}"),
                }
            )
            for name, font in (("R", "Helvetica"), ("B", "Helvetica-Bold"))
        }
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): DictionaryObject(fonts)})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _body(first: int, *texts: str) -> list[_Set]:
    return [("Helvetica", 10, first - number * _STEP, text) for number, text in enumerate(texts)]


_RULES = _pdf(
    [
        ("Helvetica-Bold", 16, 800, "Bicycle rules"),
        *_body(
            770,
            "Bicycles stand in the shed behind the north gate, where they are locked.",
            "Nobody rides there.",
        ),
        ("Helvetica-Bold", 10, 720, "Who pays for repairs?"),
        *_body(
            700,
            "The company pays for repairs of its own bicycles, and for the lights of all.",
            "It does so by May.",
        ),
        *_body(660, "Tyres are paid for by their owners, whoever they may be and wherever they ride."),
    ]
)


def test_larger_and_bolder_lines_are_headings_of_their_levels() -> None:
    found = list(passages(document_from("a.pdf", "corpus:a.pdf", _RULES)))
    assert [passage.section for passage in found] == [
        ("Bicycle rules",),
        ("Bicycle rules", "Who pays for repairs?"),
    ]


def test_a_wider_gap_ends_a_paragraph() -> None:
    assert "It does so by May.\n\nTyres are paid for" in pdf_text(_RULES)[0]


def test_where_all_is_bold_or_in_one_line_with_other_text_nothing_is_a_heading() -> None:
    bold = [("Helvetica-Bold", 10, 700 - 14 * at, f"Rule {at} holds for all riders") for at in range(9)]
    beside = [
        *_body(700, "Rides are free for all who work here and their guests, too."),
        ("Helvetica-Bold", 10, 700, "Note"),
    ]
    for page in (bold, beside):
        assert "#" not in pdf_text(_pdf(page))[0]


def test_a_heading_of_two_lines_is_one() -> None:
    page = [
        ("Helvetica-Bold", 14, 800, "How bicycles are lent"),
        ("Helvetica-Bold", 14, 784, "to guests"),
        *_body(750, "Guests sign the list at the gate, and give the key back there before they leave."),
    ]
    assert "## How bicycles are lent to guests\n" in pdf_text(_pdf(page))[0]


def test_bold_lines_that_are_part_of_a_sentence_are_no_headings() -> None:
    page = [
        *_body(800, "Guests sign the list at the gate, and give the key back there before they leave."),
        ("Helvetica-Bold", 10, 770, "Who loses a key pays for a new lock, for its keys,"),
        ("Helvetica-Bold", 10, 756, "and for the work."),
        *_body(730, "The keeper of the gate has a list of all keys, and knows who has which of them."),
    ]
    assert "#" not in pdf_text(_pdf(page))[0]


def _numbered(*pages: list[str]) -> list[str]:
    return as_one_text(["\n".join(page) for page in pages], recurring(pages))


def test_running_heads_and_page_numbers_are_no_text_and_a_sentence_goes_on_behind_them() -> None:
    head = ["Town of Minato", "Bylaws, as of 1 May"]
    first, second, third = _numbered(
        [*head, "No dog may be left alone in a", "1"],
        [*head, "car.", "2"],
        [*head, "Bells ring at noon.", "3"],
    )
    assert first == "Town of Minato\nBylaws, as of 1 May\nNo dog may be left alone in a"
    assert (second, third) == ("car.\n", "Bells ring at noon.\n")


def test_what_stands_between_two_running_lines_goes_with_them() -> None:
    pages = [
        [f"{kind} are led.", "Town of Minato", f"On {kind}", f"Page {number} of 9"]
        for number, kind in enumerate(("Dogs", "Cats", "Cows"), start=1)
    ]
    assert _numbered(*pages) == ["Dogs are led.\n", "Cats are led.\n", "Cows are led.\n"]


@pytest.mark.parametrize("line", ["| 1 | 2 |", "Dogs are led."])
def test_rows_and_lines_within_a_page_stay(line: str) -> None:
    pages = [[f"Page begins with {word}.", line, f"It ends with {word}."] for word in ("a", "b", "c")]
    assert all(line in page for page in _numbered(*pages))


def test_words_are_whole_again_and_compounds_keep_their_hyphens() -> None:
    page = "We recog-\nnise what is approved, and what is pre-\napproved, and charac\u00ad\nter."
    assert _numbered([page]) == ["We recognise what is approved, and what is pre-approved, and character.\n"]
