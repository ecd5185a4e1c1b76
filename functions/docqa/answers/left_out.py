"""What a sentence names only to leave it out, or names beside it: 「（沖縄を除く）」, 会議室2 where 会議室3 is asked about."""

import re
from collections.abc import Iterable
from functools import lru_cache

from functions.docqa.questions.concept import Concept, Role
from functions.docqa.questions.question import Question
from functions.docqa.vocabulary.words import normalise

_EXCEPTED = re.compile(r"\([^()]*を除[くき][^()]*\)")
_NUMBERED = re.compile(r"([\u30a1-\u30fc\u3400-\u9fff]{2,})(\d{1,3})(?=[のはがをにでも、 ?]|$)")
_BRACKETED = re.compile(r"([^、。()]+)\(([^()]*\d ?円[^()]*)\)")
_YEN = re.compile(r"\d ?円")
_MANY = 2


def is_left_out(question: Question, normal: str) -> bool:
    """Whether a sentence has what is asked about only where it leaves it out, or has another of the same name."""
    return not normal.isascii() and (_is_excepted(question, normal) or _is_another(normalise(question.text), normal))


def is_under_another(question: Question, governing: Iterable[str]) -> bool:
    """Whether a text that governs a sentence has the name asked about with other numbers alone: 議題1, and no 議題4."""
    asked = normalise(question.text)
    return bool(_NUMBERED.search(asked)) and any(_is_another(asked, normalise(text)) for text in governing)


def is_beside_the_amount(question: Question, normal: str) -> bool:
    """Whether all amounts are those of other things: 「現金、代引（手数料330円）、後払い（手数料250円）」 tells none of 現金."""
    priced = _BRACKETED.findall(normal)
    if len(priced) < _MANY or _YEN.search(_BRACKETED.sub("", normal)):
        return False
    things = [each for each in question.concepts if each.role in (Role.NOUN, Role.ACTION) and not each.kinds]
    beside = _BRACKETED.sub("", normal)
    return any(_is_said(thing, beside) and not any(_is_said(thing, name) for name, _ in priced) for thing in things)


def _is_excepted(question: Question, normal: str) -> bool:
    if not has_exception(normal):
        return False
    rest = _EXCEPTED.sub("", normal)
    return any(
        _is_said(each, normal) and not _is_said(each, rest) for each in question.concepts if each.role is Role.NOUN
    )


@lru_cache(maxsize=16384)
def has_exception(normal: str) -> bool:
    """Whether brackets leave something out."""
    return _EXCEPTED.search(normal) is not None


def _is_another(asked: str, normal: str) -> bool:
    for name, number in _NUMBERED.findall(asked):
        numbers = re.findall(rf"{re.escape(name)} ?(\d{{1,3}})(?!\d)", normal)
        if numbers and number not in numbers:
            return True
    return False


def _is_said(concept: Concept, normal: str) -> bool:
    return any(form in normal for form in concept.own if form[0] != " ")
