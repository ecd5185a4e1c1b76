"""Whether a unit can be the kind of answer that is asked for, and how well it fits."""

import re

from functions.docqa.answers.expressed import without_what_only_looks_so
from functions.docqa.answers.judged import Judged, normal_of
from functions.docqa.answers.kind_rules import WHO_IS, is_ruled_out, worth
from functions.docqa.answers.left_out import is_left_out
from functions.docqa.answers.occasions import MONTH, has
from functions.docqa.answers.particulars import misses
from functions.docqa.answers.people import is_by_whom, names_nobody_to_turn_to, names_people
from functions.docqa.answers.row_keys import is_of_another_row, with_units
from functions.docqa.model import Unit, UnitKind
from functions.docqa.questions.expressions import DEFINING, PATTERNS, AnswerKind
from functions.docqa.questions.question import Question
from functions.docqa.vocabulary.words import normalise, plain

# A list's introduction is quoted with it, so it serves as one answer to "what are the steps".
_AS_A_LIST = {AnswerKind.PROCEDURE: 0.2, AnswerKind.FACT: 0.12, AnswerKind.CONDITION: 0.12}
_DEFINES_INSTEAD, _UNEXPRESSED, _NOBODY = -0.1, -0.05, -0.2
_MAIL_ASKED = re.compile(r"e-?mail address|メールアドレス|メアド")
_PHONE_ASKED = re.compile(r"\b(?:phone|telephone|fax|extension|mobile|hotline)\b|電話番号|内線|何番")
_PHONE = re.compile(r"\d{3}")
_CLAUSE_NUMBER = re.compile(r"\d+(?:\.\d+)+\.?\s+[A-Z(“\"]")
_WHO = re.compile(r"\bwho(?:m|se)?\b")
_NAMED = re.compile(
    r"(?<=[^\W\d_] )(?!\w+days?\b|(?i:" + MONTH + r")\b)[A-ZÀ-Þ][a-zß-ÿ]|@|[\u3040-\u9fff]"
    r"|\b(?:\w+ed|done|made|given|held|kept|run|taken|paid|borne|led|sent) by (?:the|an?|our|your|its) "
    r"(?!(?:end|time|date|day)\b)"
)
_EVENT = re.compile(
    r"\b(?:when|whenever|if|after|before|once|as soon|until|till|while|during|on(?!-)|at|upon|always|never|time)\b"
    r"|とき|時|場合|次第|後|前|まで|から|限り|あと|際|常|日"
)
_INTERVAL = re.compile(r"interval|every|frequen|cycle|period|how often|間隔|頻度|周期|ごと|毎|回")


def kind_fit(question: Question, unit: Unit, normal: str) -> float | None:
    """What the kind of answer adds to a unit's score; None when the unit cannot be such an answer."""
    kind = question.kind
    if misses(question.text, unit.text, f"{normal} {normalise(unit.header)}" if unit.header else normal):
        return None
    if is_of_another_row(question.text, unit) or is_left_out(question, normal):
        return None
    if unit.kind is UnitKind.LIST:
        return _AS_A_LIST.get(kind)
    if kind not in PATTERNS:
        return 0.0
    defines = kind is not AnswerKind.DEFINITION and has(DEFINING, normal)
    if defines and question.asked.strict:
        return None
    if kind is AnswerKind.CONTACT and unit.header:
        normal = f"{normalise(plain(unit.header))} | {normal}"
    if unit.kind is UnitKind.ROW:
        normal = with_units(unit, normal)
    elif _CLAUSE_NUMBER.match(unit.text):
        normal = normal.partition(" ")[2]
    judged = Judged(question, unit, normal, normal_of(question.text))
    if kind is AnswerKind.CONTACT and not _reaches(judged):
        return None
    expressed = _is_expressed(judged)
    if expressed and is_ruled_out(judged):
        return None
    if kind is AnswerKind.PERSON and names_nobody_to_turn_to(judged):
        return None
    fit = worth(judged) if expressed else _without_expression(judged)
    if fit is not None and question.asked.of_whom and not names_people(judged):
        fit += _NOBODY
    return min(fit, _DEFINES_INSTEAD) if defines and fit is not None else fit


def _is_expressed(judged: Judged) -> bool:
    """Whether a unit has an expression of the kind; a row has a frequency, too, by its column of intervals."""
    kind, normal = judged.question.kind, judged.normal
    if has(PATTERNS[kind], without_what_only_looks_so(judged.question, normal)):
        return True
    return (
        kind is AnswerKind.FREQUENCY
        and judged.unit.kind is UnitKind.ROW
        and has(_INTERVAL, normalise(judged.unit.header))
    )


def _without_expression(judged: Judged) -> float | None:
    """What a unit is worth that has no such expression, None where one must be: persons and times may be told otherwise."""
    question, unit = judged.question, judged.unit
    person, time = question.kind is AnswerKind.PERSON, question.kind is AnswerKind.TIME
    if question.asked.strict or has(WHO_IS, judged.asked):
        return None
    by = person and is_by_whom(unit)
    if person and not by and has(_WHO, judged.asked) and not _NAMED.search(unit.text):
        return None
    if time and not has(_EVENT, judged.normal):
        return None
    if question.kind is AnswerKind.PLACE and unit.kind is UnitKind.SENTENCE:
        return None
    return _NOBODY if person else _UNEXPRESSED


def _reaches(judged: Judged) -> bool:
    """Whether it is the channel that was asked for: no telephone number is an e-mail address."""
    if _MAIL_ASKED.search(judged.asked):
        return "@" in judged.normal
    return not _PHONE_ASKED.search(judged.asked) or _PHONE.search(judged.normal) is not None
