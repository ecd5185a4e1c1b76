"""Questions as people at work ask them in Japanese: whether it is paid, how long it is, what a sign on a machine means."""

from collections.abc import Iterator

import pytest

from tests.fakes.documents import Ask, answering_from

_DOCUMENTS = {
    "就業規則.txt": """就業規則

第１章　勤務

（時間外労働の限度）
第１条　時間外労働は、１か月について40時間を限度とする。

（割増率）
第２条　割増率は、次のとおりとする。
　一　１か月40時間以下の時間外労働　25％
　二　１か月40時間を超える時間外労働　50％

（産前産後の休業）
第３条　６週間以内に出産する予定の従業員から請求があったときは、休業させる。
２　前項の休業期間は、無給とする。

（病気休暇）
第４条　病気休暇を年８日まで与える。
２　病気休暇の期間は無給とする。

（慶弔休暇）
第５条　慶弔休暇を年５日まで与える。
２　慶弔休暇は有給とする。

（年次有給休暇）
第６条　年次有給休暇を年15日与える。
２　取得しなかった日数は、翌年度に限り繰り越すことができる。
３　年次有給休暇は、２日前までに請求する。

（夏季休日）
第７条　夏季休日は、８月11日から８月15日までとする。
""",
    "研磨機.md": """# 研磨機の手引き

## 保証

改造したり、1日10時間を超えて使用した場合は、保証期間内でも有償です。保証期間は、お買い上げ日から3年間です。

## 仕様

| 項目 | 値 |
|---|---|
| 消費電力 | 900 W |
| 電源 | 100 V |
| 記憶容量 | 16 GB |

揺れを測るセンサーが3基あります。報告は、発見から 45 日以内に行います。

## 表示

| 表示 | 原因 | 処置 |
|---|---|---|
| E-21 | 砥石の摩耗 | 砥石を替える |
| E-35 | モーターの過熱 | 20分冷ます |

## 記憶装置

私物のUSBメモリをつなぐことは禁止です。

## 再起動

制御盤が止まったときは、次のコマンドで再起動します。

```
systemctl restart grinder
```

## 契約

| 項目 | ベーシック | プレミアム |
|---|---|---|
| 料金 | 1,000円 | 3,000円 |

中途解約の場合、支払われた料金は返還しない。
""",
}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with answering_from(tmp_path_factory.mktemp("workplace"), _DOCUMENTS) as answer:
        yield answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("病気休暇は有給ですか?", "病気休暇の期間は無給とする"),
        ("慶弔休暇は無給ですか", "慶弔休暇は有給とする"),
        ("産休中は給料が出ますか", "無給とする"),
        ("余った有給はどうなりますか", "翌年度に限り繰り越す"),
        ("お盆休みはいつですか", "８月11日から８月15日"),
        ("途中で解約したら料金は返ってきますか", "返還しない"),
        ("私物のUSBメモリーは使えますか", "つなぐことは禁止"),
    ],
)
def test_everyday_words_are_answered_by_the_words_of_rules(ask: Ask, question: str, expected: str) -> None:
    assert expected in ask(question).text


def test_a_figure_that_only_narrows_the_thing_asked_about_is_not_its_measure(ask: Ask) -> None:
    assert "40時間を限度とする" in ask("残業は月何時間までですか").text


def test_a_sentence_on_the_topic_asked_about_comes_before_one_that_mentions_it(ask: Ask) -> None:
    assert ask("保証期間はどのくらいですか").citations[0].quote == "保証期間は、お買い上げ日から3年間です。"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("消費電力は何Wですか", "900 W"),
        ("電源は何Vですか", "100 V"),
        ("記憶容量は何GBですか", "16 GB"),
        ("センサーは何基ありますか", "3基"),
        ("報告は何日以内に行いますか", "45 日以内"),
    ],
)
def test_units_are_told_however_they_are_set_apart(ask: Ask, question: str, expected: str) -> None:
    assert expected in ask(question).text


def test_another_unit_than_the_one_asked_about_is_no_answer(ask: Ask) -> None:
    assert not ask("消費電力は何Aですか").grounded
    assert not ask("記憶容量は何Hzですか").grounded


def test_what_a_sign_means_and_what_is_done_stands_in_its_row(ask: Ask) -> None:
    assert "砥石の摩耗" in ask("E-21ってどういう意味?").text
    assert "20分冷ます" in ask("E-35と表示されたときの対処は").text
    assert not ask("E-22ってどういう意味?").grounded


def test_a_command_is_told_with_the_sentence_that_announces_it(ask: Ask) -> None:
    quotes = [citation.quote for citation in ask("制御盤が止まったときはどう再起動しますか").citations]
    assert quotes == ["制御盤が止まったときは、次のコマンドで再起動します。", "systemctl restart grinder"]


def test_a_plan_of_another_name_is_not_the_plan_asked_about(ask: Ask) -> None:
    assert not ask("スタンダードプランの料金を教えて").grounded
