"""The deterministic checks of a sentence against the quotes that it cites; they need no model and are immune to prompt
injection.

A sentence is compared only with the clause of the quote that it rests on. This works across languages: figures, limits,
negation and duty have one normal form in English and Japanese.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from a2a_hub.grounding.evidence import Evidence, Sentence
from a2a_hub.grounding.figures import figure_flaws
from a2a_hub.grounding.statements import statement_flaws
from a2a_hub.grounding.wording import wording_flaws
from a2a_hub.text.quantities import quantities

_VERDICT = re.compile(
    r"^\s*(?:yes|no|unfortunately not|not yet|はい|いいえ|いえ|ええ)\s*[,、。.:：—–-]\s*", re.IGNORECASE
)
FORGED_ID, SUPERSEDED = "forged_id", "superseded"
_FORMER = re.compile(
    r"\b(?:rose|up from|instead of|former(?:ly)?|previous(?:ly)?|(?<!year[-\s])(?<!years[-\s])old(?:er)?|earlier"
    r"|replaced|no longer|used to|expired|was|were|had)\b"
    r"|旧|以前|従来|改[定訂]前|廃止|前の(?![日週月晩])|前回|比べ|でした|だった|ていた",
    re.IGNORECASE,
)
_CURRENT = re.compile(
    r"\b(?:current(?:ly)?|now|today|in force|still|remains?)\b|現在|現行|今[のはもで]|まま|引き続き", re.IGNORECASE
)
_CLAUSES = re.compile(r"[;。\n]|\.(?!\d)")
_MAX_CLAUSE_CHARACTERS = 1_000
# Clauses and phrases in which a quote describes the former state.
_FORMER_CLAUSE = re.compile(
    r"\b(?:supersedes|replaces)\b|\b(?:edition|issue|version|revision)\b.{0,60}?\b(?:withdrawn|superseded|replaced)\b"
    r"|(?:版|改[訂定]|要項).{0,30}?(?:廃止|改める|失効)|に代わるもの",
    re.IGNORECASE,
)
_FORMER_PHRASE = re.compile(
    r"\b(?:until then|previously|formerly)\b.{0,40}?(?=[,)](?!\d)|$)|\bit was .{1,20} before\b"
    r"|\b(?:changed?|raised|lowered|reduced|moved|extended)\b.{0,40}\bfrom\s.{1,25}?(?=\sto\b)"
    r"|(?:従来|それまで|以前)は[^、)）]{0,40}|[^、]{1,12}から(?=[^、]{1,16}[にへ](?:改|変[更わえ]|引き[上下]げ|広げ))",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_VERSION = re.compile(r"(?:\b(?:rev|ver|version|revision|edition|issue)\b\.?\s?|第)(\d{1,3})", re.IGNORECASE)


def verify(sentence: Sentence, evidence: Mapping[int, Evidence], *, question: str) -> Sequence[str]:
    """Return the flaws of the sentence; empty if it is accepted."""
    quotes = [evidence[number] for number in sentence.cites if number in evidence]
    if not sentence.text or not quotes or len(quotes) < len(sentence.cites):
        return (FORGED_ID,)
    said = _VERDICT.sub("", sentence.text)
    in_force = [line for each in evidence.values() if each.in_force for line in each.context]
    flaws = [SUPERSEDED] if _is_superseded(said, quotes, question, in_force) else []
    flaws += figure_flaws(said, quotes, question)
    flaws += statement_flaws(said, quotes)
    flaws += wording_flaws(said, quotes, question)
    return tuple(dict.fromkeys(flaws))


def _is_superseded(text: str, quotes: Sequence[Evidence], question: str, in_force: Sequence[str]) -> bool:
    """Return True if an edition that is not in force is cited, and neither sentence nor question speaks of a former one.

    `in_force` is what stands above the quotes of editions in force.
    """
    old = [quote for quote in quotes if not quote.in_force]
    if not old:
        speaks_of_former = _FORMER.search(f"{text} {question}") or _FORMER_PHRASE.search(text)
        return not speaks_of_former and _is_withdrawn(text, quotes, question)
    editions = _names(line for quote in old for line in quote.context) - _names(in_force)
    if _FORMER.search(text) or (editions & _names([text]) and len(old) < len(quotes)):
        return False
    if _CURRENT.search(text):
        return True
    if _FORMER.search(question):
        return False
    return not editions & _names([question, text])


def _is_withdrawn(text: str, quotes: Sequence[Evidence], question: str) -> bool:
    """Return True if a figure occurs only where the quotes state what no longer holds: "it was £42 before"."""
    now: set[str] = set()
    former: set[str] = set()
    for line in (text for quote in quotes for text in (quote.text, *quote.context)):
        for clause in _CLAUSES.split(line):
            clause = clause[:_MAX_CLAUSE_CHARACTERS]
            spans = [match.span() for match in _FORMER_PHRASE.finditer(clause)]
            spans += [(0, len(clause))] if _FORMER_CLAUSE.search(clause) else []
            for each in quantities(clause):
                is_former = any(start <= each.start and each.end <= end for start, end in spans)
                (former if is_former else now).add(each.term)
    asked = {each.term for each in quantities(question)}
    return any(each.kind != "date" and each.term in former - now - asked for each in quantities(text))


def _names(lines: Iterable[str]) -> set[str]:
    """Return by what an edition may be named: its years and versions."""
    text = "\n".join(lines)
    return {*_YEAR.findall(text), *_VERSION.findall(text)}
