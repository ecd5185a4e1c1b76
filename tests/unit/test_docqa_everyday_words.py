"""Questions as an employee puts them: two at once, in numbers as words, on what is forbidden, on a case that has happened."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from bench.document_questions import SETS
from functions.docqa.engine import DocumentQA
from functions.docqa.questions.entities import Entity, entities_in
from functions.docqa.questions.expressions import AnswerKind
from functions.docqa.questions.question import analyse
from functions.docqa.vocabulary.numerals import with_halves
from functions.docqa.vocabulary.words import stem
from tests.fakes.documents import Ask, answering_from

_LIGHTHOUSE = """# Lighthouse handbook

This handbook describes the work of the keepers and how lamps are looked after.

## Outages

The harbour master must be notified within 20 minutes of an outage of priority 1. The keeper sends a report to nobody else.

A written outage report is due within 6 business days of the repair.

## Keys

A key of the tower is handed out only by two people together. Keys of the old shed are not handed out until Legal agrees.

## Boats

Visitors' boats are registered by the keeper two days ahead.

## Things

Photography in the lamp room is prohibited.

## Duty

Each keeper is on duty for one week at a time. Attach two photographs to the log.

## Shed

Polish the brass of the 2nd floor. Sort the on-board nets.

## Moves

Urgent repairs are done within 2 days when the harbour master agrees.

The loss of a lantern must be reported to the harbour master at once.
"""
_RULES = """# 灯台規程

## 目的

この規程は、見張りを外部に任せる際の管理の方法を定める。

## 休暇

| 勤続年数 | 日数 |
|---|---|
| 6か月 | 11日 |
| 2年6か月 | 13日 |
| 4年6か月 | 17日 |

- 祖父母の死亡: 2日
- 父母の死亡: 6日

介護休暇は無給とする。

## 鍵

鍵を忘れた場合は、守衛所で仮の鍵を借りる。合言葉を4回間違えると、扉は25分間閉まる。

## 展望室

展望室の予約は40日前から可能です。

## 夜

ただし、深夜は2時間ごととすることができる。
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    documents = {"lighthouse.md": _LIGHTHOUSE, "灯台規程.md": _RULES}
    with answering_from(tmp_path_factory.mktemp("corpus"), documents) as answer:
        yield answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # whom to tell is another question than when a report is due
        ("Who do I have to tell when there is an outage of priority 1, and how fast?", "within 20 minutes"),
        ("Who needs to know about a priority one outage, and how fast?", "within 20 minutes"),
        # two people are somebody
        ("Who is allowed to hand out a key of the tower?", "only by two people together"),
        # halves count
        ("How many days of leave do I get after two and a half years?", "2年6か月 | 13日"),
        ("勤続4年半だと休暇は何日ですか", "4年6か月 | 17日"),
        # where it was forgotten is beside the question
        ("I forgot my key at home, what do I do?", "守衛所で仮の鍵を借りる"),
        ("鍵を家に忘れたらどうすればいいですか", "守衛所で仮の鍵を借りる"),
        # parents are no part of grandparents
        ("How many days do I get when my mother dies?", "父母の死亡: 6日"),
        ("母が亡くなったら何日ですか", "父母の死亡: 6日"),
        ("祖母が亡くなったら何日ですか", "祖父母の死亡: 2日"),
        # unpaid answers whether it is paid
        ("Is care leave paid?", "介護休暇は無給とする。"),
        ("合言葉を何回も間違えるとどうなりますか", "25分間閉まる"),
    ],
)
def test_everyday_words_find_the_rule(ask: Ask, question: str, expected: str) -> None:
    answer = ask(question)
    assert expected in " ".join(citation.quote for citation in answer.citations[:1]), answer.text


