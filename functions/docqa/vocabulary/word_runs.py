"""Runs of a question's words that stand word for word in a text: "first report due", 「使用料の還付」."""

import re
from collections.abc import Iterator
from functools import lru_cache

from functions.docqa.vocabulary.lexicon import lexicon
from functions.docqa.vocabulary.words import HIRAGANA, View, view

_MOST_WORDS, _MOST_CHARACTERS, _LEAST_CHARACTERS = 5, 12, 4
_PER_WORD, _PER_CHARACTER, _MOST = 0.04, 0.012, 0.12
_INSIDE = re.compile(rf"(?![{HIRAGANA}])[^\x00-\x7f、。？「」]{{4,}}")


def run_bonus(question: str, said: View) -> float:
    """More, the longer the longest run of the question's words in a text is; 0 without one of two words."""
    words, characters = _runs(question)
    for worth, run in words:
        if run in said.words:
            return worth
    for worth, run in characters:
        if run in said.text:
            return worth
    return 0.0


# For as many questions as are answered at once: of a long one, they are megabytes.
@lru_cache(maxsize=8)
def _runs(question: str) -> tuple[list[tuple[float, str]], list[tuple[float, str]]]:
    """The runs of English words and of Japanese characters, the longest first, each with its worth."""
    said = view(question)
    words = sorted(_of_words(said.words.split()), reverse=True)
    characters = sorted(_of_characters(said.text), reverse=True)
    return words, characters


def _of_words(words: list[str]) -> Iterator[tuple[float, str]]:
    content = [word not in lexicon().stop for word in words]
    for start in range(len(words)):
        for end in range(start + 2, min(len(words), start + _MOST_WORDS) + 1):
            told = sum(content[start:end])
            if told > 1 and content[start] and content[end - 1]:
                yield min(_MOST, _PER_WORD * (told - 1)), f" {' '.join(words[start:end])} "


def _of_characters(text: str) -> Iterator[tuple[float, str]]:
    for match in _INSIDE.finditer(text):
        run = match.group()
        for start in range(len(run)):
            for end in range(start + _LEAST_CHARACTERS, min(len(run), start + _MOST_CHARACTERS) + 1):
                worth = min(_MOST, _PER_CHARACTER * (end - start - _LEAST_CHARACTERS + 2))
                yield worth, run[start:end]
