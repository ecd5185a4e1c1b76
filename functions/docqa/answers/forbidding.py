"""Sentences that forbid a thing whatever is done with it: "USB sticks are prohibited", 「USBメモリは禁止する」."""

import re

from functions.docqa.answers.judged import normal_of
from functions.docqa.answers.matching import Surroundings, says
from functions.docqa.answers.occasions import has
from functions.docqa.questions.concept import Role
from functions.docqa.questions.expressions import AnswerKind
from functions.docqa.questions.question import Question

# Photography in the laboratory is an act, and forbids nothing else there.
_FORBIDS = re.compile(
    r"^\W*(?:the |all |any )?"
    r"(?:(?!(?:in|on|of|at|for|by|with|from|to|during|without|\w+ing)\b)[\w-]+ ){1,4}?(?:is|are) (?:strictly |generally )?"
    r"(?:prohibited|forbidden|banned|not (?:allowed|permitted))\.?$"
    r"|^[^、。はのでへにを]{1,16}は、?(?:一切|原則として|全面的に)?(?:禁止|厳禁|不可)(?:する|とする|です|である|します)?。?$"
)
_SURELY, _FORBIDDEN_TOO = 0.9, 0.6


def forbidding(question: Question, around: Surroundings) -> frozenset[int]:
    """Which units forbid a thing of the question as such, where it is asked what may be done with it."""
    if question.kind is not AnswerKind.PERMISSION:
        return frozenset()
    things = [each for each in question.concepts if each.role is Role.NOUN and not each.aside]
    return frozenset(
        number
        for number, unit in enumerate(around.passage.units)
        if has(_FORBIDS, normal_of(unit.text)) and any(says(thing, around.units[number]) >= _SURELY for thing in things)
    )


def with_every_act(question: Question, said: list[float]) -> list[float]:
    """`said` of a sentence that forbids a thing, with the acts that are forbidden by that."""
    return [
        max(level, _FORBIDDEN_TOO) if concept.role is Role.ACTION else level
        for concept, level in zip(question.concepts, said, strict=True)
    ]
