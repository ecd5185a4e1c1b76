"""Questions on a topic ("what does the policy say about gifts?"): the main sentences of the section that treats it."""

import re
from collections.abc import Sequence

from msgspec import Struct

from functions.docqa.answers.extraction import Found
from functions.docqa.answers.judged import is_bare
from functions.docqa.answers.left_out import is_under_another
from functions.docqa.answers.matching import (
    cached_view,
    entity_scopes,
    forms_of,
    says,
    speciality_of_heading,
    surroundings,
)
from functions.docqa.answers.particulars import misses
from functions.docqa.answers.serving import edition_serves
from functions.docqa.model import Passage, UnitKind
from functions.docqa.questions.concept import Concept, Role
from functions.docqa.questions.entities import governed
from functions.docqa.questions.expressions import FORMER_SECTION, INSTRUCTION
from functions.docqa.questions.phrasing import without_politeness
from functions.docqa.questions.question import Question
from functions.docqa.vocabulary.words import View, bigrams, normalise, plain

MOST_QUOTES = 4
_BY_HEADING, _BY_TITLE, _BY_BODY = 1.0, 0.8, 0.5
_LEAST_OF_A_BODY = 0.4
_SAME_QUESTION, _LEAST_PIECES = 0.7, 3
_NUMBERING = re.compile(r"^\W*(?:[A-Z]|Q|問|\d+(?:\.\d+)*)?\s*\d*[.:)．：]\s*")
_LABEL = re.compile(
    r"[^\s:：。.]{1,20}(?: [^\s:：。.]{1,20})?[:：][^。.:：]{1,40}$|(?:version|edition|第\d+版)",
    re.IGNORECASE,
)
_ARTICLES = {"a", "an", "the", "my", "our", "your", "i", "we", "you"}
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
    forms = forms_of(wanted)
    for rank, passage in enumerate(passages):
        if not edition_serves(question, passage) or _is_history(passage):
            continue
        if is_under_another(question, passage.section):
            continue
        worth = _worth(wanted, passage)
        if worth:
            bonus = 0.1 / (1 + rank) + (0.05 if passage.language == question.language else 0.0)
            special = 0.15 * speciality_of_heading(forms, passage)
            found.append(Treated(passage, worth, worth + bonus - special))
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
            quotable = [found for found in _quotable(question, passage) if not _LABEL.match(found.unit.text)]
            if quotable and not _is_history(passage):
                first.setdefault(passage.section, _telling(quotable))
        return list(first.values())[:MOST_QUOTES]
    wanted = [concept for concept in question.concepts if concept.role is not Role.LIGHT]
    naming = [
        found
        for found in _quotable(question, treated.passage)
        if any(says(concept, cached_view(found.unit.text)) for concept in wanted)
    ]
    return naming[:MOST_QUOTES]


def _telling(quotable: Sequence[Found]) -> Found:
    """The first sentence of a section that says something by itself, or else its first line."""
    alone = (
        found for found in quotable if found.unit.kind is not UnitKind.ROW and not found.unit.text.endswith((":", "："))
    )
    return next(alone, quotable[0])


def _worth(wanted: Sequence[Concept], passage: Passage) -> float:
    headings = [cached_view(heading) for heading in passage.section]
    own = passage.section[-1:] if passage.section[-1:] != (passage.title,) else ()
    inner = [cached_view(heading) for heading in own]
    title = cached_view(f"{passage.title} {passage.place}")
    if inner and all(_said(concept, inner) for concept in wanted):
        return _BY_HEADING
    if all(_said(concept, [title]) for concept in wanted):
        return _BY_TITLE
    units = [cached_view(unit.text) for unit in passage.units if unit.kind is not UnitKind.LIST]
    if not all(_said(concept, [*headings, title, *units]) for concept in wanted):
        return 0.0
    share = sum(any(_said(concept, [unit]) for concept in wanted) for unit in units) / max(1, len(units))
    return _BY_BODY + 0.1 * share if share else 0.0


def _said(concept: Concept, texts: Sequence[View]) -> bool:
    return any(says(concept, text) >= _LEAST_OF_A_BODY for text in texts)


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
            or misses(question.text, unit.text, normal)
        ):
            continue
        scopes = entity_scopes(around, number)
        if all(governed(entity, scopes) is True for entity in question.entities):
            found.append(Found(passage, number, 1.0, 1.0))
    return found


def _is_history(passage: Passage) -> bool:
    return any(FORMER_SECTION.search(normalise(heading)) for heading in passage.section[1:])


def asked_by_heading(question: Question, passages: Sequence[Passage]) -> list[Treated]:
    """The passages whose heading asks what the question asks, as in lists of frequent questions; the nearest first."""
    wanted = _pieces(question.text)
    found = []
    for passage in passages:
        headed_itself = passage.section and passage.section[-1] != passage.title
        if headed_itself and edition_serves(question, passage):
            likeness = _likeness(wanted, _pieces(passage.section[-1]))
            if likeness >= _SAME_QUESTION:
                found.append(Treated(passage, _BY_HEADING, likeness))
    return sorted(found, key=lambda entry: -entry.score)


def _pieces(text: str) -> frozenset[str]:
    """The words of a question, or its pairs of Japanese characters, without articles and politeness."""
    said = cached_view(without_politeness(normalise(_NUMBERING.sub("", text))))
    latin = (word for word in said.words.split() if word not in _ARTICLES)
    run = "".join(character for character in said.text if character > "\u3000" and character not in "、。？「」")
    return frozenset((*latin, *bigrams(run)))


def _likeness(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if len(first) >= _LEAST_PIECES else 0.0