@pytest.mark.parametrize(
    "question",
    [
        # an act in one room is not every act there
        "May I eat in the lamp room?",
        # who it is now, no rule says
        "Who is on duty this week?",
        # an attachment is a thing, and two photographs are no size
        "How big may an attachment be?",
        # the second floor is no second day, and "on-board" no time
        "How long do I have to polish the brass?",
        "When do we sort the on-board nets?",
        # a sentence without a place
        "Where do we go in an emergency?",
        # what has happened must be spoken of
        "合言葉が漏れたかもしれないときは、どのくらいで変えないといけませんか",
        "夜中に呼び出されたら何時間休めますか",
        # a room is nobody to turn to
        "展望室の予約は誰に頼みますか",
    ],
)
def test_what_does_not_speak_of_what_was_asked_is_no_answer(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert not answer.grounded, answer.text


def test_a_purpose_is_told_to_those_who_ask_for_it(ask: Ask) -> None:
    answer = ask("灯台規程の目的は何ですか")
    assert "管理の方法を定める" in answer.text


@pytest.fixture(scope="module")
def office() -> Iterator[Ask]:
    with closing(DocumentQA.open(SETS["sample"][0], None)) as engine:
        yield engine.answer


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # whom to tell is another question than when a report is due
        ("Who do I have to tell when a P-1 incident happens, and how fast?", "within 15 minutes"),
        # what visitors may do is no answer to what I may do
        ("Can I park my car at the office?", "Employees may not park"),
        # nor what is done with their cars to what is done with them
        ("By when do I register a visitor?", "前日の17時"),
        # what is forbidden as such is forbidden for every act
        ("Can I plug in a USB stick?", "USB sticks are prohibited."),
        ("USBメモリを使ってもいいですか", "USB sticks are prohibited."),
        # half a year is six months
        ("How much paid holiday do I get after half a year?", "6か月 | 10日"),
        # what is new is no news, and whom to say it to is whom to tell
        ("Who approves a release of a new feature?", "変更諮問委員会"),
        ("ノートPCを落としたら誰に言いますか", "must be reported to the security desk"),
        ("Is smoking allowed in the office?", "only on the roof terrace"),
        # parents are no part of grandparents
        ("How many days off do I get when my father dies?", "父母または配偶者の死亡: 7日"),
    ],
)
def test_of_several_rules_the_one_that_was_asked_for_is_quoted(office: Ask, question: str, expected: str) -> None:
    answer = office(question)
    assert expected in answer.citations[0].quote, answer.text


@pytest.mark.parametrize(
    "question",
    [
        # receipts are handed in, not received at a reception
        "Where do I hand in my receipts?",
        # who pays is not whom it is reported to
        "Who has to pay when I lose my laptop?",
        # to quit is not quite, and notice is not noticing
        "How much notice do I have to give when I quit?",
        # an exception alone does not say what it is an exception to
        "新しい取引先には何を書いて出しますか",
        # what a document is for allows nothing
        "委託先は別の会社に仕事を回してもいいですか",
    ],
)
def test_no_rule_is_quoted_for_another(office: Ask, question: str) -> None:
    answer = office(question)
    assert not answer.grounded, answer.text


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("a priority one outage", Entity("p", "1")),
        ("severity two", Entity("sev", "2")),
        ("everything of level three", Entity("level", "3")),
    ],
)
def test_an_entity_may_be_numbered_in_words(text: str, entity: Entity) -> None:
    assert entity in entities_in(text)


@pytest.mark.parametrize("text", ["which level one of them has", "a class two hours long", "step two weeks back"])
def test_a_number_that_counts_something_names_no_entity(text: str) -> None:
    assert not entities_in(text)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("after three and a half years", "after 3.5 years"),
        ("2 and a half hours", "2.5 hours"),
        ("a year and a half", "1.5 years"),
        ("after half a year", "after 6 months"),
        ("1年半", "1年6か月"),
        ("半年ごと", "半年ごと"),
        ("in half of the cases", "in half of the cases"),
    ],
)
def test_halves_are_counted(text: str, counted: str) -> None:
    assert with_halves(text) == counted


@pytest.mark.parametrize(
    ("question", "kind", "of_whom"),
    [
        ("Who must be told, and how fast?", AnswerKind.TIME, True),
        ("How soon, and to whom?", AnswerKind.TIME, True),
        ("誰にいつまでに連絡しますか", AnswerKind.TIME, True),
        ("How long does an employee who is ill get paid?", AnswerKind.TIME, False),
        ("How fast may I drive in the yard?", AnswerKind.QUANTITY, False),
        ("合言葉はどのくらいで変えますか", AnswerKind.TIME, False),
    ],
)
def test_two_questions_at_once_are_both_heard(question: str, kind: AnswerKind, of_whom: bool) -> None:
    asked = analyse(question).asked
    assert (asked.kind, asked.of_whom) == (kind, of_whom)


def test_a_word_of_both_scripts_is_one_concept() -> None:
    concepts = analyse("USBメモリを持ち出せますか").concepts
    assert "usbメモリ" in [concept.surface for concept in concepts]
    assert not {"usb", "メモリ"}.intersection(concept.surface for concept in concepts)


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("care", "car"),
        ("planes", "plan"),
        ("notes", "not"),
        ("evening", "even"),
        ("riding", "rid"),
        ("quite", "quit"),
    ],
)
def test_words_that_have_nothing_in_common_have_different_stems(word: str, other: str) -> None:
    assert stem(word) != stem(other)


@pytest.mark.parametrize(("form", "word"), [("cared", "care"), ("dies", "die"), ("died", "die"), ("rode", "rode")])
def test_forms_of_short_words_have_the_stem_of_the_word(form: str, word: str) -> None:
    assert stem(form) == stem(word)
