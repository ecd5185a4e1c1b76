"""Bylaws, contracts and policies in English: their sections, clauses and lettered items."""

import pytest

from functions.docqa.documents.passages import passages
from functions.docqa.documents.sources import document_from
from functions.docqa.model import Passage, Unit


def _passages(text: str) -> list[Passage]:
    return list(passages(document_from("a.txt", "corpus:a.txt", text.encode())))


def _unit(text: str, begins: str) -> Unit:
    return next(unit for passage in _passages(text) for unit in passage.units if unit.text.startswith(begins))


def test_a_section_sign_with_a_title_heads_its_section_without_blank_lines() -> None:
    text = (
        "§ 6-1. Dogs. [Added 5-2-2024]\nDogs are led.\n§ 6-2. Cats.\nCats may run free under § 6-1, where\n"
        "§ 7 of the Act allows it.\n"
    )
    assert [passage.section for passage in _passages(text)] == [
        ("§ 6-1. Dogs. [Added 5-2-2024]",),
        ("§ 6-2. Cats.",),
    ]


@pytest.mark.parametrize("name", ["Section 2:", "SECTION 2.", "Rule 2.1", "4.2"])
def test_a_numbered_clause_begins_a_block_of_its_own(name: str) -> None:
    clause = f"{name} No dog may be left alone in a car while it is hot outside."
    text = f"Section 1: Dogs are led on a leash within the town at all times\n{clause}\n"
    assert _unit(text, name).text == clause


def test_a_clause_that_announces_items_introduces_them_and_is_no_heading() -> None:
    text = "Section 5: The yearly report shall contain:\n\n(a) All fees paid.\n(b) All fines,\nwhoever paid them.\n"
    fines = _unit(text, "All fines")
    assert fines.text == "All fines,\nwhoever paid them."
    assert fines.context == ("Section 5: The yearly report shall contain:",)


def test_a_line_that_runs_on_is_no_heading() -> None:
    text = "Section 6: The board may name some member of the\nbar as its solicitor for a year.\n"
    assert [passage.section for passage in _passages(text)] == [()]


def test_lettered_items_belong_to_the_numbered_ones_and_those_to_capitals() -> None:
    text = (
        "A. Whoever owns a dog pays a fee for each year that has begun.\n(1) The fee is 20 dollars.\n"
        "(a) It is halved for guide dogs.\n(2) It is paid in April.\n"
    )
    assert [context.split(" ")[0] for context in _unit(text, "It is halved").context] == ["The", "Whoever"]
    assert [context.split(" ")[0] for context in _unit(text, "It is paid").context] == ["Whoever"]


def test_a_capital_before_a_short_title_is_no_item() -> None:
    assert [passage.section for passage in _passages("A. Fees\n\nThe fee for a dog is 20 dollars for a year.\n")] == [
        ("A. Fees",)
    ]
