"""Japanese questions whose wrong answers stand near: how long, by when, who holds a role, which of two, which cell."""

from collections.abc import Iterator

import pytest

from functions.docqa.answers.comparison import sides
from functions.docqa.questions.entities import Entity, entities_in
from functions.docqa.questions.question import analyse
from functions.docqa.vocabulary.lexicon import key_of, lexicon
from tests.fakes.documents import Ask, answering_from

_MANUAL = """# 障害手順

## 切り戻し

公開後24時間以内に起きた障害では、調査よりも切り戻しを優先する。切り戻しの所要時間は約25分である。

## 体制

1. 受付者が応じないときは、設備管理部長へ電話する。
2. 設備管理部長は、20分以内に対策本部を設ける。本部長は財務担当役員が務める。

## 連絡先

| 役割 | 氏名 | 内線 | 携帯電話 |
|---|---|---|---|
| 記録管理者 | 三枝 律 | 2417 | 090-0000-1199 |

## 表示

| 表示 | 原因 | 処置 |
|---|---|---|
| E3 | 目詰まり | ろ過器を水洗いする |

## 続報

P-1では20分ごと、P-2では2時間ごとに続報を出す。

## 型式

| 項目 | AR-50 | AR-30 |
|---|---|---|
| 消費電力 | 990W | 450W |
| 適用床面積 | 110m2まで | 50m2まで |

| 型式 | 1日 |
|---|---|
| AR-50 | 3,100円 |
| AR-30 | 2,200円 |

## 配送料

| 地域 | 額 |
|---|---|
| 関東 | 3,700円 |
| 沖縄・離島 | お見積り |
"""
_CASES = """# Vendor guide

| Severity | First response |
|---|---|
| A | 35 minutes |
| B | 6 hours |
"""
_OLD = """# 服務規則（2018年4月1日施行）

※本規則は2024年10月1日施行の服務規則により廃止された。

- （定年）定年は満61歳とする。
- （盆休暇）盆休暇は2日とする。
"""
_NEW = """# 服務規則

2024年10月1日施行

## 定年

定年は満66歳とする。定年の後も働くことを望む者は、満71歳まで再び雇う。

## 盆休暇

盆休暇は4日とする。

## 記念休暇

勤続15年に達した者には、連続6日の記念休暇を与える。この休暇は、権利が生じた日から2年以内に取得しなければならない。
"""
_NOTES = """点検の控え

1．点検は1週間ごとに行う。
2．輸出の認証は8月中旬の見込みである。
3．連続する2週の夜番は禁止する。
"""


