"""Short names that a document defines stand for the long ones, in that document alone."""

from contextlib import closing
from pathlib import Path

import pytest

from functions.docqa.documents.definitions import definitions_in, with_other_names
from functions.docqa.engine import DocumentQA

_PLAN = """# Continuity plan

The recovery time objective (RTO) is how long a system may be down.

## Systems

- Payroll: RTO 9 hours.
- Wiki: RTO 40 hours.
"""
_LEASE = """# 賃貸借契約書

青空不動産株式会社（以下「甲」という。）と山田工業株式会社（以下「乙」という。）は、次のとおり契約する。

## 第1条（修繕）

屋根の修繕費は、甲が負担する。
障子の張替えの費用は、乙が負担する。
"""
_FUND = """# Fund rules

The Sakura Growth Fund (hereinafter referred to as the "Fund") is managed by Kiku Asset Management K.K. (the "Manager").

## Investment

The smallest investment in the Fund is 30,000 yen.
"""
_OTHER = """# Lease of vehicles

Minato Motors Ltd. (the "Manager") lends vehicles. The Manager pays the tax of 900 euros on each of them.
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the Recovery Time Objective (RTO) is", ("RTO", "Recovery Time Objective")),
        ("the RTO (Recovery Time Objective) is", ("RTO", "Recovery Time Objective")),
        ("a Denial-of-Service (DoS) attack", ("DoS", "Denial-of-Service")),
        ("| RTO | Recovery Time Objective |", ("RTO", "Recovery Time Objective")),
        ("目標復旧時間（RTO）は", ("RTO", "目標復旧時間")),
        ("RTO（目標復旧時間）は", ("RTO", "目標復旧時間")),
        ("事業継続計画（Business Continuity Plan：BCP）", ("BCP", "Business Continuity Plan")),
        ("青空株式会社（以下「甲」という。）", ("甲", "青空株式会社")),
        ("青空株式会社（以下、「甲」と称する）", ("甲", "青空株式会社")),
        ("勤怠管理システム（以下「本システム」）", ("本システム", "勤怠管理システム")),
        ("Kiku Foods K.K., 1 Ginza, Tokyo (the “Buyer”)", ("Buyer", "Kiku Foods K.K.")),
        ("the Kiku Fund (hereinafter called the 'Fund')", ("Fund", "Kiku Fund")),
    ],
)
def test_a_short_name_is_known_by_where_it_is_defined(text: str, expected: tuple[str, str]) -> None:
    assert expected in definitions_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "three days (see section 4)",
        "the amount (JPY) is",
        "Paris (France)",
        "この規程（以下「本規程」という）",
        "the terms (the “Agreement”)",
        "ロンドン（12月）",
        "the queue (FIFO) is",
    ],
)
def test_other_brackets_define_nothing(text: str) -> None:
    assert definitions_in(text) == ()


def test_a_name_inside_another_word_is_not_that_name() -> None:
    defined = (("甲", "青空株式会社"), ("RTO", "recovery time objective"))
    assert with_other_names("甲板と CARTO を塗る", defined) == "甲板と CARTO を塗る"
    assert with_other_names("甲は RTO を守る", defined).splitlines() == [
        "甲は RTO を守る",
        "青空株式会社",
        "recovery time objective",
    ]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the recovery time objective of the payroll?", "Payroll: RTO 9 hours."),
        ("屋根の修繕費は青空不動産が払いますか", "屋根の修繕費は、甲が負担する。"),
        ("How much must one invest at least in the Sakura Growth Fund?", "in the Fund is 30,000 yen"),
        ("What tax does Minato Motors pay?", "The Manager pays the tax of 900 euros"),
    ],
)
def test_questions_in_the_long_name_are_answered_from_sentences_with_the_short_one(
    tmp_path: Path, question: str, expected: str
) -> None:
    for name, text in (("plan", _PLAN), ("lease", _LEASE), ("fund", _FUND), ("vehicles", _OTHER)):
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    with closing(DocumentQA.open(tmp_path, None)) as engine:
        answer = engine.answer(question)
    assert answer.grounded
    assert expected in answer.citations[0].quote
