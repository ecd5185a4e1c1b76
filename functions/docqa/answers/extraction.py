"""Question and passages to candidate sentences: each unit is scored by what it and its surroundings say."""

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from functions.docqa.answers.coverage import codes_of_a_case, covered, misses_too_much, weights
from functions.docqa.answers.defining import named_definition
from functions.docqa.answers.judged import is_bare, normal_of
from functions.docqa.answers.kinds_of_answer import kind_fit
from functions.docqa.answers.labels import label_bonus, names_a_case
from functions.docqa.answers.leniency import Lenient, Nearest
from functions.docqa.answers.matching import (
    OWN,
    Surroundings,
    cached_view,
    compound_bonus,
    entity_scopes,
    forms_of,
    levels,
    says,
    speciality,
    surroundings,
)
from functions.docqa.answers.occasions import has
from functions.docqa.answers.pointers import only_points
from functions.docqa.answers.rules_on_rules import less_telling
from functions.docqa.model import Passage, Standing, Unit, UnitKind
from functions.docqa.questions.asides import told_before
from functions.docqa.questions.concept import Concept, Role
from functions.docqa.questions.entities import NUMBERED_PARTS, Entity, distinguishing, governed
from functions.docqa.questions.expressions import (
    ANNOUNCING,
    FORMER,
    FORMER_SECTION,
    INSTRUCTION,
    AnswerKind,
)
from functions.docqa.questions.question import Question
from functions.docqa.questions.ranges import numbers_in, range_fit
from functions.docqa.vocabulary.numerals import years_of_eras
from functions.docqa.vocabulary.word_runs import run_bonus
from functions.docqa.vocabulary.words import normalise, view

_ALIKE = 0.05
_OWN_ACT, _OWN_RUN, _OTHER_KIND = 0.03, 0.3, -0.3
_OF_A_CASE = 0.1
_MOST_SIBLINGS = 4
_FORMER_WANTED = 0.1
_FORMER_FACTOR = 0.6
ACTED_ON = (AnswerKind.CONSEQUENCE, AnswerKind.PROCEDURE)
_REMEDY = re.compile(r"what to do|\baction|\bremedy|\bsolution|\bfix\b|対処|処置|対応|対策|措置|解決")
_ASKS = ("?", "？")


def _no_opening(_: Passage) -> str:
    return ""


class Found(Struct, frozen=True):
    """A unit of a passage with its score (0 to about 1.2) and the share of the question that it speaks of.

    `entities` are those that it is about, as far as the nearest text says.
    """

    passage: Passage
    number: int
    score: float
    coverage: float
    entities: frozenset[Entity] = frozenset()

    @property
    def unit(self) -> Unit:
        """The unit itself."""
        return self.passage.units[self.number]


def extract(
    question: Question,
    passages: Sequence[Passage],
    rarity: Callable[[Concept], float],
    *,
    lenient: bool = False,
    opening: Callable[[Passage], str] = _no_opening,
) -> list[Found]:
    """The units that may answer, best first; a unit about another entity, topic or kind of answer is not among them.

    `opening` is how the document of a passage begins; who "the Consultant" is stands there.
    `lenient` forgives that the act a question speaks of is said in words nobody listed, as long as the things are said.
    """
    if not any(concept.role in (Role.NOUN, Role.ACTION) for concept in question.concepts):
        return []
    weighed = weights(question, rarity)
    rule = Lenient([rarity(concept) for concept in question.concepts]) if lenient else None
    return _ranked(question, passages, weighed, rule, opening)


def nearest(
    question: Question,
    passages: Sequence[Passage],
    rarity: Callable[[Concept], float],
    *,
    surely: bool = True,
) -> list[Found]:
    """The units that say most of the question, best first, though none of them may answer it.

    Unless one of its things or acts must `surely` be said, all units are among them that the question does not rule out.
    """
    weighed = weights(question, rarity)
    rule = Nearest(weighed, surely)
    return _ranked(question, passages, weighed, rule, _no_opening) if any(weighed) else []


def _ranked(
    question: Question,
    passages: Sequence[Passage],
    weighed: list[float],
    rule: Lenient | Nearest | None,
    opening: Callable[[Passage], str],
) -> list[Found]:
    found: list[Found] = []
    asked_for = {
        passage.edition.series for passage in passages if question.years & set(passage.edition.labels)
    }
    for rank, passage in enumerate(passages):
        other_year = passage.edition.series in asked_for and not question.years & set(passage.edition.labels)
        # Two guesses at once are one too many.
        foreign = isinstance(rule, Lenient) and passage.language != question.language
        if edition_serves(question, passage) and not other_year and not foreign:
            bonus = 0.03 / (1 + rank) + (0.04 if passage.language == question.language else 0.0)
            if question.former and passage.edition.standing is Standing.SUPERSEDED:
                bonus += _FORMER_WANTED
            found.extend(_scored(question, surroundings(passage, opening(passage)), weighed, bonus, rule))
    found.sort(key=lambda entry: -entry.score)
    return found


def siblings(question: Question, found: Sequence[Found]) -> list[Found]:
    """The best of `found`, and when the question leaves open which entity it means, what holds for the others.

    "How soon must the team be told?" has one answer for P-1 and another for P-2: both are told, in their order.
    """
    best = found[0]
    told = {best.entities: best}
    if question.entities or not best.entities:
        return [best]
    families = {entity.family for entity in best.entities}
    if families <= NUMBERED_PARTS:
        return [best]
    for other in found[1:]:
        alike = other.passage.uri == best.passage.uri and other.coverage >= best.coverage - _ALIKE
        if alike and {entity.family for entity in other.entities} == families:
            told.setdefault(other.entities, other)
    if len(told) > _MOST_SIBLINGS:
        return [best]
    return sorted(told.values(), key=lambda entry: entry.unit.start)


