"""What a Japanese sentence leaves out, names beside, or tells of another thing of the same name, is no answer on it."""

from collections.abc import Iterator

import pytest

from functions.docqa.questions.ranges import amounts_in, range_fit
from tests.fakes.documents import Ask, answering_from

_DOCUMENTS = {
    "通販.md": """# 通信販売のご案内

## 送料

送料は全国一律700円です。6,000円以上のお買い上げで無料になります。沖縄は別途900円をいただきます。

会員は、送料が常に無料です（沖縄を除く）。

## お支払い

現金払い、代金引換（手数料350円）、後払い（手数料280円）をご利用いただけます。

## 取り込み

一覧の取り込みは、1回に20万行までです。もち麦は2合まで量れます。
""",
    "会館.md": """# 会館のご案内

| 部屋 | 定員 |
|---|---|
| 会議室1 | 30人 |
| 会議室2 | 12人 |

会議室では、無線LANを無料で使えます。

## 取消し

| 取り消した日 | 返金する額 |
|---|---|
| 使用日の40日前まで | 全額 |
| 39日前から10日前まで | 半額 |
| 9日前以降 | なし |
""",
    "契約書.txt": """業務契約書

第１条（報酬）
デザイン料は、個別契約で定める。
第２条（遅延）
納期に遅れたときは、遅延１日につきデザイン料の0.2％に相当する違約金を支払う。
第３条（著作権）
著作権は、代金の完済をもって移転する。
第４条（損害賠償）
損害の賠償額は、個別契約の報酬の額を限度とする。
第５条（満了）
契約は、更新されなければ１年６か月で満了する。
""",
}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with answering_from(tmp_path_factory.mktemp("left_out"), _DOCUMENTS) as answer:
        yield answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("沖縄への送料はいくらですか", "沖縄は別途900円"),
        ("送料はいくらから無料になりますか", "6,000円以上のお買い上げで無料"),
        ("代金引換の手数料はいくらですか", "手数料350円"),
        ("一覧は何行まで取り込めますか", "20万行まで"),
        ("会議室2の定員は何人ですか", "12人"),
        ("20日前に取り消したらいくら戻りますか", "39日前から10日前まで | 半額"),
        ("50日前に取り消したらいくら戻りますか", "40日前まで | 全額"),
        ("著作権はいつ移転しますか", "完済をもって"),
        ("損害賠償の上限はいくらですか", "報酬の額を限度とする"),
        ("納期に遅れた場合の違約金の率は?", "0.2％に相当する違約金"),
    ],
)
def test_what_is_asked_about_is_answered(ask: Ask, question: str, expected: str) -> None:
    assert expected in ask(question).text


@pytest.mark.parametrize(
    "question",
    [
        "現金払いの手数料はいくらですか",
        "会議室3の定員は何人ですか",
        "会議室3の定員",
        "デザイン料はいくらですか",
        "契約を更新しないときは何か月前までに言えばいいですか",
    ],
)
def test_what_stands_beside_it_is_no_answer(ask: Ask, question: str) -> None:
    assert not ask(question).grounded


def test_days_before_are_counted_backwards() -> None:
    asked = amounts_in("20日前")
    assert range_fit(asked, "39日前から10日前まで") > 0 > range_fit(asked, "40日前まで")
    assert range_fit(asked, "9日前以降") < 0 < range_fit(asked, "3週間前から当日")


def test_a_counter_that_nobody_listed_is_what_is_counted(ask: Ask) -> None:
    assert "2合まで" in ask("もち麦は何合まで量れますか").text
