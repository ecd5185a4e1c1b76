"""Whether a sentence says nothing but what a text says: the check between a model's phrasing and its evidence.

It knows no grammar and trusts nobody, so it lets a sentence shorten the text, and put in words that carry no meaning; it
refuses one that adds, rearranges, joins what was apart, or leaves out a number, a negation or an exception on the way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from a2a_hub.text.normalization import normalise

_KANJI, _KATAKANA = "\u3400-\u4dbf\u4e00-\u9fff々〆ヶ", "\u30a1-\u30fa\u30fc-\u30ff"
_VALUE = re.compile(r"[a-z]{1,6}-?[0-9]+[a-z]?|[0-9]+(?:[.,:/][0-9]+)*")
_TOKEN = re.compile(rf"{_VALUE.pattern}|[^\W\d_\u3000-\u9fff]+(?:'[a-z]+)?|[{_KANJI}]+|[{_KATAKANA}]+")
_SUFFIX = re.compile(r"(?:'s|ies|ied|y|es|ed|ing|e|s)$")
_EMPTY_WORD = re.compile(
    "an?|the|is|are|was|were|be|been|being|has|have|had|do|does|did|of|to|for|in|on|at|that|this|these|those|its?|they|their|"
    "them|he|she|you|your|we|our|us|i|as|so|also|please|there|here|which|who|then"
)


class Turn(StrEnum):
    """What turns the meaning of a sentence, in either language."""

    NEGATION = "negation"
    EXCEPTION = "exception"
    LIMIT = "limit"
    CONDITION = "condition"
    START = "start"
    END = "end"


_TURNS = {
    Turn.NEGATION: r"\b(?:not|no|never|none|neither|nor|without|cannot)\b|n't\b|ない|なく|ません|ずに|なし(?!と)|ぬ\b",
    Turn.EXCEPTION: r"\b(?:unless|except|excepting|excluding|however|but)\b|ただし|除く|除き|除い|以外",
    Turn.LIMIT: r"\b(?:only|solely)\b|のみ|だけ|しか|限[りるっ]",
    Turn.CONDITION: r"\b(?:if|when|where|provided|once|until)\b|場合|とき|たら|ならば|際",
    Turn.START: r"から|より",
    Turn.END: r"まで",
}
_PATTERNS = {turn: re.compile(pattern) for turn, pattern in _TURNS.items()}
# A condition may come from the question or a heading: it only narrows what is said.
_MAY_BE_ADDED = frozenset({Turn.CONDITION})
_MAY_BE_LEFT_OUT = frozenset({Turn.START, Turn.END})


class Flaw(StrEnum):
    """Why a sentence is not borne out."""

    EMPTY = "empty"
    NEW_WORD = "new_word"
    NEW_TURN = "new_turn"
    LOST_TURN = "lost_turn"
    REARRANGED = "rearranged"


def flaw_in(sentence: str, evidence: str, *, headings: Sequence[str] = ()) -> Flaw | None:
    """What is wrong with `sentence`; None when `evidence` bears it out. Words of its `headings` may stand anywhere."""
    words, source = _words(sentence), _words(evidence)
    about = {word for heading in headings for word in _words(heading)}
    told = [word for word in words if word in source]
    if not told:
        return Flaw.NEW_WORD if words else Flaw.EMPTY
    if any(word not in about for word in words if word not in source):
        return Flaw.NEW_WORD
    turns, source_turns = _turns(sentence), _turns(evidence)
    if turns - source_turns - _MAY_BE_ADDED:
        return Flaw.NEW_TURN
    if source_turns - turns - _MAY_BE_LEFT_OUT:
        return Flaw.LOST_TURN
    return None if _shortens(told, source) else Flaw.REARRANGED


def tells(sentences: Sequence[str], evidence: str) -> bool:
    """Whether `sentences` together tell at least half of the words of `evidence`, and every number and code."""
    source = set(_words(evidence))
    told = source.intersection(word for sentence in sentences for word in _words(sentence))
    return len(told) * 2 >= len(source) and not any(_has_digit(word) for word in source - told)


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _words(text: str) -> list[str]:
    """What carries meaning: numbers and codes, words by their stem, runs of kanji and of katakana."""
    words = [match[0] for match in _TOKEN.finditer(normalise(text).replace("\u2019", "'"))]
    return [_stem(word) for word in words if not _EMPTY_WORD.fullmatch(word)]


def _stem(word: str) -> str:
    if _VALUE.fullmatch(word):
        return word.replace("-", "").replace(",", "")
    return _SUFFIX.sub("", word) if len(word) > 4 and word.isascii() else word


def _turns(text: str) -> set[Turn]:
    normal = normalise(text).replace("\u2019", "'")
    return {turn for turn, pattern in _PATTERNS.items() if pattern.search(normal)}


def _shortens(told: Sequence[str], source: Sequence[str]) -> bool:
    """Whether `told` is `source` in its order, with no more left out in between than a third, and no number."""
    return any(_shortens_from(start, told, source) for start, word in enumerate(source) if word == told[0])


def _shortens_from(start: int, told: Sequence[str], source: Sequence[str]) -> bool:
    at, skipped = start, 0
    for word in told:
        while at < len(source) and source[at] != word:
            if _has_digit(source[at]):
                return False
            skipped += 1
            at += 1
        if at == len(source):
            return False
        at += 1
    return skipped * 3 <= at - start