_MINUTES = """# 営繕会議の控え

場所：会議室B

【議題1】雨どい

- 3月に直した雨どいから水が漏れている。

【議題2】外灯

- 外灯を2基増やすことにした。

振り返り会は、工事の後5営業日以内に開く。

保険会社の補償は、1件につき40万円までとする。

【外灯】

1. **外灯は1時間単位で消せます。** これまでは3時間ごとでした。
"""
_PARTTIME = """# Part-time staff

Night work of part-time staff is paid at 130 percent of the hourly wage. Travel to work is paid up to 800 yen per day.
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    documents = {
        "手順.md": _MANUAL,
        "guide.md": _CASES,
        "服務規則_2018年版（旧）.md": _OLD,
        "服務規則.md": _NEW,
        "点検.txt": _NOTES,
        "控え.md": _MINUTES,
        "part.md": _PARTTIME,
    }
    with answering_from(tmp_path_factory.mktemp("corpus"), documents) as answer:
        yield answer


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("切り戻しにはどのくらい時間がかかりますか", "約25分"),
        ("対策本部の本部長は誰がやるの", "財務担当役員"),
        ("記念休暇はいつまでに取らないといけませんか", "2年以内"),
        ("旧服務規則での定年は何歳でしたか", "満61歳"),
        ("以前の定年は何歳でしたか", "満61歳"),
        ("AR-30の消費電力は何Wですか", "450W"),
        ("AR-30は何㎡まで使えますか", "50m2まで"),
        ("Severity Aの最初の応答は何分以内ですか", "35 minutes"),
        ("沖縄への配送料はいくらですか", "お見積り"),
    ],
)
def test_what_is_asked_in_japanese_is_not_answered_by_what_stands_beside_it(
    ask: Ask, question: str, quoted: str
) -> None:
    assert quoted in ask(question).citations[0].quote


@pytest.mark.parametrize(
    "question",
    [
        "どちらの型式のほうが丈夫ですか",  # what is cheaper is not tougher
        "輸出の納期はどのくらいかかりますか",  # a month is no length of time
        "新しい服務規則について誰に聞けばいいですか",
        "振り返り会は何時間行いますか",  # how soon it is held, is not how long
        "営繕会議の議題4は何ですか",
        "補償の保険会社はどこですか",  # a company is told by its name
        "パートの夜勤は月に何回までですか",  # a price for each day is no frequency
    ],
)
def test_what_only_names_what_is_asked_about_is_no_answer(ask: Ask, question: str) -> None:
    assert not ask(question).grounded


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("記録管理者の内線番号は?", "内線: 2417"),
        ("E3が表示されたらどうすればいいですか", "処置: ろ過器を水洗いする"),
    ],
)
def test_the_cell_that_leads_is_that_of_the_column_asked_for(ask: Ask, question: str, lead: str) -> None:
    assert ask(question).text.startswith(lead)


def test_a_list_without_an_introduction_begins_with_its_number(ask: Ask) -> None:
    answer = ask("受付者が応じないときはどうすればいいですか")

    assert answer.text.startswith("1. 受付者が応じないときは")


def test_a_comparison_by_how_much_tells_both_sides_and_which_is_out_of_force(ask: Ask) -> None:
    answer = ask("盆休暇は旧版と新版で何日違いますか")

    assert answer.text == (
        "旧版の盆休暇（現在は効力のない版）: （盆休暇）盆休暇は2日とする。 [1] 新版の盆休暇: 盆休暇は4日とする。 [2]"
    )


def test_one_sentence_may_tell_both_sides(ask: Ask) -> None:
    answer = ask("P-1とP-2では、続報の間隔はどう違いますか")

    assert [citation.quote for citation in answer.citations] == ["P-1では20分ごと、P-2では2時間ごとに続報を出す。"]


def test_bold_type_that_closes_behind_a_full_stop_is_not_shown(ask: Ask) -> None:
    assert ask("外灯は時間単位で消せますか").text == "外灯は1時間単位で消せます。 [1]"


def test_an_item_below_a_wide_number_is_quoted_whole(ask: Ask) -> None:
    (citation,) = ask("連続する2週の夜番はできますか").citations

    assert citation.quote == "連続する2週の夜番は禁止する。"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("真夜中", "夜間"),
        ("ライバル会社", "同業他社"),
        ("取り付け", "設置"),
        ("障害報告書", " incident report "),
    ],
)
def test_words_of_daily_talk_have_those_of_rules(asked: str, said: str) -> None:
    found = lexicon().groups.get(key_of(asked))

    assert found
    assert said in (*found.texts, *found.words)


def test_a_power_supply_is_no_power_consumption() -> None:
    supply = lexicon().groups.get(key_of("power supply"))

    assert supply
    assert "電力" not in supply.texts


def test_the_sides_of_a_comparison_keep_what_is_counted() -> None:
    assert sides("料金は平日と休日でいくら違いますか") == ("平日の料金はいくら", "休日の料金はいくら")
    assert sides("平日と休日では、開館時間はどう違いますか") == ("平日の開館時間", "休日の開館時間")


def test_a_unit_that_is_asked_for_is_no_name() -> None:
    assert not analyse("何Wですか").entities | analyse("何m2まで使えますか").entities
    assert Entity("letter", "a") in entities_in("Severity Aの応答")
