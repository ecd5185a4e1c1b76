"""What a question is about, told apart from what only carries it; and which text belongs to which, so that it may answer."""

from collections.abc import Iterator

import pytest

from functions.docqa.questions.question import analyse
from tests.fakes.documents import Ask, answering_from

_OBSERVATORY = """# Observatory handbook

## Faults

| Class | Meaning | First notice due | Closing note due |
|---|---|---|---|
| F-1 | The dome is stuck open | 20 minutes | 3 working days |
| F-2 | The dome turns slowly | 2 hours | 6 working days |

**Outage hour**: an hour in which no telescope can be pointed.

Every outage hour is logged within ten minutes.

## Loans

A borrowed eyepiece is returned within 14 days.[^g]

[^g]: For category A members the loan lasts 40 days.

The reserve is 8 % for category B and 15 % for category A.

## Purchases

| Amount of one purchase | Agreed to by |
|---|---|
| below 500 euros | Night assistant |
| 500 to 2000 euros | Curator |

## Equipment

Night tent: The battery lasts for nine hours.

Guide lamp: Optional.

Helpers who lead a tour are paid 15 euros an hour. The lecture course is held in March.

## Alarms

| Alarm | Cause | First action |
|---|---|---|
| MIRROR-02 | Dew on the mirror | Close the shutter |
| MIRROR-03 | Dust on the mirror | Call the optician |

## Night duty

An observer who worked past midnight starts at noon.

The lead observer signs the night log every Friday.

The warden closes the gate at 23:00.

The moon market takes place in the courtyard.

The club lends a telescope certificate to every warden.

| Duty | Paid |
|---|---|
| Clouded sky for up to 20 minutes | 2 % of the fee |
| Clouded sky for over 20 minutes | 9 % of the fee |

| Check | Every | First answer |
|---|---|---|
| Bearings | 6 months | 10 minutes |

| Alert | Meaning | Answer within |
|---|---|---|
| A-7 | The dome sensor is lost | 15 minutes |
"""
_FIRST = "# Dome software 3.2\n\nDome software 3.2 was released on 4 May 2025.\n"
_CLUB_JA = """天文クラブ規程
第1条(会員) 子どもは保護者と観測会に参加する。
第2条(返却) 望遠鏡の返却が30日を超えて遅れたときは、60日間貸出を停止する。返却が90日を超えて遅れたときは、1年間貸出を停止する。
第3条(観測) 夜間観測は週2日を限度とする。
第4条(特例) 受験生については、夜間観測を週1日とする。
第5条(名簿) 会長は全会員に会報を送る。
第6条(合宿) 観測合宿は1泊2日で、費用は9,000円とする。
第7条(定義) 長期観測とは、10日以上続くものをいう。
第8条(家族) 家族会員は1世帯4名までとする。
"""
_OLD_JA = "# 天文クラブ貸出規程（旧規程）\n\n望遠鏡の貸出料は300円とする。\n"
_NEW_JA = "# 天文クラブ貸出規程\n\n望遠鏡の貸出料は500円とする。\n"


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    documents = {
        "observatory.md": _OBSERVATORY,
        "dome-software.md": _FIRST,
        "天文クラブ規程.txt": _CLUB_JA,
        "貸出規程_前の版.md": _OLD_JA,
        "貸出規程.md": _NEW_JA,
    }
    with answering_from(tmp_path_factory.mktemp("corpus"), documents) as answer:
        yield answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # words that only carry the question
        ("Whats exactly the longest time a borrowed eyepiece may actually be kept?", "within 14 days"),
        ("望遠鏡の貸出料は具体的に実際いくらですか", "500円"),
        # which edition is asked is no part of the subject
        ("廃止された旧版の貸出規程では、望遠鏡の貸出料はいくらでしたか", "300円"),
        ("Under the current policy, when does the warden close the gate?", "23:00"),
        # a verb that has a past form of its own
        ("Where is the moon market held?", "in the courtyard"),
        # what is told before the question, or denied beside it
        (
            "I had a wonderful evening with my cousin from Norway. When does the warden close the gate?",
            "23:00",
        ),
        ("夜間観測は週に何日までできますか（受験生ではありません）", "週2日"),
        # a column named word for word
        ("When is the first notice due for an F-2 fault?", "2 hours"),
        # a footnote, by the sentence that bears its mark
        ("How long is a borrowed eyepiece lent to category A members?", "40 days"),
        ("What reserve is planned for category A?", "15 % for category A"),
        # a range that holds the amount
        ("Who has to agree if I want to buy a chair for 900 euros?", "500 to 2000 euros | Curator"),
        # what counts as a thing is its definition
        ("What exactly counts as an outage hour?", "an hour in which no telescope can be pointed"),
        # a month is thirty days
        ("望遠鏡の返却が1か月以上遅れたら、何日借りられませんか", "30日を超えて遅れたとき"),
        # half an hour is 30 minutes
        ("What is paid for a sky that is clouded for half an hour?", "over 20 minutes | 9 %"),
        # an interval answers how often
        ("How often are the bearings checked?", "Bearings | 6 months"),
        # the row of a code
        ("What do I do first when MIRROR-02 fires?", "Close the shutter"),
    ],
)
def test_the_question_is_told_from_what_carries_it(ask: Ask, question: str, expected: str) -> None:
    answer = ask(question)
    assert any(expected in citation.quote for citation in answer.citations), answer.text


def test_the_cell_under_the_column_that_was_named_leads(ask: Ask) -> None:
    assert ask("When is the first notice due for an F-2 fault?").text.startswith("First notice due: 2 hours")


def test_a_sentence_with_a_mark_is_told_with_its_footnote(ask: Ask) -> None:
    quotes = [citation.quote for citation in ask("When must a borrowed eyepiece be returned?").citations]
    assert quotes[0].startswith("A borrowed eyepiece")
    assert any(quote.startswith("[^g]:") for quote in quotes[1:])


def test_a_document_called_an_old_rule_is_out_of_force(ask: Ask) -> None:
    assert "300円" not in ask("望遠鏡の貸出料はいくらですか").text


@pytest.mark.parametrize(
    "question",
    [
        "What is the name of the lead observer?",
        "会長の名前は何ですか",
        "When was dome software 3.4 released?",
        "How much does the lecture course cost?",
        "How long does the battery of the guide lamp last?",
        "観測合宿は何月何日ですか",
        "長期観測は最長で何日までですか",
        "家族会員は何人いますか",
        "How many telescopes does the observatory own?",
        "Who repairs MIRROR-03?",
        "When does the telescope certificate of the warden expire?",
        "How often is the dome sensor cleaned?",
        "会報は何か月分ありますか",
    ],
)
def test_a_name_a_date_a_count_or_an_amount_of_another_thing_is_no_answer(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert not answer.grounded, answer.text


@pytest.mark.parametrize("question", ["Under the old loans policy, who signs?", "What was the former dome rule?"])
def test_a_former_policy_may_be_named_by_its_subject(question: str) -> None:
    assert analyse(question).former


def test_person_days_are_no_persons() -> None:
    assert analyse("作業は何人日以下ですか").unit == "人日"
