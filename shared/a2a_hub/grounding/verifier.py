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
    r"\b(?:abolish\w*|rose|raised|lowered|instead of|up from"
    r"|cancel(?:led|s)|supersede[sd]?|replaces the|former(?:ly)?|previous(?:ly)?|old(?:er)?"
    r"|earlier|replaced|used to|at the time|last year|compared"
    r"|back then|no longer|withdrawn|repealed"
    r"|expired|was|were|had)\b|旧|以前|改[定訂正]前|従来|廃止|失効|過去|当時|かつて|前の(?![日週月晩])|前回|比べ"
    r"|から[^。]{1,20}[にへ](?:改|変|引|上|下|延|短)|でした|だった|ていた",
    re.IGNORECASE,
)


_CURRENT = re.compile(
    r"\b(?:current(?:ly)?|now|today|in force|still|continues?|new|latest|remains?|as before|to this day)\b"
    r"|現在|現行|今の|今は|今も|今で|まま|引き続き|以降も|後も|変わら|最新|新しい|新[規版]|適用され(?:ます|る|てい(?:る|ます))",
    re.IGNORECASE,
)


_CLAUSES = re.compile(r"[;。\n]|\.(?!\d)")
_MAX_CLAUSE_CHARACTERS = 1_000
_DOCUMENT = (
    r"\b(?:edition|issue|version|rev(?:ision|\b)|rules?|notice|circular|polic(?:y|ies)|terms|tariff|limit)(?!\w)"
)
_TURN = r"\b(?:changed?|raised|increased|lowered|reduced|cut|rose|moved|extended|shortened)\b"
# Clauses and phrases in which a quote describes the former state.
_FORMER_CLAUSE = re.compile(
    rf"\b(?:supersedes|replaces)\b|{_DOCUMENT}.{{0,60}}?\b(?:withdrawn|cancelled|repealed|superseded|replaced|expired"
    r"|no longer (?:appl\w+|valid|in force))\b"
    r"|(?:版|改[訂定]|要項|規[定程則]|通達|告示|通知).{0,30}?(?:廃止|改める|改めた|失効)|に代わるもの",
    re.IGNORECASE,
)
_FORMER_PHRASE = re.compile(
    r"\b(?:until (?:then|issue|edition|version|revision|rev)|before that|previously|formerly|instead of"
    rf"|(?:former|previous|old) {_DOCUMENT})\b.{{0,40}}?(?=[,)](?!\d)|$)|\bit was .{{1,20}} before\b"
    rf"|{_TURN}.{{0,40}}\bfrom\s.{{1,25}}?(?=\sto\b)"
    r"|旧(?:版|規[定程則]|料金|価格)[^、]{0,40}|(?:従来|それまで|以前|これまで)は[^、)）]{0,40}"
    r"|[^、]{1,12}から(?=[^、]{1,16}[にへ](?:改|変更|引き[上下]げ|延長|短縮|拡大|縮小|広げ))",
    re.IGNORECASE,
)


_WHOLE_DATE = len("2026-12-31")
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
        return not _FORMER.search(f"{text} {question}") and _is_withdrawn(text, quotes, question)
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
    """Return by what an edition may be named: its years, versions, codes and dates."""
    text = "\n".join(lines)
    told = quantities(text)
    years = {year for each in told for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", each.value)}
    codes = {
        each.value for each in told if each.kind == "code" or (each.kind == "date" and len(each.value) == _WHOLE_DATE)
    }
    return years | codes | {match[1] for match in _VERSION.finditer(text)}
