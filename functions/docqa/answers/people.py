"""Whether a unit names the people that a question asks for."""

import re

from functions.docqa.answers.judged import Judged
from functions.docqa.answers.occasions import has
from functions.docqa.model import Unit, UnitKind
from functions.docqa.questions.expressions import PATTERNS, AnswerKind
from functions.docqa.vocabulary.words import normalise

_BY_WHOM = re.compile(r"\b(?:who\w*|by|owner|responsib\w+|contact)\b|担当|部署|責任|実施|承認|主管")
_TO_WHOM = re.compile(r"(?:誰|だれ|どなた)(?:に|へ|から|宛)(?!つい|よ|関)")
_TOLD = re.compile(r"[一-龯ァ-ヶー]{2,}(?:に|へ)(?!は|お[いけ]|基|よ|つ[いき]|関)")


def is_by_whom(unit: Unit) -> bool:
    """Whether a unit is the row of a table with a column of people."""
    return has(_BY_WHOM, normalise(unit.header))


def names_people(judged: Judged) -> bool:
    """Whether a unit names people, or stands in a table with a column of them."""
    return has(PATTERNS[AnswerKind.PERSON], judged.normal) or is_by_whom(judged.unit)


def names_nobody_to_turn_to(judged: Judged) -> bool:
    """Whether it is asked in Japanese to whom, and a sentence names nobody: the 室 of a 会議室 asked about is nobody."""
    if not has(_TO_WHOM, judged.asked) or judged.normal.isascii() or judged.unit.kind is UnitKind.ROW:
        return False
    normal = judged.normal
    for concept in judged.question.concepts:
        normal = normal.replace(concept.own[0], " ")
    return not any(has(each, normal) for each in (PATTERNS[AnswerKind.PERSON], PATTERNS[AnswerKind.CONTACT], _TOLD))
