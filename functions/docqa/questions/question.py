"""What a question asks: the kind of answer, the concepts it must speak of, the entities it must not confuse."""

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct, structs

from functions.docqa.questions.asides import asides, denied, question_itself, without_spans
from functions.docqa.questions.concept import Concept, Role
from functions.docqa.questions.concepts import concepts_in
from functions.docqa.questions.entities import Entity, entities_in, entity_spans, years_in
from functions.docqa.questions.expressions import AnswerKind
from functions.docqa.questions.phrasing import uncontracted, without_contrast
from functions.docqa.questions.question_kinds import (
    Asked,
    asked,
    asks_for_a_topic,
    asks_what_counts,
    counted_per,
    counted_unit,
    wants_former,
    without_edition,
    without_interrogatives,
)
from functions.docqa.questions.ranges import Range, amount_spans, amounts_in
from functions.docqa.vocabulary.lexicon import lexicon
from functions.docqa.vocabulary.numerals import years_of_eras
from functions.docqa.vocabulary.words import is_japanese, normalise, view


class Question(Struct, frozen=True):
    """A question, analysed. `years` and `former` ask for another edition than the one in force,
    `designations` are names with a number.

    `topic` when it wants to be told about something; `sources` are the paths of the only documents that may answer it.
    """

    text: str
    language: str
    asked: Asked
    concepts: tuple[Concept, ...]
    entities: frozenset[Entity]
    years: frozenset[str]
    former: bool
    unit: str
    per: str
    amounts: list[Range]
    designations: frozenset[str] = frozenset()
    topic: bool = False
    sources: frozenset[str] = frozenset()

    @property
    def kind(self) -> AnswerKind:
        """The kind of answer that is asked for."""
        return self.asked.kind


def analyse(text: str, *, language: str | None = None) -> Question:
    """`text` as a Question; `language` ("en" or "ja") is that of the answer, by default the question's own."""
    original, text = text, without_contrast(text)
    normal = uncontracted(normalise(text))
    wanted = asked(question_itself(normal))
    beside = asides(normal)
    concepts = concepts_in(
        without_edition(without_interrogatives(without_spans(normal, denied(normal)))),
        proper=_proper_names(text),
        settled=entity_spans(normal) + amount_spans(normal),
        beside=beside,
    )
    unit = counted_unit(normal)
    named = wanted.kind is AnswerKind.DEFINITION and not asks_what_counts(normal)
    if (named or wanted.kind is AnswerKind.FACT) and not wanted.listing:
        wanted = _by_attribute(concepts) or wanted
    amounts = amounts_in(normal)
    settled = _settled(amounts, concepts, normal)
    return Question(
        text=original,
        language=language or ("ja" if is_japanese(original) else "en"),
        asked=wanted,
        concepts=tuple(
            _as_attribute(_as_asked(concept, normal, wanted.kind), wanted, unit, settled) for concept in concepts
        ),
        entities=frozenset(entity for entity in entities_in(text) if entity.family != "v"),
        years=years_in(text)
        | years_of_eras(normal)
        | {f"v{entity.value}" for entity in entities_in(text) if entity.family == "v"},
        former=wants_former(normal),
        unit=unit,
        per=counted_per(normal),
        amounts=amounts,
        designations=frozenset(
            view(name).words for name in (*_DESIGNATION.findall(text), *_MODEL.findall(text), *_RELEASE.findall(normal))
        ),
        topic=asks_for_a_topic(normal),
    )


