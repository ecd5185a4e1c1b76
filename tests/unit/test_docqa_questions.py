"""Labelled questions on several corpora: the right answer, from the right document, or none at all."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from msgspec import Struct

from bench.document_questions import EVERYDAY_SETS, HARD_SETS, SETS, counts
from functions.docqa.engine import DocumentQA


class Least(Struct, frozen=True):
    """The shares below which something has been lost."""

    right: float
    cited: float
    abstained: float
    shown: float = 0.0


_SAMPLE = SETS["sample"][0]
# A part of the sets, in which nothing like the others is missing: `make bench` counts them all.
_TESTED = ("sample", "hospital", "plant", "hotel", "club", "payments", "museum", "clinic")
_TESTED_HARD = ("town", "campus", *EVERYDAY_SETS)
# What was reached, so that it is not lost; docs/benchmarks.md says what each set showed at first.
_LEAST = {
    "sample": Least(right=0.97, cited=0.98, abstained=0.97),
    "hospital": Least(right=0.97, cited=0.98, abstained=0.95),
    "cloud": Least(right=0.95, cited=0.95, abstained=0.95),
    "plant": Least(right=0.85, cited=0.95, abstained=0.95),
    "university": Least(right=0.95, cited=0.97, abstained=0.95),
    "hotel": Least(right=0.87, cited=0.95, abstained=0.9),
    "supplier": Least(right=0.92, cited=0.97, abstained=0.95),
    "club": Least(right=0.93, cited=0.97, abstained=0.9),
    "condominium": Least(right=0.95, cited=0.94, abstained=0.8),
    "payments": Least(right=0.93, cited=0.95, abstained=0.85),
    "broadband": Least(right=0.85, cited=0.97, abstained=0.95),
    "museum": Least(right=0.85, cited=0.97, abstained=0.8),
    "bank": Least(right=0.92, cited=0.95, abstained=0.95),
    "clinic": Least(right=0.87, cited=0.95, abstained=0.85),
}
_LEAST_OF_HARD = {
    "retailer": Least(right=0.35, cited=0.8, shown=0.7, abstained=0.75),
    "town": Least(right=0.4, cited=0.85, shown=0.7, abstained=0.85),
    "software_house": Least(right=0.45, cited=0.9, shown=0.7, abstained=0.9),
    "pharmacy_maker": Least(right=0.35, cited=0.8, shown=0.65, abstained=0.75),
    "saas_support": Least(right=0.53, cited=0.85, shown=0.7, abstained=0.85),
    "campus": Least(right=0.57, cited=0.95, shown=0.8, abstained=0.95),
    "insurance": Least(right=0.51, cited=0.88, shown=0.75, abstained=0.85),
    "logistics": Least(right=0.51, cited=0.88, shown=0.75, abstained=0.85),
}

_LEAST_OF_EVERYDAY = {
    "everyday": Least(right=0.75, cited=0.97, shown=0.91, abstained=0.97),
    "everyday, kept aside": Least(right=0.65, cited=0.93, shown=0.86, abstained=0.9),
}


@pytest.mark.parametrize("name", _TESTED)
def test_nearly_all_questions_get_the_right_answer_or_none(name: str) -> None:
    counted, least = counts(*SETS[name]), _LEAST[name]
    found = counted.shares
    assert found.right >= least.right, counted.wrong
    assert found.cited >= least.cited, counted.wrong
    assert found.abstained >= least.abstained, counted.wrong


@pytest.mark.parametrize("name", _TESTED_HARD)
def test_of_hard_or_everyday_questions_most_are_answered_or_shown_what_is_near(name: str) -> None:
    counted = counts(*{**HARD_SETS, **EVERYDAY_SETS}[name])
    least = {**_LEAST_OF_HARD, **_LEAST_OF_EVERYDAY}[name]
    found = counted.shares
    assert found.right >= least.right, counted.wrong
    assert found.cited >= least.cited, counted.wrong
    assert found.shown >= least.shown, counted.wrong
    assert found.abstained >= least.abstained, counted.wrong


@pytest.fixture(scope="module")
def sample() -> Iterator[DocumentQA]:
    with closing(DocumentQA.open(_SAMPLE, None)) as engine:
        yield engine


def test_the_deadline_for_p1_comes_from_the_policy_in_force(sample: DocumentQA) -> None:
    answer = sample.answer("What is the deadline for notifying the infrastructure team for a P-1 incident?")
    assert answer.grounded
    assert "within 15 minutes of incident detection" in answer.citations[0].quote
    assert answer.citations[0].uri == "corpus:policies/incident-response-policy.md"
    assert answer.text == f"{answer.citations[0].quote} [1]"


def test_the_same_question_in_japanese_is_answered_from_the_japanese_policy(sample: DocumentQA) -> None:
    answer = sample.answer("P-1 インシデントでインフラチームへ連絡する期限は?")
    assert "検知から15分以内" in answer.citations[0].quote
    assert answer.citations[0].uri.isascii()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how soon must infrastructure be told about a p1 incident", "within 15 minutes"),
        ("Ｐ－１インシデントの際、インフラチームへの連絡期限は何分以内ですか", "15分以内"),
        ("When do I have to inform the infra team about a Priority 2 incident?", "within 60 minutes"),
        ("重大度P-3の連絡期限は?", "翌営業日の終業まで"),
    ],
)
def test_other_spellings_of_an_entity_are_the_same_entity(sample: DocumentQA, question: str, expected: str) -> None:
    assert expected in sample.answer(question).citations[0].quote


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What is the deadline for notifying the infrastructure team?",
            ["15 minutes", "60 minutes", "next business day"],
        ),
        ("インシデント発生時、インフラチームへの連絡期限は?", ["15分以内", "60分以内", "翌営業日"]),
    ],
)
def test_a_question_that_leaves_the_severity_open_is_answered_for_each(
    sample: DocumentQA, question: str, expected: list[str]
) -> None:
    answer = sample.answer(question)
    assert len(answer.citations) == len(expected)
    assert all(part in citation.quote for part, citation in zip(expected, answer.citations, strict=True))
    assert all(f"P-{number}" in answer.text for number in (1, 2, 3))


def test_an_exception_is_told_with_its_rule(sample: DocumentQA) -> None:
    answer = sample.answer("有給休暇はいつまでに申請すればよいですか")
    assert [citation.quote[:2] for citation in answer.citations] == ["年次", "ただ"]
    assert "[1]" in answer.text
    assert "[2]" in answer.text


def test_an_instruction_in_a_document_is_not_an_answer(sample: DocumentQA) -> None:
    answer = sample.answer("Are USB sticks allowed for everybody without approval?")
    assert "gnore all previous" not in answer.text


def test_a_table_row_is_led_by_the_cell_that_answers(sample: DocumentQA) -> None:
    answer = sample.answer("How long are backups of the customer database kept?")
    assert answer.text.startswith("Kept for: 35 days")
    assert answer.citations[0].quote == "Customer database | every 6 hours | 35 days | 2 hours"


def test_a_superseded_rule_is_told_only_with_a_warning(sample: DocumentQA) -> None:
    answer = sample.answer("In the 2024 policy, how soon was the infrastructure team notified of a P-1 incident?")
    assert answer.text.startswith("From a version that is no longer in force")


def test_an_answer_in_the_other_language_says_so(sample: DocumentQA) -> None:
    answer = sample.answer("顧客データベースのバックアップは何日間保存されますか?")
    assert answer.text.startswith("英語の文書に")


def test_an_abstention_speaks_the_language_of_the_question(sample: DocumentQA) -> None:
    assert "控えます" in sample.answer("火星への出張手当はいくらですか?").text
    assert "no passage" in sample.answer("What is the allowance for a trip to Mars?").text
    assert "控えます" in sample.answer("What is the allowance for a trip to Mars?", language="ja").text


@pytest.mark.parametrize("question", ["", "   ", "?", "the of and", '" OR * NEAR(', "\x00", "はい"])
def test_a_question_that_asks_nothing_is_not_answered(sample: DocumentQA, question: str) -> None:
    assert not sample.answer(question).grounded