def edition_serves(question: Question, passage: Passage) -> bool:
    """Whether the edition that the passage is from is the one that the question asks for."""
    if question.years:
        # A year that only stands in the text of a current document is a date in it, not the edition asked for.
        if passage.edition.standing is not Standing.CURRENT:
            return bool(question.years & set(passage.edition.labels))
        return True
    if passage.edition.standing is Standing.SUPERSEDED:
        return question.former
    return passage.edition.standing is Standing.CURRENT


def _year_agrees(question: Question, passage: Passage, unit: Unit) -> bool:
    if not question.years or question.years & set(passage.edition.labels):
        return True
    said = normalise(" ".join((unit.text, unit.header, *unit.context, *passage.section, passage.title)))
    return any(year in said for year in question.years) or bool(question.years & years_of_eras(said))


def _scored(
    question: Question,
    around: Surroundings,
    weighed: list[float],
    bonus: float,
    rule: Lenient | Nearest | None,
) -> Iterator[Found]:
    passage = around.passage
    if rule is None and misses_too_much(question, around, weighed):
        return
    forms = forms_of(question.concepts)
    told = told_before(normalise(question.text))
    former_section = any(FORMER_SECTION.search(normalise(heading)) for heading in passage.section[1:])
    for number, unit in enumerate(passage.units):
        if (
            unit.text.rstrip().endswith(_ASKS)
            or is_bare(unit)
            or (unit.kind is UnitKind.LIST and not question.asked.listing)
            or only_points(question, unit)
        ):
            continue
        normal = normal_of(unit.text)
        if normal.rstrip(".。") in told:
            continue  # it only repeats what is told before the question
        scopes = entity_scopes(around, number)
        if any(governed(entity, scopes) is not True for entity in question.entities):
            continue
        if not all(_is_named(name, around, number) for name in question.designations):
            continue
        fit = kind_fit(question, unit, normal)
        if not _year_agrees(question, passage, unit):
            continue
        if fit is None:
            if not isinstance(rule, Nearest):
                continue
            fit = _OTHER_KIND
        said = levels(question.concepts, around, number, forms)
        amounts_fit = _amounts_fit(question, unit, normal)
        if unit.kind is UnitKind.LIST and not rule and not _is_introduced(question, around, number):
            continue
        share = (
            rule.coverage(question, said, normal, row=unit.kind is UnitKind.ROW)
            if rule
            else covered(
                question,
                said,
                weighed,
                foreign=passage.language != question.language,
                held=unit.header != ""
                and (amounts_fit > 0 or any(said[at] == OWN for at in codes_of_a_case(question))),
            )
        )
        if share is None or has(INSTRUCTION, normal):
            continue
        if (former_section or has(FORMER, normal)) and not (question.former or question.years):
            share *= _FORMER_FACTOR
        fit += named_definition(question, passage, number, normal)
        fit += compound_bonus(question.concepts, around.units[number]) + amounts_fit
        if unit.header:
            fit += run_bonus(question.text, cached_view(unit.header))
        if question.asked.strict:
            fit += _OWN_RUN * run_bonus(question.text, around.units[number])
        if question.kind in ACTED_ON and unit.kind is UnitKind.ROW and has(_REMEDY, normalise(unit.header)):
            fit += 0.12
        if question.kind in ACTED_ON and names_a_case(unit):
            fit -= _OF_A_CASE
        if has(ANNOUNCING, normal) and not question.asked.listing:
            fit -= 0.15
        if question.kind is AnswerKind.TIME:
            fit += _OWN_ACT if _acts(question, around, number) else 0.0
        fit += label_bonus(question.text, unit) - less_telling(question.text, normal, passage.section)
        fit -= 0.05 * min(2, speciality(forms, around, number))
        fit -= min(0.03, 0.0003 * len(normal) * (2 if passage.language == "ja" else 1))
        fit += 0.05 * sum(number in numbers_in(normal) for number in question.numbers)
        yield Found(passage, number, share + fit + bonus, share, distinguishing(scopes))


def _is_introduced(question: Question, around: Surroundings, number: int) -> bool:
    """Whether a list is about what the question speaks of, and not only one of its items."""
    units, unit = around.passage.units, around.passage.units[number]
    items = (other.start for other in units if other.kind is UnitKind.ITEM and other.start >= unit.start)
    first = min(items, default=unit.start)
    if first == unit.start:
        return True
    near = (cached_view(unit.text[: first - unit.start]), *around.headings, around.title)
    return any(
        says(concept, said)
        for concept in question.concepts
        if concept.role in (Role.NOUN, Role.ACTION) and not concept.kinds
        for said in near
    )


def _amounts_fit(question: Question, unit: Unit, normal: str) -> float:
    fit = range_fit(question.amounts, normal, row=unit.kind is UnitKind.ROW)
    # "May I after three months?" is answered by what is required, six months, though three are not in it.
    asks_whether = question.kind is AnswerKind.PERMISSION and unit.kind is not UnitKind.ROW
    return max(0.0, fit) if asks_whether else fit


def _is_named(name: str, around: Surroundings, number: int) -> bool:
    unit = around.passage.units[number]
    near = (around.units[number], *around.headings, around.title)
    return any(name in said.words for said in near) or any(name in view(text).words for text in unit.context)


def _acts(question: Question, around: Surroundings, number: int) -> bool:
    """Whether the unit itself says the act in the question's own word: a time is that of what its sentence says."""
    said = around.units[number]
    return any(
        form in (said.words if form[0] == " " else said.text)
        for concept in question.concepts
        if concept.role is Role.ACTION
        for form in concept.own
    )
