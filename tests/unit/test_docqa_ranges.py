"""Amounts, ranges, entities and kinds of question are read as people mean them."""

import math

import pytest

from functions.docqa.questions.entities import Entity, entities_in, governed, years_in
from functions.docqa.questions.expressions import AnswerKind
from functions.docqa.questions.question import analyse
from functions.docqa.questions.ranges import is_wider, range_fit, ranges_in
from functions.docqa.vocabulary.words import index_text, language_of, normalise, stem


@pytest.mark.parametrize(
    ("text", "unit", "inside", "outside"),
    [
        ("500,000 yen to 5,000,000 yen", "yen", 1_000_000, 6_000_000),
        ("over 5,000,000 yen", "yen", 5_000_001, 5_000_000),
        ("under 500,000 yen", "yen", 499_999, 500_000),
        ("100,001-500,000 yen", "yen", 500_000, 500_001),
        ("100万円以上500万円未満", "yen", 1_000_000, 5_000_000),
        ("6年6か月以上", "month", 78, 77),
        ("more than 20 kg", "kg", 21, 20),
        ("up to EUR 3,000", "euro", 3_000, 3_001),
        ("more than EUR 500, up to EUR 3,000", "euro", 3_000, 500),
        ("over 20 kg and at most 30 kg", "kg", 30, 31),
        ("3 to 8 cubic metres", "cubic metre", 8, 9),
    ],
)
def test_a_range_holds_what_it_says(text: str, unit: str, inside: float, outside: float) -> None:
    found = [entry for entry in ranges_in(normalise(text)) if entry.unit == unit and entry.bounded]
    assert any(entry.low <= inside <= entry.high for entry in found)
    assert not any(entry.low <= outside <= entry.high for entry in found)


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("the rules of 2023", {"2023"}),
        ("2023年度の規程", {"2023"}),
        ("in 2023, before", {"2023"}),
        ("a trip of EUR 2,000", set()),
        ("2000 yen", set()),
        ("EUR 2000", set()),
        ("2000円", set()),
        ("2,023 people", set()),
    ],
)
def test_a_year_is_no_amount(text: str, years: set[str]) -> None:
    assert years_in(text) == years


def test_a_row_whose_range_holds_the_amount_fits_better() -> None:
    asked = ranges_in(normalise("Who approves 700,000 yen?"))
    fits = [range_fit(asked, normalise(row)) for row in ("under 500,000 yen", "500,000 yen to 5,000,000 yen")]
    assert fits[0] < 0 < fits[1]
    assert range_fit([], "anything") == 0
    assert ranges_in("no amounts, 7 of them") == []
    assert math.isinf(ranges_in("over 3 days")[0].high)


@pytest.mark.parametrize("text", ["P-1", "p1", "Ｐ－１", "Priority 1", "優先度1", "P-1 to P-3", "P1インシデント"])
def test_one_entity_has_many_spellings(text: str) -> None:
    assert Entity("p", "1") in entities_in(text)


@pytest.mark.parametrize("text", ["P-11", "P-2", "step 1", "AP-1", "1 priority"])
def test_a_neighbour_is_not_the_entity(text: str) -> None:
    assert Entity("p", "1") not in entities_in(text)


def test_the_nearest_text_that_names_the_family_decides() -> None:
    one, two = Entity("p", "1"), Entity("p", "2")
    assert governed(one, [frozenset(), frozenset({one}), frozenset({two})]) is True
    assert governed(one, [frozenset({two}), frozenset({one})]) is False
    assert governed(one, [frozenset(), frozenset()]) is None


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("By when must I report it?", AnswerKind.TIME),
        ("いつまでに報告しますか?", AnswerKind.TIME),
        ("How often is it tested?", AnswerKind.FREQUENCY),
        ("点検の頻度は?", AnswerKind.FREQUENCY),
        ("How much does it cost?", AnswerKind.MONEY),
        ("手当はいくらですか", AnswerKind.MONEY),
        ("How many people may enter?", AnswerKind.QUANTITY),
        ("定員は何名ですか", AnswerKind.QUANTITY),
        ("Who approves it?", AnswerKind.PERSON),
        ("承認者は誰ですか", AnswerKind.PERSON),
        ("What is the phone number of the desk?", AnswerKind.CONTACT),
        ("Where is it kept?", AnswerKind.PLACE),
        ("どこに保管しますか", AnswerKind.PLACE),
        ("May I bring a dog?", AnswerKind.PERMISSION),
        ("犬を連れてきてもいいですか", AnswerKind.PERMISSION),
        ("How do I reset it?", AnswerKind.PROCEDURE),
        ("どうすればいいですか", AnswerKind.PROCEDURE),
        ("What is a near miss?", AnswerKind.DEFINITION),
        ("ヒヤリハットとは何ですか", AnswerKind.DEFINITION),
        ("Why is it forbidden?", AnswerKind.REASON),
        ("例外はどんな場合ですか", AnswerKind.CONDITION),
    ],
)
def test_the_kind_of_a_question_is_recognised(question: str, kind: AnswerKind) -> None:
    assert analyse(question).kind is kind


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("notify", "notified"),
        ("policies", "policy"),
        ("approve", "approving"),
        ("kept", "keep"),
        ("stops", "stopped"),
    ],
)
def test_forms_of_one_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_the_index_holds_bigrams_of_japanese_and_codes_as_one_word() -> None:
    assert index_text("P-1の検知後") == "p1 の検 検知 知後 後"
    assert index_text("三月のサーバー") == "3 月の のサ サー ーバ バー ー サーバー"


def test_the_index_holds_english_without_its_markup_endings_and_thousands_separators() -> None:
    assert index_text("**Booked** [rooms](a.html)\n(A-12): 1,000, it's 3.5.") == "book room a12 1000 it 3.5"


def test_a_word_is_found_with_its_accents_or_without() -> None:
    assert index_text("Café Müller, naïve × 3") == index_text("cafe muller, naive × 3")
    assert normalise("ガギグ") == "ガギグ"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("We meet at 渋谷 on Monday and the day after.", "en"),
        ("— “Quoted” —", "en"),
        ("2024 …", "en"),
        ("Meeting 会", "ja"),
        ("会議は Room A で行う。", "ja"),
    ],
)
def test_a_text_is_japanese_when_a_tenth_of_its_letters_are(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["99.0%未満97.0%以上", "below 99.0 % but at least 97.0 %"])
def test_a_range_may_be_told_from_its_end(text: str) -> None:
    (told,) = ranges_in(normalise(text))
    assert told.low == 97.0
    assert 98.99 < told.high < 99.0


def test_a_calendar_year_is_no_amount() -> None:
    assert ranges_in(normalise("2024年版")) == []


def test_a_numbered_stage_is_told_from_the_others_and_a_count_of_stages_is_none() -> None:
    (second,) = entities_in("第2段階で本部を置く")
    assert second not in entities_in("第1段階では支部を置く")
    assert not entities_in("5段階で評価する")


def test_of_two_open_ranges_that_hold_an_amount_the_nearer_bound_is_meant() -> None:
    asked = analyse("What credit is due at 98%?").amounts
    assert is_wider(asked, "below 99.9% | 5 points", "below 99.0% | 15 points")
    assert not is_wider(asked, "below 99.0% | 15 points", "below 99.9% | 5 points")
    assert not is_wider(asked, "below 99.0% | 15 points", "below 95.0% | 50 points")
