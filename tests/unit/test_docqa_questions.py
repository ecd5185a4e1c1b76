"""Labelled questions on three corpora: the right answer, from the right document, or none at all."""

import csv
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

import pytest
from msgspec import Struct

from functions.docqa.engine import DocumentQA

_DATA = Path(__file__).parents[1] / "data"
_SAMPLE = Path(__file__).parents[2] / "functions" / "docqa" / "corpus"
_SETS = {
    "sample": (_SAMPLE, _DATA / "docqa_questions.tsv"),
    "hospital": (_DATA / "heldout_corpus", _DATA / "docqa_heldout_questions.tsv"),
    "cloud": (_DATA / "second_corpus", _DATA / "docqa_second_questions.tsv"),
}


class Shares(Struct):
    """Of the answerable questions: right answers and right documents; of the others: abstentions."""

    right: float
    cited: float
    abstained: float
    wrong: list[str]


def _shares(corpus: Path, labelled: Path) -> Shares:
    with closing(DocumentQA.open(corpus, None)) as engine:
        return _judged(engine, labelled)


def _judged(engine: DocumentQA, labelled: Path) -> Shares:
    with labelled.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    right = cited = abstained = answerable = 0
    wrong = []
    for row in rows:
        answer = engine.answer(row["question"])
        if row["expected"] == "-":
            abstained += not answer.grounded
            if answer.grounded:
                wrong.append(f"{row['question']} → {answer.text}")
            continue
        answerable += 1
        quotes = [" ".join(citation.quote.split()) for citation in answer.citations]
        right += any(row["expected"] in quote for quote in quotes)
        documents = [unquote(citation.uri) for citation in answer.citations]
        cited += documents[:1] == [f"corpus:{row['document']}"]
        if not any(row["expected"] in quote for quote in quotes):
            wrong.append(f"{row['question']} → {answer.text}")
    return Shares(right / answerable, cited / answerable, abstained / (len(rows) - answerable), wrong)


@pytest.mark.parametrize("name", _SETS)
def test_nearly_all_questions_get_the_right_answer_or_none(name: str) -> None:
    shares = _shares(*_SETS[name])
    assert shares.right >= 0.95, shares.wrong
    assert shares.cited >= 0.95, shares.wrong
    assert shares.abstained >= 0.95, shares.wrong


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
def test_other_spellings_of_an_entity_are_the_same_entity(
    sample: DocumentQA, question: str, expected: str
) -> None:
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
    answer = sample.answer(
        "In the 2024 policy, how soon was the infrastructure team notified of a P-1 incident?"
    )
    assert answer.text.startswith("From a version that is no longer in force")


def test_an_answer_in_the_other_language_says_so(sample: DocumentQA) -> None:
    answer = sample.answer("顧客データベースのバックアップは何日間保存されますか?")
    assert answer.text.startswith("英語の文書に")


def test_an_abstention_speaks_the_language_of_the_question(sample: DocumentQA) -> None:
    assert "控えます" in sample.answer("火星への出張手当はいくらですか?").text
    assert "no passage" in sample.answer("What is the allowance for a trip to Mars?").text
    assert sample.answer("What is the allowance for a trip to Mars?", language="ja").text.endswith(
        "控えます。"
    )


@pytest.mark.parametrize("question", ["", "   ", "?", "the of and", '" OR * NEAR(', "\x00", "はい"])
def test_a_question_that_asks_nothing_is_not_answered(sample: DocumentQA, question: str) -> None:
    assert not sample.answer(question).grounded
