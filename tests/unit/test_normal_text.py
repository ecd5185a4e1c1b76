"""One spelling for what looks the same."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_hub.text.normalization import compose, normalise, stream_safe

SPELLINGS = [
    ("ＷＢＳ", "wbs"),
    ("ﾌﾟﾛｼﾞｪｸﾄ", "プロジェクト"),
    ("  two\u3000 words\n", "two words"),
    ("Ｐ−１ P‐1 P–1", "p-1 p-1 p-1"),
    ("soft\u00adhyphen\u200b", "softhyphen"),
    ("\u202e/help\u2066\u2069", "/help"),
    ("STRASSE straße", "strasse strasse"),
    ("か\u3099", "が"),
    ("㈱", "(株)"),
    ("\ud800", "?"),
    ("", ""),
]


@pytest.mark.parametrize(("written", "normal"), SPELLINGS)
def test_spellings_that_look_the_same_become_one(written: str, normal: str) -> None:
    assert normalise(written) == normal


@given(st.text() | st.text(alphabet=st.characters(categories=["Cs", "Mn", "Lo", "Ll", "Cf", "Zs"])))
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize(
    "marks",
    ["\u0301\u0316", "\u0301\uff9e", "\u0f73\u0316\u0f81", "\u3099\u302a", "\U0001d165\u0316"],
    ids=["of Latin", "half-width", "that are decomposed", "of Japanese", "beyond the first plane"],
)
def test_more_than_thirty_marks_in_a_row_are_left_out(marks: str) -> None:
    text = f"e{marks * 50}x{marks * 5}y"
    assert len(stream_safe(text)) == len(f"e{'m' * 30}x{'m' * len(marks * 5)}y")
    assert compose(text) == unicodedata.normalize("NFKC", f"e{(marks * 50)[:30]}x{marks * 5}y")
    assert normalise(text) == normalise(normalise(text))


def test_marks_that_come_together_when_invisible_characters_go_are_counted_anew() -> None:
    assert sum(map(bool, map(unicodedata.combining, normalise("e" + "\u0301\u0316\u200d" * 100)))) <= 30


@given(st.text(max_size=30) | st.text(alphabet="。…─😀 aの\u0301", max_size=30))
def test_text_without_long_runs_of_marks_is_composed_as_ever(text: str) -> None:
    assert compose(text) == unicodedata.normalize("NFKC", text)


@pytest.mark.parametrize("text", ["。" * 200, "😀" * 200, "─" * 200, "e\u0301" * 200, "の" * 200])
def test_symbols_in_a_row_are_no_marks(text: str) -> None:
    assert stream_safe(text) == text