_PROPER_NAME = re.compile(r"(?<=[a-z,:;] )[A-Z][\w-]+")
# Fibre 500 is not Fibre 1000; a year is no part of a name.
_DESIGNATION = re.compile(
    r"(?<=[a-z,:;] )((?!(?:Version|Edition|Revision|Issue|Release) )[A-Z][a-z]{2,} "
    r"(?:(?!(?:19|20)\d\d)\d{2,4}|\d+\.\d+))(?=[ ,.?!]|$)(?! (?:percent|[a-z]+s of|of)\b)"
)
# The BR-450 Pro is not the BR-450.
_MODEL = re.compile(r"(?<![\w-])([A-Z]{1,5}-?\d{2,5}[A-Z]? [A-Z][a-z]{1,9})(?=[ ,.?!]|$)")
_WHICH = ("どの", "どこの", "何の", "どちらの", "いずれの")
_IS_COMPARED = re.compile(r"\bwhich (?:[\w-]+ ){1,6}?(?:is|are|was|were) \w+er\?*$")
# Who has to pay when …; where an amount decides who does, the act is left out of the table.
_WHO_DOES = re.compile(r"who (?:(?:has|have|to|must|should|may|can|will|needs?) )+(?!.*\d)")
_RELEASE = re.compile(
    r"\b(?!(?:since|version)\b)([a-z]{3,} \d+\.\d+)"
    r"(?= (?:be |been |was |is )?(?:releas|launch|publish|come out|came out|available))"
)
_NO_OBJECT = re.compile(
    r"\W*$| (?:in|on|at|inside|outside|near|during|while|with|from|after|before|by|here|there|alone|allowed|permitted|possible"
    r"|forbidden|prohibited|ok|okay)\b"
)
_BESIDE_AN_ACT = ("で", "に", "へ", "、")
_SOUGHT = {
    "time": AnswerKind.TIME,
    "money": AnswerKind.MONEY,
    "frequency": AnswerKind.FREQUENCY,
    "contact": AnswerKind.CONTACT,
    "quantity": AnswerKind.QUANTITY,
    "limit": AnswerKind.QUANTITY,
    "person": AnswerKind.PERSON,
    "place": AnswerKind.PLACE,
}
_STANDS_FOR = {
    AnswerKind.TIME: {"time", "limit"},
    AnswerKind.MONEY: {"money", "quantity", "limit"},
    AnswerKind.QUANTITY: {"quantity", "money", "limit", "time"},
    AnswerKind.FREQUENCY: {"frequency", "time"},
}


def _by_attribute(concepts: Sequence[Concept]) -> Asked | None:
    """What a question without a question word asks for: "notice period", 「再試験の受験料」."""
    named = [concept for concept in concepts if concept.kinds & _SOUGHT.keys() and not concept.aside]
    if not named or len(concepts) < 2:
        return None
    # The head of an English phrase comes first ("sample size for …"), that of a Japanese one last.
    head = named[-1] if is_japanese(named[-1].surface) else named[0]
    kind = next(kind for name, kind in _SOUGHT.items() if name in head.kinds)
    return Asked(kind, kind in (AnswerKind.TIME, AnswerKind.MONEY, AnswerKind.FREQUENCY))


def _proper_names(text: str) -> frozenset[str]:
    return frozenset(normalise(name) for name in _PROPER_NAME.findall(text))


def _settled(amounts: Sequence[Range], concepts: Sequence[Concept], normal: str) -> set[str]:
    """The kinds of word that need not be said: an amount is given, or two things are asked for at once."""
    settled = {"money"} if any(amount.unit in ("yen", "dollar", "euro") for amount in amounts) else set()
    for first, second in pairwise(concepts):
        if f"{first.surface}と{second.surface}" in normal or f"{first.surface} and {second.surface}" in normal:
            settled |= (first.kinds | second.kinds) & _SOUGHT.keys() if first.kinds and second.kinds else set()
    return settled


def _as_asked(concept: Concept, normal: str, kind: AnswerKind) -> Concept:
    """What is sought, and the act whose permission is asked for, marked as such."""
    if kind is AnswerKind.PERMISSION and concept.role is Role.ACTION and _stands_alone(concept, normal):
        return structs.replace(concept, vital=True, alone=True)
    if kind is AnswerKind.PERSON and concept.role is Role.ACTION:
        doing = _WHO_DOES.match(normal)
        if doing and normal.startswith(concept.surface, doing.end()):
            return structs.replace(concept, vital=True)
    if concept.role is Role.ACTION and not concept.known and _IS_COMPARED.search(normal):
        return structs.replace(concept, vital=True)
    sought = any(f"{which}{concept.surface}" in normal for which in _WHICH)
    return structs.replace(concept, sought=True) if sought else concept


def _stands_alone(concept: Concept, normal: str) -> bool:
    """Whether an act is named without the thing it is done to: "smoke in the lobby", not "bring a dog to the lobby"."""
    at = normal.find(concept.surface)
    if concept.own[0][0] == " ":
        return _NO_OBJECT.match(normal, at + len(concept.surface)) is not None
    return normal[at - 1 : at] in _BESIDE_AN_ACT


def _as_attribute(concept: Concept, wanted: Asked, unit: str, settled: set[str]) -> Concept:
    stands_for = _STANDS_FOR.get(wanted.kind, {wanted.kind.value}) | settled
    if concept.kinds & stands_for or (wanted.kind is AnswerKind.TIME and concept.surface == unit):
        return structs.replace(concept, role=Role.ATTRIBUTE)
    if wanted.strict and len(concept.parts) > 1 and concept.own[0][0] == " ":
        # A "notice period" may be said as "six weeks' notice": the weeks are the period.
        parts = tuple(part for part in concept.parts if not lexicon().kinds_of(part) & stands_for)
        return structs.replace(concept, parts=parts or concept.parts)
    return concept
