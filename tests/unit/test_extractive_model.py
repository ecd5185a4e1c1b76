"""The stand-in for a language model keeps its own few rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloud.vertex_ai import answer, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Snow is white. Coal is black. What colour is coal?", "Coal is black."),
        ("Snow is white.\nCoal is black.\nWhat colour is coal?", "Coal is black."),
        ("雪は白い。\n石炭は黒い。\n石炭は何色ですか", "石炭は黒い。"),
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
