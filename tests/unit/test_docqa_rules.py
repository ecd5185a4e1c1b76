"""Questions on rules in Japanese, which say much about themselves: what holds is answered, not what is said of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.documents import Ask, answering_from

_DOCUMENTS = {
    "bicycles.txt": """貸自転車規程

第１章　総則
（利用の申込み）
第２条　貸自転車を利用しようとする者は、利用する日の
３日前までに利用申込書を管理課に提出し
なければならない。
２　前項の規定にかかわらず、雨天の日に貸自転車を利用しようとする者は、当日の申込みでよい。
（申込みの準用）
第３条　前条の規定は、団体が貸自転車の利用を申し込む場合について、５日前までに準用する。
（鍵）
第４条　貸自転車の鍵は、次のいずれかに該当する者には渡さない。
(1) 登録証のない者
(2) 返却が遅れた者
２　鍵をなくした者は、鍵の作成に要する費用を負担する。
（利用料金）
第５条　貸自転車の利用料金（１日当たり）は、５００円とする。
２　利用料金の支払期限は、利用の翌日とする。
附　則
（経過措置）
１　この規程の施行前に貸自転車の利用を申し込んだ者の申込みの期限は、７日前までとする。
""",
    "hours.md": """# 勤務の規則

## 暗証番号

- 暗証番号の最大の長さは、64文字とする。
- 暗証番号の最小の長さは、12文字とする。

## 始業

- 研修に出る者の始業は、研修先の始業時刻による。
- 始業は、8時45分とする。

## 連絡票

| 項目 | 内容 |
|---|---|
| **提出の頻度** | 毎日1回 |
| 保存 | 連絡票を定期的に保存する。 |

連絡票は、保守の担当者と当直が書き継ぐ帳面をいう。予備の連絡票とは異なる用紙を使わない。

## 朝の連絡

電車が遅れて遅刻するときは、駅の遅延証明書を当直に渡す。

次のときは、注意する。

- 無断で遅刻するとき
- 無断で早退するとき

## 保守

1. 停電のとき

    | 信号 | 連絡 |
    |---|---|
    | 1 | 所長に電話する |
    | 2 | 翌朝に報告する |
    2. 断水のとき

    | 信号 | 連絡 |
    |---|---|
    | 1 | 水道局に電話する |
""",
}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    folder: Path = tmp_path_factory.mktemp("rules")
    with answering_from(folder, _DOCUMENTS) as answer:
        yield answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("貸自転車の利用の申込みは何日前までですか", "３日前まで"),
        ("貸自転車の鍵をなくした場合の費用は誰が負担しますか", "鍵をなくした者は"),
        ("貸自転車の利用料金の支払期限", "利用の翌日"),
        ("暗証番号は最低何文字必要ですか", "12文字"),
        ("暗証番号は最大何文字ですか", "64文字"),
        ("始業時刻を教えてください", "8時45分"),
        ("停電のとき信号2の連絡は何ですか", "翌朝に報告する"),
        ("連絡票の提出の頻度は？", "毎日1回"),
        ("連絡票とは何ですか", "書き継ぐ帳面をいう"),
        ("遅刻するときはどうすればいいですか", "遅延証明書"),
    ],
)
def test_what_a_rule_holds_for_is_answered(ask: Ask, question: str, expected: str) -> None:
    answer = ask(question)
    assert answer.grounded
    assert expected in answer.citations[0].quote


def test_what_was_for_the_time_being_is_answered_where_it_is_asked_for(ask: Ask) -> None:
    quote = ask("規程の施行前に貸自転車の利用を申し込んだ者の申込みの期限は何日前ですか").citations[0].quote
    assert "７日前まで" in quote


def test_a_number_that_no_row_has_is_not_answered_from_another(ask: Ask) -> None:
    assert not ask("停電のとき信号7の連絡は何ですか").grounded


def test_an_answer_joins_the_lines_of_its_sentence(ask: Ask) -> None:
    answer = ask("貸自転車の利用申込書はどこに提出しますか")
    assert "提出し\nなければ" in answer.citations[0].quote
    assert "利用する日の３日前までに利用申込書を管理課に提出しなければならない。" in answer.text
