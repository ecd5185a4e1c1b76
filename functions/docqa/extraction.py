"""Question and passages to candidate sentences: each unit is scored by what it and its surroundings say."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from functions.docqa.concepts import Concept, Role
from functions.docqa.entities import Entity, entities_in, governed, years_in
from functions.docqa.expressions import (
    DEPENDENT,
    FORMER,
    FORMER_SECTION,
    INSTRUCTION,
    LIMIT,
    PATTERNS,
    AnswerKind,
)
from functions.docqa.model import Passage, Standing, Unit, UnitKind
from functions.docqa.question import Question
from functions.docqa.units_counted import counts
from functions.docqa.words import View, normalise, plain, view

_WEIGHTS = {Role.NOUN: 1.0, Role.ACTION: 0.8, Role.ATTRIBUTE: 0.3, Role.LIGHT: 0.12}
_UNKNOWN_ACTION = 0.5
_SYNONYM, _PART = 0.92, 0.7
_OWN, _GOVERNING, _HEADER, _INNER_HEADING, _OUTER_HEADING, _TITLE = 1.0, 0.95, 0.9, 0.85, 0.75, 0.7
_NEIGHBOUR, _PASSAGE = 0.55, 0.35
_PRESENT = 0.3
_MAY_MISS = 0.2
_ASKS = ("?", "？")


class Found(Struct, frozen=True):
    """A unit of a passage with its score (0 to about 1.2) and the share of the question that it speaks of."""

    passage: Passage
    number: int
    score: float
    coverage: float

    @property
    def unit(self) -> Unit:
        """The unit itself."""
        return self.passage.units[self.number]


class _Surroundings(Struct):
    """What is worked out once per passage."""

    title: View
    headings: list[View]
    whole: View
    units: list[View]
    entities: list[frozenset[Entity]]
    heading_entities: list[frozenset[Entity]]
    former: bool


def extract(question: Question, passages: Sequence[Passage], rarity: Callable[[Concept], float]) -> list[Found]:
    """The units that may answer, best first; a unit about another entity, topic or kind of answer is not among them."""
    weights = [_weight(concept) * rarity(concept) for concept in question.concepts]
    if not any(concept.role in (Role.NOUN, Role.ACTION) for concept in question.concepts):
        return []
    found: list[Found] = []
    for rank, passage in enumerate(passages):
        edition = _edition_factor(question, passage)
        if edition:
            bonus = 0.03 / (1 + rank) + (0.04 if passage.language == question.language else 0.0)
            found.extend(_scored(question, passage, weights, edition, bonus))
    found.sort(key=lambda entry: -entry.score)
    return found


def _weight(concept: Concept) -> float:
    if concept.role is Role.ACTION and not concept.known:
        return _UNKNOWN_ACTION
    return _WEIGHTS[concept.role]


def _edition_factor(question: Question, passage: Passage) -> float:
    labels = set(passage.edition.labels)
    if question.years:
        named = labels | years_in(" ".join((passage.title, *passage.section, *(unit.text for unit in passage.units))))
        return 1.0 if question.years & named else 0.0
    match passage.edition.standing:
        case Standing.CURRENT:
            return 0.9 if question.former else 1.0
        case Standing.SUPERSEDED:
            return 1.0 if question.former else 0.0
        case _:
            return 0.0


def _scored(
    question: Question, passage: Passage, weights: list[float], edition: float, bonus: float
) -> Iterator[Found]:
    around = _surroundings(passage)
    for number, unit in enumerate(passage.units):
        if unit.kind is UnitKind.LIST and not question.asked.listing:
            continue
        if unit.text.rstrip().endswith(_ASKS):
            continue
        normal = normalise(plain(unit.text))
        if INSTRUCTION.search(normal):
            continue
        if not _entities_agree(question, passage, around, number):
            continue
        fit = _kind_fit(question, unit, normal)
        if fit is None:
            continue
        levels = [_level(concept, passage, around, number) for concept in question.concepts]
        _lower_conflicts(question, levels, around.units[number])
        coverage = _coverage(question, levels, weights)
        if coverage is None:
            continue
        former = bool(FORMER.search(normal)) or around.former
        factor = edition * (0.6 if former and not (question.former or question.years) else 1.0)
        yield Found(passage, number, coverage * factor + fit + bonus, coverage * factor)


def _surroundings(passage: Passage) -> _Surroundings:
    headings = list(reversed(passage.section))
    return _Surroundings(
        title=view(passage.title),
        headings=[view(heading) for heading in headings],
        whole=view("\n".join(unit.text for unit in passage.units if unit.kind is not UnitKind.LIST)),
        units=[view(unit.text) for unit in passage.units],
        entities=[entities_in(unit.text) for unit in passage.units],
        heading_entities=[entities_in(heading) for heading in (*headings, passage.title)],
        former=any(FORMER_SECTION.search(normalise(heading)) for heading in passage.section[1:]),
    )


def _entities_agree(question: Question, passage: Passage, around: _Surroundings, number: int) -> bool:
    unit = passage.units[number]
    for entity in question.entities:
        scopes = [around.entities[number], *map(entities_in, unit.context)]
        scopes.extend(
            around.entities[before]
            for before in range(number - 1, -1, -1)
            if passage.units[before].block == unit.block and unit.kind is UnitKind.SENTENCE
        )
        scopes.append(entities_in(unit.header))
        scopes.extend(around.heading_entities)
        if governed(entity, scopes) is not True:
            return False
    return True


def _kind_fit(question: Question, unit: Unit, normal: str) -> float | None:
    asked = question.asked
    pattern = PATTERNS.get(asked.kind)
    if pattern is None:
        return 0.0
    if unit.kind is UnitKind.LIST:
        return 0.1 if asked.kind in (AnswerKind.PROCEDURE, AnswerKind.FACT, AnswerKind.CONDITION) else None
    if not pattern.search(normal):
        return None if asked.strict else -0.05
    fit = 0.05
    if asked.kind in (AnswerKind.TIME, AnswerKind.QUANTITY, AnswerKind.MONEY) and LIMIT.search(normal):
        fit += 0.04
    if question.unit:
        fit += 0.06 if counts(question.unit, normal) else -0.12
    if DEPENDENT.match(unit.text):
        fit -= 0.04
    if unit.text.rstrip().endswith((":", "：")) and not asked.listing:
        fit -= 0.1
    return fit


def _level(concept: Concept, passage: Passage, around: _Surroundings, number: int) -> float:
    unit = passage.units[number]
    best = _says(concept, around.units[number]) * _OWN
    if best >= _GOVERNING:
        return best
    for context in unit.context:
        best = max(best, _says(concept, view(context)) * _GOVERNING)
    if unit.header:
        best = max(best, _says(concept, view(unit.header)) * _HEADER)
    for depth, heading in enumerate(around.headings):
        best = max(best, _says(concept, heading) * (_OUTER_HEADING if depth else _INNER_HEADING))
    best = max(best, _says(concept, around.title) * _TITLE)
    for near in (number - 1, number + 1):
        if best < _NEIGHBOUR and 0 <= near < len(passage.units):
            neighbour = passage.units[near]
            if neighbour.block == unit.block and unit.kind is UnitKind.SENTENCE:
                best = max(best, _says(concept, around.units[near]) * _NEIGHBOUR)
    if best < _PASSAGE and unit.kind is not UnitKind.ROW:
        best = max(best, _says(concept, around.whole) * _PASSAGE)
    return best


def _says(concept: Concept, said: View) -> float:
    for form in concept.own:
        if form in (said.words if form[0] == " " else said.text):
            return 1.0
    for form in concept.words:
        if form in said.words:
            return _SYNONYM
    for form in concept.texts:
        if form in said.text:
            return _SYNONYM
    if concept.parts:
        share = sum(part in said.text for part in concept.parts) / len(concept.parts)
        return share * _PART if share > 0.5 else 0.0
    return 0.0


def _lower_conflicts(question: Question, levels: list[float], own: View) -> None:
    """The legal team is not the infrastructure team: a modifier found elsewhere does not count for this head."""
    for at, concept in enumerate(question.concepts):
        if concept.modifies is None or _says(concept, own):
            continue
        head = question.concepts[concept.modifies]
        if _says(head, own) and _modified_otherwise(head, own):
            levels[at] = min(levels[at], _PRESENT - 0.01)


def _modified_otherwise(head: Concept, own: View) -> bool:
    for form in (*head.own, *head.words):
        at = own.words.find(form) if form[0] == " " else -1
        if at > 0:
            before = own.words[:at].rsplit(" ", 1)[-1]
            return before not in _NOT_MODIFIERS
    for form in (*head.own, *head.texts):
        at = own.text.find(form) if form[0] != " " else -1
        if at > 0:
            return "\u30a1" <= own.text[at - 1] <= "\u30ff" or "\u3400" <= own.text[at - 1] <= "\u9fff"
    return False


_NOT_MODIFIERS = frozenset("a an the of for to in on at by with and or our your their all each every any no".split())


def _coverage(question: Question, levels: list[float], weights: list[float]) -> float | None:
    total = sum(weights)
    covered = missed = essential = 0.0
    for concept, level, weight in zip(question.concepts, levels, weights, strict=True):
        if concept.role is Role.ATTRIBUTE and question.asked.strict:
            level = max(level, 0.9)
        covered += weight * level
        if concept.role is Role.NOUN or (concept.role is Role.ACTION and concept.known):
            essential += weight
            missed += weight if level < _PRESENT else 0.0
    if essential and missed / essential > _MAY_MISS:
        return None
    return covered / total if total else None
