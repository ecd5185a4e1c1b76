"""Questions on a topic ("what does the policy say about gifts?"): the main sentences of the section that treats it."""

from collections.abc import Sequence

from msgspec import Struct

from functions.docqa.concept import Concept, Role
from functions.docqa.entities import governed
from functions.docqa.expressions import FORMER_SECTION, INSTRUCTION
from functions.docqa.extraction import Found, edition_serves, is_bare
from functions.docqa.matching import cached_view, entity_scopes, says, surroundings
from functions.docqa.model import Passage, UnitKind
from functions.docqa.question import Question
from functions.docqa.words import View, normalise, plain

MOST_QUOTES = 4
_BY_HEADING, _BY_TITLE, _BY_BODY = 1.0, 0.8, 0.5
_LEAST_OF_A_BODY = 0.4
_ENDS_OF_QUESTIONS = ("?", "？")


class Treated(Struct, frozen=True):
    """A passage that treats the topic, and how: by its heading, its document's title or here and there in its text."""

    passage: Passage
    worth: float
    score: float


def treating(question: Question, passages: Sequence[Passage]) -> list[Treated]:
    """The passages that speak of everything the topic names, the best first."""
    wanted = [concept for concept in question.concepts if concept.role is not Role.LIGHT]
    if not wanted:
        return []
    found = []
    for rank, passage in enumerate(passages):
        if not edition_serves(question, passage) or _is_history(passage):
            continue
        worth = _worth(wanted, passage)
        if worth:
            bonus = 0.1 / (1 + rank) + (0.05 if passage.language == question.language else 0.0)
            found.append(Treated(passage, worth, worth + bonus + (0.02 * passage.score / 10)))
    return sorted(found, key=lambda entry: -entry.score)


def headed(treated: Sequence[Treated]) -> list[Treated]:
    """Those whose own heading names the topic."""
    return [entry for entry in treated if entry.worth >= _BY_HEADING]


def main_sentences(question: Question, treated: Treated, document: Sequence[Passage]) -> list[Found]:
    """What to quote: the first sentences of the section, the first of each section, or those that name the topic.

    `document` are the passages of the same document in their order.
    """
    if treated.worth >= _BY_HEADING:
        return _quotable(question, treated.passage)[:MOST_QUOTES]
    if treated.worth >= _BY_TITLE:
        first: dict[tuple[str, ...], Found] = {}
        for passage in document:
            if not _is_history(passage) and (quotable := _quotable(question, passage)):
                first.setdefault(passage.section, quotable[0])
        return list(first.values())[:MOST_QUOTES]
    wanted = [concept for concept in question.concepts if concept.role is not Role.LIGHT]
    naming = [
        found
        for found in _quotable(question, treated.passage)
        if any(says(concept, cached_view(found.unit.text)) for concept in wanted)
    ]
    return naming[:MOST_QUOTES]


def _worth(wanted: Sequence[Concept], passage: Passage) -> float:
    headings = [cached_view(heading) for heading in passage.section]
    inner = headings[-1:] or [cached_view(passage.title)]
    title = cached_view(f"{passage.title} {passage.place}")
    if all(_said(concept, inner) for concept in wanted):
        return _BY_HEADING + 0.1 * _tightness(inner[0], wanted)
    if all(_said(concept, [title]) for concept in wanted):
        return _BY_TITLE + 0.1 * _tightness(title, wanted)
    around = [*headings, title]
    if all(_said(concept, around) for concept in wanted) and any(_said(concept, inner) for concept in wanted):
        return _BY_HEADING
    units = [cached_view(unit.text) for unit in passage.units if unit.kind is not UnitKind.LIST]
    if not all(_said(concept, [*around, *units]) for concept in wanted):
        return 0.0
    share = sum(any(_said(concept, [unit]) for concept in wanted) for unit in units) / max(1, len(units))
    if any(_said(concept, inner) for concept in wanted):
        return _BY_BODY + 0.2 + 0.1 * share
    return _BY_BODY + 0.1 * share if share else 0.0


def _said(concept: Concept, texts: Sequence[View]) -> bool:
    if any(says(concept, text) >= _LEAST_OF_A_BODY for text in texts):
        return True
    return bool(concept.parts) and all(
        any(part in (text.words if part[0] == " " else text.text) for text in texts) for part in concept.parts
    )


def _tightness(heading: View, wanted: Sequence[Concept]) -> float:
    """How little else a heading speaks of: 1 when it is the topic alone."""
    length = len(heading.text)
    return min(1.0, sum(len(concept.surface) for concept in wanted) / length) if length else 0.0


def _quotable(question: Question, passage: Passage) -> list[Found]:
    around = surroundings(passage)
    found = []
    for number, unit in enumerate(passage.units):
        normal = normalise(plain(unit.text))
        if (
            unit.kind is UnitKind.LIST
            or is_bare(unit)
            or normal.endswith(_ENDS_OF_QUESTIONS)
            or INSTRUCTION.search(normal)
        ):
            continue
        scopes = entity_scopes(around, number)
        if all(governed(entity, scopes) is True for entity in question.entities):
            found.append(Found(passage, number, 1.0, 1.0))
    return found


def _is_history(passage: Passage) -> bool:
    return any(FORMER_SECTION.search(normalise(heading)) for heading in passage.section[1:])
