"""Which cell of a row answers, and so leads the row where it is quoted."""

import re
from collections.abc import Sequence

from functions.docqa.answers.telling import REMEDY
from functions.docqa.questions.concept import Role
from functions.docqa.questions.expressions import ACTED_ON, PATTERNS, AnswerKind
from functions.docqa.questions.question import Question
from functions.docqa.vocabulary.words import normalise, view

_BY_A_WORD, _BY_A_LIGHT_WORD, _BY_NAME, _BY_A_NUMBER, _SAYS_WHAT_TO_DO = 1.0, 0.5, 1.2, 0.6, 1.0
_FITS_EXACTLY, _FITS, _IS_THE_KEY, _TOLD, _ENOUGH = 0.6, 0.3, -0.5, -1.0, 0.5
_PERSONS = re.compile(r"氏名|名前|\bnames?\b")
_NONE = re.compile(r"\W*(?:不要|なし|無し?|対象外|不可|none|no|not required|n/a)\W*", re.IGNORECASE)


def leading_cell(question: Question, names: Sequence[str], cells: Sequence[str]) -> int | None:
    """Which of the `cells` of the columns `names` answers; None where no column is asked for more than any other.

    What the question says itself answers nothing, and a column that it names leads though its cell says 「不要」.
    """
    asked = [_asked_for(question, name, cell) for name, cell in zip(names, cells, strict=True)]
    fits = [_fits(question, name, cell) for name, cell in zip(names, cells, strict=True)]
    exact = question.asked.strict or (question.kind is AnswerKind.PERSON and any(fits[1:]))
    named = _only_best(asked[1:], least=_BY_A_WORD) if exact else None
    if named is not None and (_NONE.fullmatch(cells[named + 1]) or not any(fits[1:])):
        return named + 1
    scores = [
        wanted + ((_FITS_EXACTLY if exact else _FITS) if expressed else 0.0) + (0.0 if at else _IS_THE_KEY)
        for at, (wanted, expressed) in enumerate(zip(asked, fits, strict=True))
    ]
    if exact:
        scores = [score if at and fits[at] else _TOLD for at, score in enumerate(scores)]
    return _only_best(scores, least=_ENOUGH)


def _asked_for(question: Question, name: str, cell: str) -> float:
    """How much the question asks for the column of this `name`."""
    text, said, normal = normalise(question.text), view(name), normalise(name).strip()
    if _is_told(text, normalise(cell).strip()):
        return _TOLD
    asked = sum(
        _BY_A_WORD if concept.role in (Role.NOUN, Role.ACTION) else _BY_A_LIGHT_WORD
        for concept in question.concepts
        if any(
            form in (said.words if form[0] == " " else said.text)
            for form in (*concept.own, *concept.words, *concept.texts)
        )
    )
    if len(normal) > 1 and normal in text:
        asked += _BY_A_NUMBER if any(map(str.isdigit, normal)) else _BY_NAME
    if question.kind is AnswerKind.PERSON and _PERSONS.search(normal):
        asked += _BY_A_WORD
    return asked + (_SAYS_WHAT_TO_DO if question.kind in ACTED_ON and REMEDY.search(normal) else 0.0)


def _is_told(text: str, cell: str) -> bool:
    """Whether the question says a cell itself, in whatever order: "a flashing red light", "Red, flashing"."""
    words = view(cell).words.split()
    given = view(text).words
    return cell in text or (cell.isascii() and bool(words) and all(f" {word} " in given for word in words))


def _fits(question: Question, name: str, cell: str) -> bool:
    """Whether a cell expresses the kind of answer; 2417 is a number to call by the name of its column, 内線."""
    pattern = PATTERNS.get(question.kind)
    if question.kind is AnswerKind.PERSON and _PERSONS.search(normalise(name)):
        return True
    labelled = f"{name} {cell}" if question.kind is AnswerKind.CONTACT else cell
    return pattern is not None and pattern.search(normalise(labelled)) is not None


def _only_best(scores: Sequence[float], *, least: float) -> int | None:
    best = max(range(len(scores)), key=scores.__getitem__)
    return best if scores[best] >= least and scores.count(scores[best]) == 1 else None
