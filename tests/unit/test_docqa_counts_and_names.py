"""What a question counts, measures or wants named is what its answer has: another unit, thing or name is none."""

from collections.abc import Iterator

import pytest

from functions.docqa.documents.formats.pdf import pdf_text
from functions.docqa.questions.expressions import AnswerKind
from functions.docqa.questions.question import analyse
from functions.docqa.questions.units_counted import counts, lasts_otherwise
from tests.fakes.documents import Ask, answering_from

_SAFE = """# Safe room

The keys are held in a steel safe, and two key custodians must be present to open it.

If the lamp does not stay green:

- The lamp blinks red: the door is open. Close the door and press Reset.
- The lamp is off: there is no power. Call the janitor.

## Board

The safety board meets on the last Thursday of each month. Minutes of a board meeting are kept for nine years.

| Uptime of Kiku Desk | Credit, Basic | Credit, Premium |
|---|---|---|
| below 97 % | 20 % | 50 % |
| 97 % to 99 % | 10 % | 25 % |

In the past, a second key cost 900 yen. A second key costs 1,200 yen.
"""
_TRAINING = """# 研修要領

主担当は、入社後6か月を経過し、障害対応研修を修了した者とする。

前の学期の成績が優の者は、26単位まで履修できる。

電話番号の一覧は、毎年6月に確認する。

## 故障の件数

| 年度 | 件数 |
|---|---|
| 令和5年度 | 31件 |
| 令和6年度 | 27件 |

## 料金

第5次改正までは、再試験の受験料を900円としていた。
再試験の受験料は、2,700円とする。
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    documents = {"safe.md": _SAFE, "研修要領.md": _TRAINING}
    with answering_from(tmp_path_factory.mktemp("corpus"), documents) as answer:
        yield answer


@pytest.mark.parametrize(
    "question",
    [
        "How many safe keys are there?",
        "Which company made the steel safe?",
        "How much credit does a Premium customer get when Kiku Analytics is below 97 %?",
        "障害対応研修は何時間かかりますか",
        "令和3年度の故障は何件でしたか",
    ],
)
def test_a_figure_of_something_else_is_no_answer(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert not answer.grounded, answer.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When does the safety board meet?", "last Thursday"),
        ("How many yen does a second key cost?", "1,200 yen"),
        ("How much credit does a Premium customer get when Kiku Desk is below 97 %?", "| 50 %"),
        ("電話番号の一覧は、いつ確認しますか", "毎年6月"),
        ("成績が優の者は何単位まで履修できますか", "26単位"),
        ("令和6年度の故障は何件でしたか", "令和6年度 | 27件"),
        ("2023年度の故障は何件でしたか", "令和5年度 | 31件"),
        ("再試験の受験料はいくらですか", "2,700円"),
    ],
)
def test_what_was_asked_for_is_quoted(ask: Ask, question: str, expected: str) -> None:
    answer = ask(question)
    assert answer.citations, answer.text
    assert expected in answer.citations[0].quote


def test_what_to_do_in_a_case_is_told_with_what_follows_it_in_its_item(ask: Ask) -> None:
    answer = ask("What should I do when the lamp blinks red?")
    assert "Close the door and press Reset." in [citation.quote for citation in answer.citations]


@pytest.mark.parametrize(
    ("unit", "text", "otherwise"),
    [
        ("hours", "6 months", True),
        ("時間", "6か月", True),
        ("hours", "2 days", False),
        ("days", "two months", False),
        ("分", "3年", True),
        ("hours", "no time at all", False),
        ("books", "6 months", False),
    ],
)
def test_six_months_are_no_hours(unit: str, text: str, otherwise: bool) -> None:
    assert lasts_otherwise(unit, text) is otherwise


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("customers aged 80 or older", True),
        ("at the age of 65", True),
        ("an 83-year-old", True),
        ("60歳に達した", True),
        ("up to 10 days", False),
    ],
)
def test_days_are_no_age(text: str, counted: bool) -> None:
    assert counts("歳", text) is counted


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("食堂の営業時間を教えてください", AnswerKind.TIME),
        ("電話番号の一覧は、いつ確認しますか", AnswerKind.TIME),
        ("窓口の電話番号は", AnswerKind.CONTACT),
        ("何単位まで履修できますか", AnswerKind.QUANTITY),
        ("How many euros is the fine?", AnswerKind.MONEY),
    ],
)
def test_the_kind_of_answer_is_what_people_mean(question: str, kind: AnswerKind) -> None:
    assert analyse(question).kind is kind


def _a_pdf_called(title: str) -> bytes:
    from io import BytesIO

    from pypdf import PdfWriter

    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.add_metadata({"/Title": title})
    stream = BytesIO()
    writer.write(stream)
    return stream.getvalue()


@pytest.mark.parametrize("title", ["(anonymous)", "untitled", "無題", "Document1", "Document 1.docx"])
def test_what_programs_write_when_nobody_gave_a_title_is_none(title: str) -> None:
    assert pdf_text(_a_pdf_called(title))[1] == ""
    assert pdf_text(_a_pdf_called("Document control"))[1] == "Document control"
