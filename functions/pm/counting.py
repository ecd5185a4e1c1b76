"""The part of a list that a question asks for: "three tasks", "top 5", "two more", 「タスクを3つ」, 「もう二つ」."""

import re
from dataclasses import dataclass

from a2a_hub.text.normalization import normalise
from a2a_hub.text.quantities import number
from a2a_hub.text.quantity_patterns import NUMBER_WORDS

_WORDS = {word: value for word, value in NUMBER_WORDS.items() if 0 < value <= 20}
_NUMBER = rf"([0-9]{{1,3}}|{'|'.join(sorted(_WORDS, key=len, reverse=True))})(?![\w.%-])"
# Items that can be listed. An amount of anything else ("two weeks behind", "a six-month project") requests no number.
_ITEM = r"(?:tasks?|steps?|items?|things?|examples?|actions?|points?|milestones?|risks?|ways?|ideas?)\b"
_COUNTS = (
    re.compile(
        r"([0-9]{1,3}|[一二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九])"
        r" ?(?:つ|個|件|項目|点|ステップ|タスク|例|リスク)(?!目|前|後)"
    ),
    # Up to three words stand between: "three most important tasks".
    re.compile(
        rf"(?<![\w.-]){_NUMBER}(?: (?!days?\b|weeks?\b|months?\b|years?\b|people\b|of\b|and\b|or\b)[\w'-]+){{0,3}}? {_ITEM}"
    ),
    re.compile(
        rf"\b(?:(?:list|name|give|show)(?: me)?|top) {_NUMBER}(?! (?:days?|weeks?|months?)\b)|\b{_NUMBER} more\b"
    ),
)
_MORE = re.compile(r"\b(?:more|others?|next|else)\b|あと|もう|続き|(?:ほか|他)に")


@dataclass(frozen=True, slots=True)
class Portion:
    """The requested part of a list: `count` items after the `skipped` ones; None if no number was requested."""

    skipped: int
    count: int | None


def requested_portion(question: str, *, usual: int) -> Portion:
    """Return the part of a list that the last of a conversation's questions, one per line, asks for.

    `usual` is the number of items in an answer without a requested number.
    """
    skipped, count = 0, None
    for position, line in enumerate(question.splitlines()):
        if position and _MORE.search(normalise(line)):
            skipped += count or usual
        count = requested_count(line) or count
    return Portion(skipped, count)


def requested_count(question: str) -> int | None:
    """Return the requested number of items, at least 1; None if the question names none."""
    text = normalise(question)
    for pattern in _COUNTS:
        if match := pattern.search(text):
            word = next(group for group in match.groups() if group)
            return _WORDS.get(word) or int(number(word)) or None
    return None
