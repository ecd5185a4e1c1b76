"""The force of a sentence: negation, duty, permission and advice, as in the clause that it rests on.

Only a contradiction counts: a word of force on one side and nothing on the other proves none, nor does another predicate.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from a2a_hub.grounding.clauses import Clause, Statement, clauses_of, is_japanese, rests_on, terms_of
from a2a_hub.grounding.cues import NEGATIVE, Cue, cues_of, lexical_denials, split_exception
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.grounding.limits import is_outside, limit_of
from a2a_hub.text.quantities import quantities

# Forces of which one side may not become the other.
_APART = {
    Cue.DUTY: {Cue.PERMISSION, Cue.ADVICE, Cue.NO_DUTY},
    Cue.NEED: {Cue.PERMISSION, Cue.ADVICE, Cue.NO_DUTY},
    Cue.PERMISSION: {Cue.ADVICE},
}
_TOGETHER = ({Cue.NO_DUTY, Cue.PERMISSION}, {Cue.NO_DUTY, Cue.ADVICE}, {Cue.NEED, Cue.NEGATION})
_ONLY = re.compile(r"\b(?:only|provided)\b|のみ|限[りる]|だけ", re.IGNORECASE)
# Who may enter once the field is dry needs a dry field.
_CONDITION = re.compile(
    r"\b(?:(?<!even\s)if|once|when|after|only|with|provided)\b|以上|以下|未満|れば|場合|とき|得て|限[りる]|のみ",
    re.IGNORECASE,
)
_BAR = re.compile(r"\s*[|｜\t]\s*")
_WHO = re.compile(r"方|者|人|場合|とき|時")
_TAKES_IN = re.compile(
    r"\b(?:even(?!\sif)|alike|included|(?<!and\s)(?<!not\s)including|without\sexception|in\s(?:all|every)\scases?)\b"
    r"|であ?っても|ときでも|場合でも|を含(?:[むめ]|み(?!ません))|例外なく|一切",
    re.IGNORECASE,
)
_FOR_ALL = re.compile(rf"[一-龥]でも|{_TAKES_IN.pattern}", re.IGNORECASE)


def statement_flaws(sentence: str, quotes: Sequence[Evidence]) -> Iterator[str]:
    """Yield "negation", "modality" or "exception" if the sentence contradicts its quotes' statement."""
    given = [clause for quote in quotes for clause in _clauses(quote)]
    headings = " ".join(line for quote in quotes for line in quote.context[-2:])
    compared: list[tuple[Statement, list[Statement], Clause, list[Clause]]] = []
    for said in clauses_of(sentence):
        # Where nothing is in common, as in another language, a sentence without figures hardly rests on a clause with some.
        plain = [each for each in given if quantities(sentence) or not quantities(each.text)]
        ground = rests_on(said.terms, given) or plain or given
        if _is_outside(said, ground):
            continue
        statements = [each for clause in ground for each in clause.statements]
        spoken = [each for clause in (plain or given) for each in clause.statements]
        compared += [(mine, rests_on(mine.terms, statements) or spoken, said, ground) for mine in said.statements]
    # A part of the sentence that repeats the quote is not contradicted by another part.
    repeated = {id(its) for mine, near, *_ in compared for its in near if mine.cue is its.cue is not None}
    for mine, near, said, ground in compared:
        flaws = [
            "" if id(its) in repeated else _contradiction(mine, its, said, ground, given, headings) for its in near
        ]
        if flaws and all(flaws):
            yield flaws[0]
    if any(_is_flatly_denied(said, given) for said in clauses_of(sentence)):
        yield "negation"
    takes_in = _TAKES_IN.search(sentence) and not any(_FOR_ALL.search(clause.text) for clause in given)
    if takes_in and any(split_exception(clause.text)[1] or _denies(clause) for clause in given):
        yield "exception"


def _clauses(quote: Evidence) -> Iterator[Clause]:
    """Yield the clauses of a quote; each cell of a table row is one, which its column's name and the first cell govern."""
    cells = _BAR.split(quote.text)
    if len(cells) == 1:
        yield from clauses_of(quote.text)
        return
    names = next((names for line in quote.context if len(names := _BAR.split(line)) == len(cells)), [""] * len(cells))
    for name, cell in zip(names, cells, strict=True):
        for clause in clauses_of(cell):
            yield replace(clause, terms={**terms_of(f"{cells[0]} {name}"), **clause.terms})


def _contradiction(
    mine: Statement, its: Statement, said: Clause, ground: Sequence[Clause], given: Sequence[Clause], headings: str
) -> str:
    ours, theirs = mine.cue, its.cue
    if ours and theirs and (theirs in _APART.get(ours, ()) or ours in _APART.get(theirs, ())):
        permission = said.text if ours is Cue.PERMISSION else its.text if theirs is Cue.PERMISSION else ""
        condition = (_CONDITION if Cue.NEED in (ours, theirs) else _ONLY).search(permission)
        return "" if condition else "modality"
    if (ours in NEGATIVE) == (theirs in NEGATIVE) or {ours, theirs} in _TOGETHER:
        return ""
    if ours in NEGATIVE and any(each.cue in NEGATIVE for each in cues_of(_WHO.sub("", headings))):
        return ""
    denial, denied = (mine, its) if ours in NEGATIVE else (its, mine)
    theirs_text = " ".join((*(each.text for each in ground), headings))
    denying, other = (theirs_text, said.text) if denied is mine else (said.text, theirs_text)
    is_same = is_japanese(mine.text) == is_japanese(its.text)
    lexical, also = lexical_denials(other), lexical_denials(denying)
    if lexical - also:
        return ""
    bearing = given if denial is mine else [said]
    if any(each.cue in NEGATIVE for clause in bearing for each in clause.statements):
        return ""
    if is_same and not denial.scope.keys() & (
        said.terms.keys() if denied is mine else {term for clause in ground for term in clause.terms}
    ):
        return ""
    return "" if _is_excepted(said, ground) else "negation"


def _is_flatly_denied(said: Clause, given: Sequence[Clause]) -> bool:
    """Return True if the quotes deny, in a clause without an exception, all that the clause says and more."""
    if any(each.cue in NEGATIVE for each in said.statements) or lexical_denials(said.text):
        return False
    return any(
        each.cue in NEGATIVE and len(words := _words(each)) > 1 and words <= said.terms.keys()
        for clause in given
        if not (split_exception(clause.text)[1] or lexical_denials(clause.text))
        for each in clause.statements
    )


def _words(statement: Statement) -> set[str]:
    return {term for term in statement.terms if term[0] != "#"}


def _is_outside(said: Clause, ground: Sequence[Clause]) -> bool:
    """Return True if the sentence is about something beyond a limit of its clause."""
    given = [(each, limit_of(clause.text, each)) for clause in ground for each in quantities(clause.text)]
    return any(
        mine.value == each.value and is_outside(said.text, mine, limit)
        for mine in quantities(said.text)
        for each, limit in given
    )


def _is_excepted(said: Clause, ground: Sequence[Clause]) -> bool:
    """Return True if the sentence is about the exception from its clause, to which the rule does not apply."""
    if split_exception(said.text)[1]:
        return False
    parts = [split_exception(clause.text) for clause in ground]
    rules = {term for rule, _ in parts for term in terms_of(rule)}
    return any(said.terms.keys() & (terms_of(case).keys() - rules) for _, case in parts)


def _denies(clause: Clause) -> bool:
    return any(each.cue in NEGATIVE or each.cue is Cue.PERMISSION for each in clause.statements)
