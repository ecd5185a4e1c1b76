"""Questions and terms meet in one form."""

import pytest

from a2a_hub.agents.knowledge import Clue, Rule, search_term, searchable, topic_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What's the EXPENSE policy?", " what the expense policy "),
        ("Receipts, taxis and countries", " receipt taxi and country "),
        ("Ｍｔ．Ｆｕｊｉの高さは？", " mt fuji の高さは "),
        ("ｹｲﾋ 精算・期限", " ケイヒ精算期限 "),
        ("Reykjavík", " reykjavik "),
        ("C++ and 3.14", " c++ and 3.14 "),
        ("", "  "),
    ],
)
def test_a_text_becomes_its_words(text: str, words: str) -> None:
    assert searchable(text) == words


@pytest.mark.parametrize(
    ("term", "text", "stands_there"),
    [
        ("receipt", "my receipts", True),
        ("receipt", "the receiptless way", False),
        ("per diem", "Per-diem rates", True),
        ("タクシー", "深夜タクシー代", True),
        ("期限", "きげん", False),
    ],
)
def test_english_terms_are_whole_words_and_japanese_ones_stand_anywhere(
    term: str, text: str, stands_there: bool
) -> None:
    assert (search_term(term) in searchable(text)) is stands_there


def test_a_clue_needs_a_term_of_each_group() -> None:
    clue = Clue.parse("when + paid|pay")
    assert clue.match_length(searchable("When do you pay?"))
    assert not clue.match_length(searchable("When?"))
    assert not clue.match_length(searchable("Do you pay?"))


def test_the_highest_rank_wins_and_then_the_longest_clue() -> None:
    rules = [
        Rule.of("car", rank=1, clues=["car"]),
        Rule.of("green car", rank=1, clues=["green car"]),
        Rule.of("deadline", rank=2, clues=["when"]),
    ]
    assert topic_of("the green car", rules) == "green car"
    assert topic_of("when does the green car", rules) == "deadline"
    assert topic_of("the bus", rules) is None
