"""The words of a question in the other language."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from functions.docqa.retrieval.dictionary import translations
from functions.docqa.retrieval.query import groups_of


def meanings(text: str) -> dict[str, tuple[str, ...]]:
    return {each.word: each.meanings for each in translations(text)}


@pytest.mark.parametrize(
    ("text", "word", "meaning"),
    [
        ("駐車場", "駐車場", "parking lot"),
        ("クレーン", "クレーン", "crane"),
        ("係留料金", "係留", "mooring"),
        ("急ぎ", "急ぎ", "hurry"),
        ("払い戻せます", "払い戻", "refund"),
    ],
)
def test_a_japanese_word_is_said_in_english(text: str, word: str, meaning: str) -> None:
    assert any(meaning in each for each in meanings(text)[word])


@pytest.mark.parametrize(
    ("text", "word", "meaning"),
    [
        ("refunds", "refunds", "払い戻"),
        ("cancelling", "cancelling", "取り消"),
        ("a parking lot near", "parking lot", "駐車場"),
        ("penalties", "penalties", "罰則"),
        ("mooring", "mooring", "係留"),
    ],
)
def test_an_english_word_is_said_in_japanese(text: str, word: str, meaning: str) -> None:
    assert meaning in meanings(text)[word]


def test_the_longest_word_is_taken_and_not_its_parts() -> None:
    assert [each.word for each in translations("駐車場の料金")] == ["駐車場", "料金"]


def test_a_word_in_common_use_comes_first() -> None:
    assert meanings("駐車場")["駐車場"][0] == "parking lot"
    assert set(meanings("fee")["fee"][:2]) == {"代金", "料金"}


def test_what_no_dictionary_has_is_not_translated() -> None:
    assert translations("xqzzy 4711 ♪") == []


def test_words_that_only_ask_are_not_translated() -> None:
    translated = [group for group in groups_of("how much is it and when can i get the refund?") if group.is_translated]
    assert [group.own for group in translated] == [("払", "戻")]


def test_a_word_that_is_said_again_is_translated_once() -> None:
    assert [each.word for each in translations("駐車場と駐車場 refund refund")] == ["駐車場", "refund"]


def test_of_a_long_text_the_first_words_are_translated() -> None:
    text = (
        "water fire tree house door window table chair road car train ship bird fish cow horse snow rain wind cloud moon star "
        "sun river mountain sea island forest stone gold silver iron paper book pen letter word music picture song dance school"
    )
    assert [each.word for each in translations(text)] == [each.word for each in translations(f"{text} teacher doctor")]


def test_a_dictionary_that_cannot_be_read_costs_no_answer(tmp_path: Path) -> None:
    (tmp_path / "jamdict_data.py").write_text(f"JAMDICT_DB_PATH = {str(tmp_path / 'missing.db')!r}")
    program = "from functions.docqa.retrieval.dictionary import translations; print(translations('駐車場'))"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
    assert "the dictionary cannot be read" in done.stderr


def test_without_the_package_there_are_no_translations() -> None:
    program = (
        "import sys; sys.modules['jamdict_data'] = None\n"
        "from functions.docqa.retrieval.dictionary import translations; print(translations('駐車場'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
