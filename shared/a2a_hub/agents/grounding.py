"""Grounding: check that a sentence states nothing beyond its evidence, such as a model's phrasing of an answer.

The check knows no grammar. A sentence may shorten the evidence and use words without meaning; it is rejected if it adds,
rearranges or joins statements, or leaves out a number, a negation or an exception.
"""

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


class Modifier(StrEnum):
    """An expression that changes the meaning of a sentence, in either language."""

    NEGATION = "negation"
    EXCEPTION = "exception"
    LIMIT = "limit"
    CONDITION = "condition"
    START = "start"
    END = "end"


_EXPRESSIONS = {
    Modifier.NEGATION: r"\b(?:not|no|never|none|neither|nor|without|cannot)\b|n't\b|ない|なく|ません|ずに|なし(?!と)|ぬ\b",
    Modifier.EXCEPTION: r"\b(?:unless|except|excepting|excluding|however|but)\b|ただし|除く|除き|除い|以外",
    Modifier.LIMIT: r"\b(?:only|solely)\b|のみ|だけ|しか|限[りるっ]",
    Modifier.CONDITION: r"\b(?:if|when|where|provided|once|until)\b|場合|とき|たら|ならば|際",
    Modifier.START: r"から|より",
    Modifier.END: r"まで",
}
_PATTERNS = {modifier: re.compile(pattern) for modifier, pattern in _EXPRESSIONS.items()}
# A condition may come from the question or a heading: it only narrows the statement.
_MAY_BE_ADDED = frozenset({Modifier.CONDITION})
_MAY_BE_LEFT_OUT = frozenset({Modifier.START, Modifier.END})


class Flaw(StrEnum):
    """The reason why a sentence is not grounded."""

    EMPTY = "empty"
    NEW_WORD = "new_word"
    NEW_MODIFIER = "new_turn"
    LOST_MODIFIER = "lost_turn"
    REARRANGED = "rearranged"


def find_flaw(sentence: str, evidence: str, *, headings: Sequence[str] = ()) -> Flaw | None:
    """Return the flaw of `sentence`; None if it is grounded in `evidence`. Words of its `headings` may stand anywhere."""
    words, source = _words(sentence), _words(evidence)
    about = {word for heading in headings for word in _words(heading)}
    grounded = [word for word in words if word in source]
    if not grounded:
        return Flaw.NEW_WORD if words else Flaw.EMPTY
    if any(word not in about for word in words if word not in source):
        return Flaw.NEW_WORD
    modifiers, source_modifiers = _modifiers(sentence), _modifiers(evidence)
    if modifiers - source_modifiers - _MAY_BE_ADDED:
        return Flaw.NEW_MODIFIER
    if source_modifiers - modifiers - _MAY_BE_LEFT_OUT:
        return Flaw.LOST_MODIFIER
    return None if _shortens(grounded, source) else Flaw.REARRANGED


def covers(sentences: Sequence[str], evidence: str) -> bool:
    """Return True if `sentences` together have at least half of the words of `evidence`, and every number and code."""
    source = set(_words(evidence))
    covered = source.intersection(word for sentence in sentences for word in _words(sentence))
    return len(covered) * 2 >= len(source) and not any(_has_digit(word) for word in source - covered)


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _words(text: str) -> list[str]:
    """Return the words with meaning: numbers and codes, stems, runs of kanji and of katakana."""
    words = [match[0] for match in _TOKEN.finditer(normalise(text).replace("\u2019", "'"))]
    return [_stem(word) for word in words if not _EMPTY_WORD.fullmatch(word)]


def _stem(word: str) -> str:
    if _VALUE.fullmatch(word):
        return word.replace("-", "").replace(",", "")
    return _SUFFIX.sub("", word) if len(word) > 4 and word.isascii() else word


def _modifiers(text: str) -> set[Modifier]:
    normal = normalise(text).replace("\u2019", "'")
    return {modifier for modifier, pattern in _PATTERNS.items() if pattern.search(normal)}


def _shortens(words: Sequence[str], source: Sequence[str]) -> bool:
    """Return True if `words` are `source` in order, with at most a third left out in between, and no number."""
    return any(_shortens_from(start, words, source) for start, word in enumerate(source) if word == words[0])


def _shortens_from(start: int, words: Sequence[str], source: Sequence[str]) -> bool:
    at, skipped = start, 0
    for word in words:
        while at < len(source) and source[at] != word:
            if _has_digit(source[at]):
                return False
            skipped += 1
            at += 1
        if at == len(source):
            return False
        at += 1
    return skipped * 3 <= at - start
