"""A unit beside the question that it may answer: what every rule on kinds of answers looks at."""

import re
from functools import lru_cache

from msgspec import Struct

from functions.docqa.model import Unit, UnitKind
from functions.docqa.questions.question import Question
from functions.docqa.vocabulary.words import normalise, plain

_SENTENCE = re.compile(r"[.。!！:：;|,、@]|\d|\b(?:is|are|must|may|can|will|not|be|has|have)\b|[るすたいん]$")
_SET_APART = re.compile(r"(?<=[\d%]) (?=[\u3041-\u9fff])")
_HEADING_WORDS, _HEADING_CHARACTERS = 6, 15


class Judged(Struct, frozen=True):
    """A unit, its `normal` text, and the question with its own normal text, `asked`."""

    question: Question
    unit: Unit
    normal: str
    asked: str


@lru_cache(maxsize=16384)
def normal_of(text: str) -> str:
    """The text without its marks, normalised; 「30 日」 is 「30日」, as programs set it apart."""
    return _SET_APART.sub("", normalise(plain(text)))


def is_bare(unit: Unit) -> bool:
    """Whether a unit is rather a heading that its document does not mark as one, which answers nothing."""
    text = unit.text.strip()
    if unit.kind is not UnitKind.SENTENCE or _SENTENCE.search(text):
        return False
    return len(text.split()) <= _HEADING_WORDS if text.isascii() else len(text) <= _HEADING_CHARACTERS
