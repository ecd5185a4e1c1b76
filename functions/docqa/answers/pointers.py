"""Sentences that only point to another page: navigation, and "see the [guide](guide.md)"."""

import re

from functions.docqa.model import Unit, UnitKind
from functions.docqa.questions.expressions import AnswerKind
from functions.docqa.questions.question import Question

_LINK_ALONE = re.compile(r"\W*\[[^\]]*\]\([^()]*\)\W*$")
_POINTER = re.compile(
    r"\W*(?:(?:for|more|to) [^.\[]{1,60}[,:] )?(?:please )?"
    r"(?:see|read|check out|refer to|visit|have a look at|take a look at|review|follow)\b"
    r"[^.\[]{0,40}\[[^\]]*\]\([^()]*\)[^.]{0,30}\.?$",
    re.IGNORECASE,
)
_MAY_POINT = frozenset({AnswerKind.PLACE, AnswerKind.CONTACT, AnswerKind.PROCEDURE})


def only_points(question: Question, unit: Unit) -> bool:
    """Whether a unit does nothing but point to another page, which answers at most where something is found."""
    if "](" not in unit.text or question.kind in _MAY_POINT or unit.kind is UnitKind.LIST:
        return False
    return _LINK_ALONE.match(unit.text) is not None or _POINTER.match(unit.text) is not None
