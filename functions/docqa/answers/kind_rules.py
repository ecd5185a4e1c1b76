"""Two tables on sentences that express the kind of answer asked for: what rules one out, what speaks for or against it."""

import re
from collections.abc import Callable

from functions.docqa.answers.amounts import is_no_amount, is_of_another_thing, is_share_of_asked
from functions.docqa.answers.counting import (
    counts_for_the_period,
    counts_no_unit,
    counts_something_else,
    counts_the_unit,
    gives_no_size,
    has_no_duration,
    is_not_measured_so,
    lasts_far_otherwise,
    only_bounds,
)
from functions.docqa.answers.defining import defines
from functions.docqa.answers.judged import Judged
from functions.docqa.answers.matching import cached_view
from functions.docqa.answers.occasions import has, is_no_clock, is_special, of_another_month
from functions.docqa.model import UnitKind
from functions.docqa.questions.concept import Role
from functions.docqa.questions.expressions import AGENT, ALLOWANCE, DEPENDENT, LIMIT, PLACES, AnswerKind
from functions.docqa.vocabulary.words import normalise

Rule = Callable[[Judged], bool]
WHO_IS = re.compile(
    r"\bwho(?:'s| is| are| was)\b(?!.*\b(?:\w+ed|\w+ing|responsible|in charge|allowed|able)\b)"
    r"|(?:は|って)(?:誰|だれ|どなた)(?:です|でしょう|か|\?|$)"
)
_LASTING_ASKED = re.compile(
    r"\bhow long (?:does|do|did|will|would|is|are|can|may|must|should)\b.*\b(?:take|last)\b"
    r"|(?:どの|どれ)(?:くらい|ぐらい|ほど|程度)の?(?:期間|時間|間|日数)?[がはで、]*(?:かか|要し|要する)"
)
_LASTING = re.compile(
    r"\b(?:tak(?:es?|ing)|last(?:s|ing|ed)?|took)(?! (?:day|week|month|year|working|business|the)\b)"
    r"|所要|かか[るりっら]|要する|要します"
)
_LENGTH = re.compile(
    r"\b(?:seconds?|minutes?|mins|hours?|days?|nights?|weeks?|months?|years?|indefinite\w*|forever)\b|[^\x00-\x7f]"
)
_AHEAD_ASKED = re.compile(r"何(?:営業日|日|週間|[ヶかカ]月|時間|分|年)前")
_DEADLINE_ASKED = re.compile(r"いつまで|何[日時月]までに|何曜日?までに")
_DEADLINE = re.compile(
    r"まで|以内|前|期[限日]|限り|締|内に|[末同当即翌]日|月末|年度末|直ち|ただち|速やか|すぐ|遅滞|無期限|永久|間(?!ごと|おき|毎)"
    r"|\b(?:within|by|until|till|before|no later|due|deadline|prior|immediately|end of|same day)\b"
)
_INTRODUCES = (":", "：")
_NAME = re.compile(r"(?<=[^.!?][ (])[A-ZÀ-Þ][\w'’-]+|@|[^\x00-\u024f\u2000-\u20ff]")


def is_ruled_out(judged: Judged) -> bool:
    """Whether a sentence with such an expression is nevertheless none of the answers asked for."""
    return any(rule(judged) for rule in (*_RULED_OUT.get(judged.question.kind, ()), is_not_measured_so))


def worth(judged: Judged) -> float:
    """What speaks for a sentence as such an answer, less what speaks against it."""
    return sum((each for rule, each in _WORTH_OF[judged.question.kind] if rule(judged)), start=0.05)


def _names_nobody(judged: Judged) -> bool:
    """Whether a bare "who is the X?" meets a mention of X that does not say who that is."""
    essential = [each for each in judged.question.concepts if each.role in (Role.NOUN, Role.ACTION)]
    if not essential or judged.question.entities or essential[-1].role is Role.ACTION:
        return False
    *narrowing, x = essential
    if not has(WHO_IS, judged.asked) or any(each.modifies is None for each in narrowing):
        return False
    forms = (*x.own, *x.words, *x.texts)
    if narrowing and any(normalise(name) not in judged.asked for name in _NAME.findall(judged.unit.text)):
        # Ms Doe of the sentence after "… of the field treasurer." need not be that.
        said = cached_view(judged.unit.text)
        elsewhere = not any(form in (said.words if form[0] == " " else said.text) for form in forms)
        return elsewhere and judged.unit.kind is UnitKind.SENTENCE and not judged.unit.context
    return not any(
        re.search(
            rf"{re.escape(form.strip())}[^.。]{{0,12}}?(?:, (?:ms|mr|mrs|dr)\b|\bis\b|\bare\b|(?::(?!\d)|[|は]))",
            judged.normal,
        )
        for form in forms
    )


