"""Where a sentence expresses what is asked for: not in the question's own words, and not in a rate."""

import re
from functools import lru_cache

from functions.docqa.questions.expressions import PATTERNS, AnswerKind
from functions.docqa.questions.question import Question

_RATE = re.compile(r"\d+(?:日|時間|分|[かヶカ]?月|年|週間?|泊)(?:当たり|あたり|につき)")
_PRICE_RATE = re.compile(
    r"(?:yen|euros?|dollars?|pounds?|cents?|円|ドル|ユーロ) ?(?:per|an?|each|every) \w+"
    r"|(?:毎[日月年週]|\d(?:日|[かヶカ]月|年|週間?|時間|回))(?:当たり|あたり|につき|ごとに|に)?、?[\d,]+ ?円"
)


def without_what_only_looks_so(question: Question, normal: str) -> str:
    """`normal` without what looks like a time and is none: 始業時刻 where that is asked for, 「1日当たり」; no price for each
    day is a frequency.

    Other kinds of answers are left as they are.
    """
    if question.kind is AnswerKind.FREQUENCY:
        return _PRICE_RATE.sub(" ", normal)
    if question.kind is not AnswerKind.TIME or normal.isascii():
        return normal
    for word in _like_times(tuple(concept.own[0] for concept in question.concepts)):
        normal = normal.replace(word, " ")
    return normal if question.per else _RATE.sub(" ", normal)


@lru_cache(maxsize=256)
def _like_times(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a question that are an expression of time as they stand."""
    said = [word for word in words if not word.isascii() and not any(map(str.isdigit, word))]
    return tuple(word for word in said if PATTERNS[AnswerKind.TIME].search(word))
