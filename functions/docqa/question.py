"""What a question asks: the kind of answer, the concepts it must speak of, the entities it must not confuse."""

import re

from msgspec import Struct, structs

from functions.docqa.concepts import Concept, Role, concepts_in
from functions.docqa.entities import Entity, entities_in, entity_spans, years_in
from functions.docqa.expressions import AnswerKind
from functions.docqa.question_kinds import (
    Asked,
    asked,
    counted_per,
    counted_unit,
    wants_former,
    without_interrogatives,
)
from functions.docqa.ranges import Range, numbers_in, ranges_in
from functions.docqa.words import is_japanese, normalise


class Question(Struct, frozen=True):
    """A question, analysed. `years` and `former` ask for another edition than the one in force."""

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
    numbers: frozenset[str]

    @property
    def kind(self) -> AnswerKind:
        """The kind of answer that is asked for."""
        return self.asked.kind


def analyse(text: str, *, language: str | None = None) -> Question:
    """`text` as a Question; `language` ("en" or "ja") is that of the answer, by default the question's own."""
    normal = normalise(text)
    wanted = asked(normal)
    return Question(
        text=text,
        language=language or ("ja" if is_japanese(text) else "en"),
        asked=wanted,
        concepts=tuple(
            _as_attribute(concept, wanted.kind)
            for concept in concepts_in(
                without_interrogatives(normal), proper=_proper_names(text), settled=entity_spans(normal)
            )
        ),
        entities=frozenset(entity for entity in entities_in(text) if entity.family != "v"),
        years=years_in(text) | {f"v{entity.value}" for entity in entities_in(text) if entity.family == "v"},
        former=wants_former(normal),
        unit=counted_unit(normal),
        per=counted_per(normal),
        amounts=ranges_in(normal),
        numbers=numbers_in(normal),
    )


_PROPER_NAME = re.compile(r"(?<=[a-z,:;] )[A-Z][\w-]+")
_STANDS_FOR = {
    AnswerKind.TIME: {"time", "limit"},
    AnswerKind.MONEY: {"money", "quantity", "limit"},
    AnswerKind.QUANTITY: {"quantity", "money", "limit"},
    AnswerKind.FREQUENCY: {"frequency", "time"},
}


def _proper_names(text: str) -> frozenset[str]:
    return frozenset(normalise(name) for name in _PROPER_NAME.findall(text))


def _as_attribute(concept: Concept, kind: AnswerKind) -> Concept:
    if concept.kinds & _STANDS_FOR.get(kind, {kind.value}):
        return structs.replace(concept, role=Role.ATTRIBUTE)
    return concept
