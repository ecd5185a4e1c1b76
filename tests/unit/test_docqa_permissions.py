"""May one do it? Only a sentence on that act tells; a rule on something else in the same place does not."""

from collections.abc import Iterator

import pytest

from tests.fakes.documents import Ask, answering_from

_RULES = """# Self-storage rules

## Not allowed in the units

Explosives, living animals and food.

## Access

Pets on a leash may enter the lobby. Barbecues are forbidden on the whole site.

## What is not reimbursed

- Fines for parking
- Newspapers
"""
_HOUSE = """# 館内規則

次の行為を禁止する。

- 廊下での喫煙
- 更衣室での撮影

## 設備

- 会議室（予約が必要）

会議室での食事は禁止する。

## 特別休暇

| 事由 | 日数 |
|---|---|
| 本人の結婚 | 5日 |
| 配偶者の出産 | 3日 |
"""


_FAQ = """<h1>Parcels</h1>
<p><b>My parcel came two days late. Do I get anything?</b> The delay must be three days or more.</p>
<p><b>The box was wet. Whom do I tell?</b> Write to the claims office.</p>
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    documents = {"rules.md": _RULES, "館内規則.md": _HOUSE, "faq.html": _FAQ}
    with answering_from(tmp_path_factory.mktemp("corpus"), documents) as answer:
        yield answer


@pytest.mark.parametrize(
    "question",
    [
        "Can I smoke in the lobby?",
        "Can I eat in the lobby?",
        "Is dancing allowed on the site?",
        "May I sleep in the units?",
        "会議室で電話してもいいですか",
        "Can I get maternity leave?",
        "産休は何日取れますか",
    ],
)
def test_a_rule_on_another_act_or_person_is_no_answer(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert not answer.grounded, answer.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Can I bring my dog into the lobby?", "Pets on a leash"),
        ("May I store explosives?", "Explosives"),
        ("Are newspapers reimbursed?", "Newspapers"),
        ("Is a parking fine reimbursed?", "Fines for parking"),
        ("会議室でお弁当を食べてもいいですか", "会議室での食事は禁止する。"),
        ("廊下でたばこを吸ってもいいですか", "廊下での喫煙"),
        ("更衣室で写真を撮ってもいいですか", "更衣室での撮影"),
        ("妻の出産のとき何日休めますか", "配偶者の出産 | 3日"),
        ("結婚したら何日休めますか", "本人の結婚 | 5日"),
    ],
)
def test_what_is_said_of_the_act_answers_also_where_a_heading_says_it(ask: Ask, question: str, expected: str) -> None:
    answer = ask(question)
    assert any(expected in citation.quote for citation in answer.citations), answer.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("My parcel came two days late. Do I get anything?", "The delay must be three days or more."),
        ("The box was wet. Whom do I tell?", "Write to the claims office."),
    ],
)
def test_a_question_with_its_story_is_answered_by_what_follows_and_not_by_its_story(
    ask: Ask, question: str, expected: str
) -> None:
    assert [citation.quote for citation in ask(question).citations] == [expected]
