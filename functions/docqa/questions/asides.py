"""What stands beside a question: the story told before it and remarks in parentheses narrow it, but need not be said."""

import re
from collections.abc import Sequence

from functions.docqa.vocabulary.words import HIRAGANA

_SENTENCE_END = re.compile(r"(?:[.!?。!？](?=\s|$|[^\x00-\x7f])|[。？])\s*")
_REMARK = re.compile(r"\([^()]{6,}\)|（[^（）]{4,}）")
# "I spent four hours on it, when am I …", 「借家ですが、…」, 「…してしまったのですが、…」
_TOLD_FIRST = re.compile(
    r"^\W*(?:i|we|my|our|one of (?:my|our))\b[^?]*?,(?= (?:so )?(?:when|what|where|who|which|how|can|may|must"
    r"|should|do|does|is|are|will)\b)"
    r"|^[^?？。]{4,}?(?:です|ます|ました|でした|たん|たの|るん|るの|[いう]ん|[いう]の|なの)(?:です)?(?:が|けど|けれど|けれども)、"
    rf"(?=[^{HIRAGANA}])"
)
_DENIED = re.compile(r"(?:ありません|ではない|でない|いません|ではありません)[）)]$|^\((?:not|no|without)\b")
_POINTS_BACK = re.compile(
    r"\b(?:it|that|this|them|those|these|there|then|he|she|him|her|one|ok|okay|so)\b(?! (?:is|are|a|an|the)\b)"
    r"|それ|その|これ|この|そこ|そう|どうすれば|どうしたら|大丈夫"
)


def question_itself(normal: str) -> str:
    """The last sentence or clause of a normalised text: what it asks."""
    return normal[_start_of_question(normal) :]


def told_before(normal: str) -> str:
    """What a normalised text tells before its question."""
    return normal[: _start_of_question(normal)]


def asides(normal: str) -> list[tuple[int, int]]:
    """Where a normalised text tells something beside its question, in the order in which it stands.

    Nothing is beside a question that points back to it ("how long does that take?").
    """
    remarks = [match.span() for match in _REMARK.finditer(normal)]
    start = _start_of_question(normal)
    if start and not _POINTS_BACK.search(normal, start):
        return [(0, start), *remarks]
    return remarks


def denied(normal: str) -> list[tuple[int, int]]:
    """Where a remark says what does not hold: 「(育児の事情はありません)」."""
    return [match.span() for match in _REMARK.finditer(normal) if _DENIED.search(match.group())]


def _start_of_question(normal: str) -> int:
    ends = [match.end() for match in _SENTENCE_END.finditer(normal.rstrip(" ?？。.!"))]
    start = ends[-1] if ends else 0
    told = _TOLD_FIRST.match(normal[start:])
    return start + told.end() if told else start


def within(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether what stands from `start` to `end` is inside one of `spans`."""
    return any(first <= start and end <= last for first, last in spans)


def without_spans(normal: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with `spans` blanked out; offsets stay."""
    for start, end in spans:
        normal = normal[:start] + " " * (end - start) + normal[end:]
    return normal