def _is_of_another_month(judged: Judged) -> bool:
    return of_another_month(judged.asked, judged.normal)


def _is_not_ahead(judged: Judged) -> bool:
    """Whether it is asked how long before something, and the sentence has no before."""
    return has(_AHEAD_ASKED, judged.asked) and "前" not in judged.normal and not judged.normal.isascii()


def _is_no_time_of_day(judged: Judged) -> bool:
    return is_no_clock(judged.asked, judged.normal)


def _defines(judged: Judged) -> bool:
    return defines(judged.question, judged.normal)


def _says_who_acts(judged: Judged) -> bool:
    return has(AGENT, judged.normal)


def _names_a_place(judged: Judged) -> bool:
    return has(PLACES, judged.normal)


def _names_no_place(judged: Judged) -> bool:
    return not has(PLACES, judged.normal)


def _is_of_an_extension(judged: Judged) -> bool:
    """Whether only one of the two, question or sentence, speaks of an extension."""
    return has(ALLOWANCE, judged.normal) != has(ALLOWANCE, judged.asked)


def _is_a_limit(judged: Judged) -> bool:
    return has(LIMIT, judged.normal)


def _says_how_long_it_takes(judged: Judged) -> bool:
    return has(_LASTING_ASKED, judged.asked) and has(_LASTING, judged.normal)


def _says_no_length(judged: Judged) -> bool:
    return has(_LASTING_ASKED, judged.asked) and not has(_LENGTH, judged.normal)


def _sets_no_deadline(judged: Judged) -> bool:
    return has(_DEADLINE_ASKED, judged.asked) and not has(_DEADLINE, judged.normal)


def _leans_on_another(judged: Judged) -> bool:
    return DEPENDENT.match(judged.unit.text) is not None


def _is_for_a_special_case(judged: Judged) -> bool:
    exact = judged.question.asked.strict or judged.question.kind is AnswerKind.TIME
    return exact and is_special(judged.asked, judged.normal)


def _only_introduces(judged: Judged) -> bool:
    return judged.unit.text.rstrip().endswith(_INTRODUCES)


_RULED_OUT: dict[AnswerKind, tuple[Rule, ...]] = {
    AnswerKind.PERSON: (_names_nobody,),
    AnswerKind.MONEY: (_is_of_another_month, is_share_of_asked, is_no_amount, is_of_another_thing),
    AnswerKind.QUANTITY: (_is_of_another_month, counts_something_else, gives_no_size),
    AnswerKind.TIME: (_is_not_ahead, has_no_duration, _is_no_time_of_day, lasts_far_otherwise, only_bounds),
}
_ANY = frozenset(AnswerKind)
# The kinds it holds for, what is said, and what that is worth.
_WORTH: tuple[tuple[frozenset[AnswerKind], Rule, float], ...] = (
    (frozenset({AnswerKind.DEFINITION}), _defines, 0.15),
    (frozenset({AnswerKind.PERSON}), _says_who_acts, 0.05),
    (frozenset({AnswerKind.PLACE}), _names_a_place, 0.05),
    (frozenset({AnswerKind.PLACE}), _names_no_place, -0.2),
    (frozenset({AnswerKind.TIME, AnswerKind.QUANTITY}), _is_of_an_extension, -0.1),
    (frozenset({AnswerKind.TIME, AnswerKind.QUANTITY, AnswerKind.MONEY}), _is_a_limit, 0.04),
    (_ANY, counts_the_unit, 0.06),
    (_ANY, counts_no_unit, -0.12),
    (_ANY, counts_for_the_period, 0.06),
    (_ANY, _says_how_long_it_takes, 0.12),
    (_ANY, _says_no_length, -0.1),
    (frozenset({AnswerKind.TIME}), _sets_no_deadline, -0.15),
    (_ANY, _leans_on_another, -0.04),
    (_ANY, _is_for_a_special_case, -0.08),
    (_ANY, _only_introduces, -0.1),
)
_WORTH_OF = {kind: tuple((rule, each) for kinds, rule, each in _WORTH if kind in kinds) for kind in AnswerKind}
