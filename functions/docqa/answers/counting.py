"""Whether a number of a sentence is of what the question counts, and whether its time lasts as long as it may."""

import re

from functions.docqa.answers.judged import Judged
from functions.docqa.answers.matching import cached_view
from functions.docqa.answers.occasions import MONTH, has
from functions.docqa.model import UnitKind
from functions.docqa.questions.expressions import PATTERNS, AnswerKind
from functions.docqa.questions.units_counted import (
    MEASURES,
    counts,
    counts_only_what_it_narrows,
    lasts_otherwise,
)
from functions.docqa.vocabulary.words import normalise, phrase, stem

_OTHER_NUMBERS = re.compile(
    rf"\d{{1,2}} {MONTH}|{MONTH} \d{{1,2}}|\d{{1,2}}:\d{{2}}"
    r"|(?:eur|usd|gbp|jpy|[£$€¥]) ?\d[\d.]*|\d[\d.]* ?(?:yen|euros?|dollars?|円)"
    r"|\d[\d.]* ?(?:seconds?|minutes?|hours?|%)|(?:edition|version|year|in|of|{MONTH}) (?:19|20)\d\d\b|^\d+(?:\.\d+)* "
)
_DIGIT = re.compile(r"\d")
_DURATION_ASKED = re.compile(
    r"\bhow many\b|何(?:年|日|週|[ヶかカ]月|時|分|秒)間|何時間|何[ヶかカ]月|何日(?!目|付|ま?では?(?:です|でしょう|$))"
    r"|(?:どの|どれ)(?:くらい|ぐらい|ほど|程度)の?(?:期間|時間|間|日数)?[がはで、]*(?:かか|要し|要する)"
)
_LENGTH_ASKED = re.compile(r"何(?:時間|分間?|日間|週間|[ヶかカ]月間|年間)(?!以|前|後|まで|ごと|おき|目)")
_SIZE_ASKED = re.compile(r"\bhow (?:big|large)\b|大きさ|何[kmgt]b")
_BOUND = re.compile(r"\d+(?:営業日|日|時間|分|週間|[ヶかカ]月|年)(?:以内|前|後|までに|ごと)")
_DATES = re.compile(
    rf"\d+(?:日|年|か月|回)目|(?:19|20)\d\d年(?:\d{{1,2}}月)?(?:\d{{1,2}}日)?|\d{{1,2}}月(?!間)(?:\d{{1,2}}日)?|\d{{1,2}}:\d{{2}}"
    rf"|\d{{1,2}} {MONTH}(?: \d{{4}})?|{MONTH} \d{{1,2}}\b"
)
_NARROWED = re.compile(r" (?:per|of|in|for|to|an?|at|each|allowed)\b|[(/]")


def counts_the_unit(judged: Judged) -> bool:
    """Whether a unit is asked for, and the sentence has a number of it."""
    return bool(judged.question.unit) and counts(judged.question.unit, judged.normal)


def counts_no_unit(judged: Judged) -> bool:
    """Whether a unit is asked for, and the sentence has no number of it."""
    return bool(judged.question.unit) and not counts(judged.question.unit, judged.normal)


def counts_for_the_period(judged: Judged) -> bool:
    """Whether a number follows the period for which it is asked: 「月に何時間」, 「月20時間」."""
    per = judged.question.per
    return bool(per) and re.search(rf"{per}(?:に|間)?\d", judged.normal) is not None


def is_not_measured_so(judged: Judged) -> bool:
    """Whether the question asks for a measure, as "how heavy" does, and the sentence gives none."""
    rate = judged.question.kind is AnswerKind.FREQUENCY or judged.question.per
    return judged.question.unit in MEASURES and not rate and counts_no_unit(judged)


def gives_no_size(judged: Judged) -> bool:
    """Whether it is asked how big something is, and the sentence only says when or for how long."""
    if not has(_SIZE_ASKED, judged.asked):
        return False
    return not has(PATTERNS[AnswerKind.QUANTITY], PATTERNS[AnswerKind.TIME].sub(" ", judged.normal))


def has_no_duration(judged: Judged) -> bool:
    """Whether days or hours are asked for, and the sentence only has dates and times of day."""
    if not has(_DURATION_ASKED, judged.asked):
        return False
    lasting = _DIGIT if judged.unit.kind is UnitKind.ROW else PATTERNS[AnswerKind.TIME]
    return not has(lasting, _DATES.sub(" ", judged.normal))


def lasts_far_otherwise(judged: Judged) -> bool:
    """Whether the sentence's durations are of quite another length than the unit asked for."""
    unit = judged.question.unit
    return bool(unit) and lasts_otherwise(unit, _DATES.sub(" ", judged.normal))


def only_bounds(judged: Judged) -> bool:
    """Whether it is asked how long something lasts, and the sentence only says how soon it must be: 「3日以内に」."""
    if not has(_LENGTH_ASKED, judged.asked) or counts_the_unit(judged):
        return False
    return has(_BOUND, judged.normal) and not has(PATTERNS[AnswerKind.TIME], _BOUND.sub(" ", judged.normal))


def counts_something_else(judged: Judged) -> bool:
    """Whether no number of the sentence can be of what the question counts: no date, time of day or price is."""
    return bool(judged.question.unit) and not _may_count(judged)


def _may_count(judged: Judged) -> bool:
    question, unit, normal = judged.question, judged.unit, judged.normal
    if counts(question.unit, normal):
        return True
    if question.unit.isascii() != normal.isascii():
        return False
    if unit.kind is UnitKind.ROW:
        return _is_counted_by_column(question.text, unit.header)
    if not question.unit.isascii() or not _is_counted_otherwise(judged):
        return False  # 20日 are no 冊
    return PATTERNS[AnswerKind.QUANTITY].search(_OTHER_NUMBERS.sub("", normal)) is not None


def _is_counted_otherwise(judged: Judged) -> bool:
    """Whether a number is of the thing in other words, or of the head that "API" of "API requests" narrows."""
    concepts, unit = judged.question.concepts, f" {stem(judged.question.unit)} "
    at: int | None = next((at for at, concept in enumerate(concepts) if unit in concept.own), None)
    while at is not None:
        concept = concepts[at]
        if any(
            counts(form.strip(), judged.normal) and not counts_only_what_it_narrows(form.strip(), judged.normal)
            for form in (*concept.own, *concept.words)
        ):
            return True
        at = concept.modifies
    return False


def _is_counted_by_column(asked: str, header: str) -> bool:
    """Whether a column has numbers of something the question names: one of "boat hours" counts no boats."""
    parts = (_NARROWED.split(normalise(cell).strip())[0].split() for cell in header.split("|"))
    return any(phrase(words[-1]) in cached_view(asked).words for words in parts if words)
