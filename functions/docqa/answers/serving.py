"""Which units may answer at all: of the edition, entities and names that are asked for, and saying something themselves."""

from collections.abc import Collection, Sequence

from functions.docqa.answers.judged import is_bare, normal_of
from functions.docqa.answers.left_out import is_under_another
from functions.docqa.answers.matching import Surroundings, cached_view, says
from functions.docqa.answers.occasions import has
from functions.docqa.answers.pointers import only_points
from functions.docqa.answers.rules_on_rules import says_the_purpose
from functions.docqa.model import Passage, Standing, Unit, UnitKind
from functions.docqa.questions.concept import Role
from functions.docqa.questions.entities import Entity, governed
from functions.docqa.questions.expressions import FORMER, INSTRUCTION
from functions.docqa.questions.question import Question
from functions.docqa.vocabulary.numerals import years_of_eras
from functions.docqa.vocabulary.words import normalise, view

_ASKS = ("?", "？")
_OF_A_REACTION = 2


def edition_serves(question: Question, passage: Passage, replaced: Collection[str] = ()) -> bool:
    """Whether the edition that the passage is from is the one that the question asks for.

    Where the former rule is asked for, `replaced` are the series whose former editions have one; there, a newer one serves
    only with what it says of the past.
    """
    if question.years:
        # A year that only stands in the text of a current document is a date in it, not the edition asked for.
        if passage.edition.standing is not Standing.CURRENT:
            return bool(question.years & set(passage.edition.labels))
        return True
    if passage.edition.standing is Standing.SUPERSEDED:
        return question.former
    if question.former and passage.edition.series in replaced:
        return any(has(FORMER, normalise(unit.text)) for unit in passage.units)
    return passage.edition.standing is Standing.CURRENT


def says_something(question: Question, unit: Unit, normal: str, told: str) -> bool:
    """Whether a unit tells anything: it asks nothing, heads or points to nothing, and repeats nothing that was `told`."""
    return not (
        unit.text.rstrip().endswith(_ASKS)
        or is_bare(unit)
        or (unit.kind is UnitKind.LIST and not question.asked.listing)
        or only_points(question, unit)
        or says_the_purpose(normal_of(question.text), normal)
        or normal.rstrip(".。") in told
        or _only_reacts(question, unit)
        or has(INSTRUCTION, normal)
    )


def _only_reacts(question: Question, unit: Unit) -> bool:
    """Whether a unit of a word or two says none of the question's, as "No problem." behind a rule."""
    said = cached_view(unit.text)
    return (
        unit.kind is UnitKind.ITEM
        and unit.text.isascii()
        and unit.text.endswith((".", "!"))
        and len(said.words.split()) <= _OF_A_REACTION
        and not any(says(concept, said) for concept in question.concepts)
    )


def is_of_what_is_asked(
    question: Question, around: Surroundings, number: int, scopes: Sequence[frozenset[Entity]]
) -> bool:
    """Whether a unit is about the entities, the names with a number and the year of the question, where it has any.

    `scopes` are the entities that the texts around the unit name, the nearest first.
    """
    return (
        all(governed(entity, scopes) is True for entity in question.entities)
        and not is_under_another(question, _governing(around, number))
        and all(_is_named(name, around, number) for name in question.designations)
        and _year_agrees(question, around.passage, around.passage.units[number])
    )


def _governing(around: Surroundings, number: int) -> tuple[str, ...]:
    """The texts that a sentence stands under, and its whole section."""
    return (*around.passage.units[number].context, *around.passage.section, around.whole.text)


def _is_named(name: str, around: Surroundings, number: int) -> bool:
    unit = around.passage.units[number]
    near = (around.units[number], *around.headings, around.title)
    governing = (*unit.context, unit.header)
    return any(name in said.words for said in near) or any(name in view(text).words for text in governing)


def _year_agrees(question: Question, passage: Passage, unit: Unit) -> bool:
    if not question.years or question.years & set(passage.edition.labels):
        return True
    said = normalise(" ".join((unit.text, unit.header, *unit.context, *passage.section, passage.title)))
    return any(year in said for year in question.years) or bool(question.years & years_of_eras(said))


def is_introduced(question: Question, around: Surroundings, number: int) -> bool:
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
