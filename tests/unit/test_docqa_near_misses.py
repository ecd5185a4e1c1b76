"""What stands near the answer and is not it: another month, another unit, another channel, another thing's number."""

from collections.abc import Iterator

import pytest

from tests.fakes.documents import Ask, answering_from

_TARIFF = """# Tariff of Kestrel Telecom

Between Kestrel Telecom Ltd. and Hartwell Advisory.

## Packages

| Package | Download | Monthly charge |
|---|---|---|
| Fibre 100 | 100 Mbit/s | GBP 24 |
| Fibre 500 | 500 Mbit/s | GBP 33 |

## Credits

If availability falls, the customer receives a credit:

| Availability | Credit |
|---|---|
| below 99.9 % but at least 99.0 % | 10 % |
| below 99.0 % but at least 97.0 % | 25 % |

## Router

The router must be sent back within 28 days after the end; otherwise a charge of GBP 60 is due.

## Tours

Tours of the exchange last 75 minutes. A private tour costs GBP 130 and is booked at least ten days in advance.

## Disputes

Disputes are settled by arbitration in Dublin. Complaints go to our complaints officer, Ms Ruth Okafor, at help@kestrel.example.
"""
_HANDBOOK_JA = """端末貸与規約
第1条(対象) 端末の貸与を受ける者は、勤続6か月以上の社員とする。
第2条(費用) 貸与は次のとおりとする。
 (1) 標準端末
 (2) 大型端末
第3条(返却) 端末は退職日から10日以内に返却する。
第4条(負担) 修理費は当社の負担とする。
第5条(実績) 9月の故障は2件であった。
"""
_SLA_JA = """# 品質保証書

稼働率に応じて返金する。

| 稼働率 | 返金額 |
|---|---|
| 99.9%未満99.0%以上 | 月額料金の10% |
| 99.0%未満97.0%以上 | 月額料金の30% |

議長は大野とする。集計は2026年10月6日に行う。
"""
_NOTICE = (
    "<h1>Notice</h1><dl><dt>Billing records</dt><dd>six years</dd><dt>Call records</dt><dd>twelve months</dd></dl>"
)


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    documents = {
        "tariff.md": _TARIFF,
        "端末貸与規約.txt": _HANDBOOK_JA,
        "品質保証書.md": _SLA_JA,
        "notice.html": _NOTICE,
    }
    with answering_from(tmp_path_factory.mktemp("corpus"), documents) as answer:
        yield answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does Fibre 500 cost a month?", "Fibre 500 | 500 Mbit/s | GBP 33"),
        ("Where are disputes with Hartwell settled?", "Disputes are settled by arbitration in Dublin."),
        ("When do I have to send back the router and what happens if I don't?", "within 28 days"),
        ("How long does a tour take?", "last 75 minutes"),
        ("Who is the complaints officer?", "Ruth Okafor"),
        ("How long are call records kept?", "Call records: twelve months"),
        ("What credit do customers get when availability drops to 98.2 %?", "at least 97.0 % | 25 %"),
        ("稼働率が98.5%の場合、返金額はいくらですか", "月額料金の30%"),
        ("退職したら端末は何日以内に返却しますか", "第3条(返却) 端末は退職日から10日以内に返却する。"),
        ("修理費はどちらが負担しますか", "当社の負担"),
        ("大型端末ではなく標準端末は貸与されますか", "標準端末"),
        ("勤続3か月の社員も端末の貸与を受けられますか", "勤続6か月以上"),
    ],
)
def test_what_was_asked_for_is_quoted(ask: Ask, question: str, expected: str) -> None:
    answer = ask(question)
    assert any(expected in citation.quote for citation in answer.citations), answer.text


@pytest.mark.parametrize(
    "question",
    [
        "How much does Fibre 200 cost?",
        "What is the phone number of the complaints officer?",
        "How heavy is the router?",
        "サービスの月額料金はいくらですか",
        "10月の故障は何件でしたか",
        "副議長は誰ですか",
        "集計は何年間保存しますか",
        "端末の重さは何グラムですか",
    ],
)
def test_what_stands_near_is_no_answer(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert not answer.grounded, answer.text
