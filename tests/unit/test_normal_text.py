"""One spelling for what looks the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_hub.text.normalization import normalise

SPELLINGS = [
    ("ＷＢＳ", "wbs"),
    ("ﾌﾟﾛｼﾞｪｸﾄ", "プロジェクト"),
    ("  two\u3000 words\n", "two words"),
    ("Ｐ−１ P‐1 P–1", "p-1 p-1 p-1"),
    ("soft\u00adhyphen\u200b", "softhyphen"),
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
