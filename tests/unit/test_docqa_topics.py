"""Questions on a topic, comparisons, and questions that name the document that is to answer."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bench.document_questions import SETS
from functions.docqa.answers.comparison import sides
from functions.docqa.answers.named_sources import named_in
from functions.docqa.engine import DocumentQA
from functions.docqa.model import DocAnswer
from functions.docqa.vocabulary.numerals import months_between, with_digits


@pytest.fixture(scope="module")
def sample() -> Iterator[DocumentQA]:
    with closing(DocumentQA.open(SETS["sample"][0], None)) as engine:
        yield engine


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "canteen-rules.md").write_text("# Canteen rules\n\nTrays are returned within 20 minutes.\n")
    (tmp_path / "library-rules.md").write_text("# Library rules\n\nTrays are returned within 3 days.\n")
    (tmp_path / "faq.html").write_text(
        "<h1>Questions</h1><h2>How do I get a locker?</h2><p>Ask the porter. He has the keys.</p>"
        "<h2>How do I get a parking space?</h2><p>Write to the office.</p>"
    )
    (tmp_path / "notes.md").write_text("# Notes\n\nOne thing.\n\n# Other notes\n\nAnother thing.\n")
    return tmp_path


@pytest.fixture
def engine(corpus: Path) -> Iterator[DocumentQA]:
    with closing(DocumentQA.open(corpus, None)) as engine:
        yield engine


def _quotes(answer: DocAnswer) -> list[str]:
    return [citation.quote for citation in answer.citations]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("在宅勤務の規程を教えて", ["週3日まで", "前週の金曜日"]),
        ("Tell me about the remote work policy.", ["週3日まで"]),
        ("What does our security policy say about passwords?", ["14文字以上", "2種類以上"]),
        (
            "What does the information security policy say about removable media?",
            ["USB sticks are prohibited"],
        ),
        ("Tell me about the information security policy.", ["phishing-desk@aozora.example", "within 1 hour"]),
    ],
)
def test_a_topic_is_told_in_the_main_sentences_of_what_treats_it(
    sample: DocumentQA, question: str, expected: list[str]
) -> None:
    answer = sample.answer(question)
    assert all(any(part in quote for quote in _quotes(answer)) for part in expected), answer.text
    assert 1 <= len(answer.citations) <= 4
    assert f"[{len(answer.citations)}]" in answer.text


def test_orders_to_a_reader_are_not_among_the_main_sentences(sample: DocumentQA) -> None:
    answer = sample.answer("Tell me about the note for automated readers.")
    assert "gnore all previous" not in answer.text


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        (
            "What is the difference between the P-1 and P-2 notification deadlines?",
            "15 minutes",
            "60 minutes",
        ),
        ("Compare the P-1 and P-2 notification deadlines.", "15 minutes", "60 minutes"),
        ("P-1とP-2の連絡期限の違いを教えて", "15分以内", "60分以内"),
    ],
)
def test_a_comparison_tells_both_sides_with_their_sources(
    sample: DocumentQA, question: str, first: str, second: str
) -> None:
    answer = sample.answer(question)
    assert first in answer.citations[0].quote
    assert second in answer.citations[-1].quote
    assert answer.text.startswith("P-1")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the difference between P-1 and P-2 deadlines?", ("P-1 deadlines", "P-2 deadlines")),
        ("How does the Gold plan differ from the Silver plan?", ("Gold plan", "Silver plan")),
        ("What is the difference in price between Gold and Silver?", ("Gold price", "Silver price")),
        ("育児休業と介護休業の申出期限の違いは?", ("育児休業の申出期限", "介護休業の申出期限")),
        ("What is the deadline for P-1?", None),
        ("P-1の連絡期限は?", None),
    ],
)
def test_a_comparison_is_two_questions(question: str, expected: tuple[str, str] | None) -> None:
    assert sides(question) == expected


def test_the_document_that_is_named_answers(engine: DocumentQA) -> None:
    question = "how soon are trays returned?"
    assert _quotes(engine.answer(f"According to the canteen rules, {question}")) == [
        "Trays are returned within 20 minutes."
    ]
    assert _quotes(engine.answer(f"According to the library rules, {question}")) == [
        "Trays are returned within 3 days."
    ]


def test_when_the_document_that_is_named_does_not_say_no_other_answers(engine: DocumentQA) -> None:
    assert not engine.answer("According to the library rules, how do I get a locker?").grounded


@pytest.mark.parametrize(
    ("question", "name", "binding"),
    [
        ("according to the canteen rules, what is allowed?", "canteen rules", True),
        ("what does our security policy say about gifts?", "security policy", False),
        ("in the events terms, who pays?", "events terms", True),
        ("宿泊約款では忘れ物は何日間保管されますか", "宿泊約款", True),
        ("就業規則によると、退職は何日前に届け出ますか", "就業規則", True),
    ],
)
def test_the_name_of_a_source_is_read_from_the_question(question: str, name: str, binding: bool) -> None:
    named = named_in(question)
    assert named is not None
    assert (named.name, named.binding) == (name, binding)
    assert name not in named.rest


def test_a_question_that_stands_as_a_heading_is_answered_by_what_follows(engine: DocumentQA) -> None:
    assert _quotes(engine.answer("How can I get a locker?"))[0] == "Ask the porter."


def test_the_general_rule_comes_before_the_special_one(sample: DocumentQA) -> None:
    for question in ("パスワードは何文字以上ですか", "How long must a password be?"):
        assert _quotes(sample.answer(question)) == ["文字数は14文字以上とする。"]
    assert "24文字" in sample.answer("特権アカウントのパスワードは何文字以上ですか").text


def test_a_rule_that_goes_on_where_the_first_ends_is_told_too(sample: DocumentQA) -> None:
    for question in ("Which travel class may I book for a flight?", "When may I fly in business class?"):
        text = " ".join(sample.answer(question).text.split())
        assert 0 < text.index("less than six hours") < text.index("six hours or more")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("二十四時間以内", "24時間以内"),
        ("月額四十五万円", "月額45万円"),
        ("午後八時", "午後8時"),
        ("第十二条", "第12条"),
        ("六か月に一回", "6か月に1回"),
        ("三百五十人", "350人"),
        ("十分な睡眠", "十分な睡眠"),
        ("十分以内", "10分以内"),
        ("統一名称", "統一名称"),
        ("一般社員", "一般社員"),
    ],
)
def test_kanji_numerals_before_a_counter_are_numbers(written: str, read: str) -> None:
    assert with_digits(written) == read


def test_a_span_of_months_holds_the_months_between() -> None:
    assert months_between("in winter (november to march)") == "december january february"
    assert months_between("11月から2月まで") == "12月 1月"
    assert months_between("from may until noon") == ""
