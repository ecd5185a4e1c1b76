"""The stand-in for a language model keeps its own few rules."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloud.vertex_answers import answer, numbers, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Snow is white. Coal is black. What colour is coal?", "Coal is black."),
        ("[1] Snow is white.\n[2] Coal is black.\nWhat colour is coal?", "Coal is black. [2]"),
        ("[1] 雪は白い。\n[2] 石炭は黒い。\n石炭は何色ですか", "石炭は黒い。 [2]"),
        (
            "Coal burns. Snow is white. Coal is black. Is coal black or does coal burn?",
            "Coal burns. Coal is black.",
        ),
        ("Only a statement. And another.", "Only a statement."),
    ],
)
def test_it_answers_with_what_it_was_given(text: str, expected: str) -> None:
    assert answer(text) == expected


@pytest.mark.parametrize("text", ["Who was the first king?", "Snow is white. Who was the first king?"])
def test_it_knows_nothing_else(text: str) -> None:
    assert "stand-in" in answer(text)


def test_it_says_so_in_japanese_where_it_is_asked_in_japanese() -> None:
    assert "代用品" in answer("最初の王は誰ですか？")


@pytest.mark.parametrize("text", ["", " ", "\n", "?", "[1]", "。"])
def test_it_always_says_something(text: str) -> None:
    assert answer(text)


@given(st.text())
def test_tokens_are_the_text_in_pieces(text: str) -> None:
    assert "".join(tokens(text)) == text


@given(st.text())
def test_the_same_text_is_answered_in_the_same_way(text: str) -> None:
    assert answer(text) == answer(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1] Snow is white.\n[2] Coal is black.\n\nWhat colour is coal?", "[2]"),
        ("[1] Colours: Coal is black.\n[2] Colours: Snow is white.\n\nIs snow or coal white?", "[2]"),
        ("[1] Coal is black.\n[2] Fire is hot.\n[3] Snow is white.\n\nIs snow like coal?", "[1, 3]"),
        ("[1] 雪は白い。\n[2] 石炭は黒い。\n\n石炭は何色ですか", "[2]"),
        ("[1] Snow is white.\n\nWhich king of Spain sold the colour to whom?", "[]"),
        ("[1] Snow is white.\n\nWho was the first king?", "[]"),
        ("[1] Snow is white.\n\nTell me about snow.", "[]"),
        ("Snow is white. What colour is snow?", "[]"),
        ("[1] Snow one.\n[2] Snow two.\n[3] Snow three.\n[4] Snow four.\n\nWhat is snow?", "[1, 2, 3]"),
        ("", "[]"),
    ],
)
def test_where_numbers_are_wanted_it_names_the_lines_that_share_the_questions_words(text: str, expected: str) -> None:
    assert numbers(text) == expected


@given(st.text(alphabet="[]1 snow?か。\n"))
def test_numbers_are_those_of_marks_whatever_the_text_is(text: str) -> None:
    assert all(f"[{number}]" in text for number in json.loads(numbers(text)))
