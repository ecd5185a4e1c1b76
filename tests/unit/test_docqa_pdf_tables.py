"""Tables of a PDF, whose cells come as loose lines, are rows with a header again."""

from functools import cache
from pathlib import Path

import pytest

from functions.docqa.documents.formats.pdf import page_text, pdf_text
from functions.docqa.documents.formats.pdf_lines import Line
from functions.docqa.documents.formats.pdf_tables import with_tables

_DATA = Path(__file__).parents[1] / "data"
_LOOSE = """Before.
Item
Limit
Conditions
Glasses for
adults
USD 250
Dental
USD 1,200
after six months;
not for accidents
After it.
"""
_LAYOUT = """Before.

  Item           Limit        Conditions
  Glasses for    USD 250
  adults
                              after six months;
  Dental         USD 1,200    not for accidents

After it.
"""


@cache
def _text(path: str) -> str:
    return pdf_text((_DATA / path).read_bytes())[0]


def test_cells_of_several_lines_and_empty_ones_stand_in_their_rows() -> None:
    assert with_tables(_LOOSE, _LAYOUT).splitlines() == [
        "Before.",
        "",
        "| Item | Limit | Conditions |",
        "|---|---|---|",
        "| Glasses for adults | USD 250 |  |",
        "| Dental | USD 1,200 | after six months; not for accidents |",
        "",
        "After it.",
    ]


def test_the_first_cell_of_a_header_may_be_empty() -> None:
    page = "Models KT-20 and KT-40\n\nKT-20 KT-40\nWeight 900 g 1.2 kg\nLine no yes\n"
    layout = "Models KT-20 and KT-40\n\n          KT-20   KT-40\nWeight    900 g   1.2 kg\nLine      no      yes\n"
    assert with_tables(page, layout).splitlines()[3:] == [
        "|  | KT-20 | KT-40 |",
        "|---|---|---|",
        "| Weight | 900 g | 1.2 kg |",
        "| Line | no | yes |",
        "",
    ]


def test_a_table_whose_first_words_stand_in_the_prose_before_it_is_read() -> None:
    prose = "Each kind of Kite is listed here.\n\n"
    page = prose + "Kite Price Line\nStar EUR 20 30 m\nBox EUR 35 60 m\n"
    layout = prose + "Kite    Price    Line\nStar    EUR 20   30 m\nBox     EUR 35   60 m\n"
    assert "| Box | EUR 35 | 60 m |" in with_tables(page, layout)


def test_a_text_that_does_not_say_the_table_cell_by_cell_is_left_as_it_is() -> None:
    other = _LOOSE.replace("USD 250\nDental", "Dental\nUSD 250")
    assert "| Dental | USD 1,200" not in with_tables(other, _LAYOUT)
    assert with_tables("One\nTwo\n", _LAYOUT) == "One\nTwo\n"


@pytest.mark.parametrize(
    "page",
    [
        "A line of prose that is long enough.\nAnother one follows it here.\n",
        "1. First step\n2. Second step\n",
        "• One thing\n• Another thing\n",
        "a  b  c  " * 100 + "\n" + "d  e  f  " * 100,
        " \n ",
    ],
)
def test_prose_and_lists_are_no_tables(page: str) -> None:
    assert with_tables(page, page.replace(". ", ".   ").replace("• ", "•   ")) == page


def test_two_columns_without_figures_have_no_header() -> None:
    page = "Name\nKiku\nPlace\nMinato\n"
    assert with_tables(page, "Name    Kiku\nPlace   Minato\n") == "\n| Name | Kiku |\n| Place | Minato |\n\n"


def test_a_real_page_has_its_rows_in_english_and_japanese() -> None:
    assert "| Critical | 20 minutes | 24 hours, every day |" in _text("software_house_corpus/sla-enterprise-2025.pdf")
    assert "| 丙 | 味、使い勝手、その他の意見 | 3営業日以内 | 25営業日以内 |" in _text(
        "pharmacy_maker_corpus/kujo-shori-tejunsho.pdf"
    )


def test_a_bullet_that_stands_alone_begins_the_item_below_it() -> None:
    assert "- The recovery point objective is 15 minutes." in _text("software_house_corpus/sla-enterprise-2025.pdf")


class _PageWithoutLayout:
    def extract_text(self, **_: object) -> str:
        raise ZeroDivisionError


def test_a_page_whose_layout_cannot_be_read_keeps_its_text() -> None:
    lines = [Line(text) for text in _LOOSE.split("\n")]
    assert page_text(_PageWithoutLayout(), lines) == _LOOSE  # type: ignore[arg-type]


def test_articles_and_numbered_paragraphs_are_no_cells() -> None:
    page = "第５条 期間は、１年以内とする。\n２ 延長は、一度に限る。\n一 病気のとき\n二 災害のとき\n"
    layout = (
        "第５条   期間は、１年以内とする。\n２       延長は、一度に限る。\n一       病気のとき\n二       災害のとき\n"
    )
    assert with_tables(page, layout) == page
