"""Whether a unit says what a thing is: "RPO means …", "**Crisis** - an event that …", or the first words under its name."""

import re

from functions.docqa.answers.matching import cached_view
from functions.docqa.model import Passage, UnitKind
from functions.docqa.questions.concept import Role
from functions.docqa.questions.expressions import AnswerKind
from functions.docqa.questions.question import Question
from functions.docqa.vocabulary.words import normalise, phrase

_TERM = re.compile(r"\bwhat(?:'s| is| are| does| do)? (?:meant by )?(?:an? |the )?(.+?)(?: mean| stand for)?\W*$")
_JAPANESE_TERM = re.compile(r"^\W*(.{2,30}?)(?:とは|って|の(?:意味|定義)(?:は|を|$))")
_NAMES_OF_ONE = re.compile(r" ?[/(（|] ?| or ")
_BY_NAME, _OF_ITSELF = 0.3, 0.15


def defines(question: Question, normal: str) -> bool:
    """Whether the sentence says of the thing itself what it is."""
    return any(
        re.search(
            rf"{re.escape(form.strip())}s?[」\"')]* ?(?:とは(?!異な|別|違|関係|限ら|い[えう]|言)|means?\b|refers? to\b"
            r"|is defined|:)"
            rf"|^\W*(?:(?:an?|the|our|your|each) )?(?:[\w-]+ )?{re.escape(form.strip())}s?[\"')]*(?: \([^()]*\))?"
            r" (?:is|are) (?:an?|the|when)\b"
            rf"|^\W*(?:[\w-]+ )?{re.escape(form.strip())}\w*(?: [\w-]+){{1,2}}:",
            normal,
        )
        for concept in question.concepts
        if concept.role is Role.NOUN
        for form in (concept.surface, *concept.own)
    )


def named_definition(question: Question, passage: Passage, number: int, normal: str) -> float:
    """What is added for the entry that a list or a heading gives to just the term that is asked about."""
    if question.kind is not AnswerKind.DEFINITION:
        return 0.0
    if japanese := _JAPANESE_TERM.search(normalise(question.text)):
        says_of_it = re.match(rf"\W*{re.escape(japanese.group(1))}\W*(?:とは、|とは|は)", normal)
        return _OF_ITSELF if says_of_it else 0.0
    term = _TERM.search(normalise(question.text))
    if not term:
        return 0.0
    wanted = phrase(term.group(1))
    name, dash, _ = normal.partition(" - ")
    if not dash:
        name, dash, _ = normal.partition(": ")
    if not dash:
        name, dash, _ = normal.partition(" means ")
    if dash and _is_named(wanted, name):
        return _BY_NAME
    first = next((at for at, unit in enumerate(passage.units) if unit.kind is not UnitKind.LIST), -1)
    headed = passage.section[-1:] != (passage.title,) and any(_is_named(wanted, name) for name in passage.section[-1:])
    return _BY_NAME if number == first and headed else 0.0


def _is_named(wanted: str, name: str) -> bool:
    names = (cached_view(part).words for part in (name, *_NAMES_OF_ONE.split(name)))
    return any(words == wanted for words in names)
