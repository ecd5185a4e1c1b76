"""The words of a sentence: names and opposites, as in its quotes or the question."""

import re
from collections.abc import Iterator, Sequence

from a2a_hub.grounding.clauses import is_japanese, stem
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.text.normalization import normalise
from a2a_hub.text.quantities import blanked

_CAPITAL = re.compile(r"(?<![.!?:]\s)(?<!^)(?<![\"“(])\b[A-Z][A-Za-z&]+\b")
_LATIN = re.compile(r"[A-Za-z][A-Za-z&]+")
_JA_NAME = re.compile(
    r"([\u4e00-\u9fff々]{2,8}(?:部(?![門分品屋材])|課|室|局|係|支店|支社|営業所|工場|センター|委員会|窓口)(?!長)"
    r"|[\u4e00-\u9fff々]{0,8}(?:部|課|室|局|係|店|場|所|社|会|次)長|[\u30a1-\u30ffー]{2,12}(?=さん|氏|様|社|部|室|課))"
)
_NEXT = r"\b(?:next|following) (?:month|year|day|week|business)\b|翌[月年日週営]|次の月"
_SAME = r"\b(?:same|current|this) (?:month|year|day|week)\b|当[月年日週]|同[月年日週]"
_PREVIOUS = r"\b(?:previous|preceding|prior) (?:month|year|day|week|business)\b|\bday before\b|前[月年週日営]"
_MONTHLY = r"\bmonthly\b|\b(?:per|a|each|every) month\b|月額|毎月|月利|月\d+回"
_YEARLY = (
    r"\bannual(?:ly)?\b|\byearly\b|\bper annum\b|\b(?:per|a|each|every) year\b"
    r"|年額|毎年|年[利率]|年\d+回|年間|年\s?[\d.]{1,6}\s?(?:%|パーセント)"
)
# Each line is two sides, either of which may be named by what stands between the bars.
_OPPOSITES = (
    (r"tax[- ]inclu\w+|inclu\w+ (?:of )?(?:\w+ )?tax|税込", r"tax[- ]exclu\w+|exclu\w+ (?:of )?(?:\w+ )?tax|plus tax|税抜|税別"),
    (_MONTHLY, _YEARLY),
    (r"\bdaily\b|\b(?:per|a|each|every) day\b|毎日|日額|1日(?:あたり|につき)",
     rf"\bweekly\b|\b(?:per|each|every) week\b|毎週|週額|{_MONTHLY}"),
    ((r"\bfree\b(?! to)|(?:\bnot|n['’]t) charged\b|\b(?:no|without|free of) (?:charge|fee|cost)\b|\bexempt\w*|\bwaived\b"
      r"|無[料償給]|免除"),
     r"有[料償給]|(?<!no )(?<!not )(?<!without )(?<!free of )\b(?:fees?|charged?|pa(?:y|ys|id))\b"),
    (_NEXT, _SAME), (_SAME, _PREVIOUS), (r"翌々[日月週年]|\b(?:day|week|month) after next\b", _NEXT),
    (r"\bsome\b|\bcertain\b|一部", r"\ball\b|\bevery\b|\beach\b|\bany\b|すべて|全て|全員|各"),
    (r"(?<![\d\s])以下", r"(?<![\d\s])未満"),
    (r"\bwhichever (?:is|are) (?:the )?(?:great|high|larg|lat|long)er|(?:高|多|大き|長|遅)い(?:方|ほう)",
     r"\bwhichever (?:is|are) (?:the )?(?:less|lower|small|earl|short)|(?:低|安|少な|小さ|短|早)い(?:方|ほう)"),
    (r"\bfirst\b|最初|初回", r"\blast\b|\bfinal\b|最後|最終"),
)  # fmt: skip
_PAIRS = [tuple(re.compile(side) for side in sides) for sides in _OPPOSITES]
_EITHER = re.compile(
    r"\b(?:or|either)\b(?! (?:more|less|fewer|above|below|over|under|later|earlier|older|longer|higher))|又は"
    r"|または|もしくは|若しくは|あるいは|か、"
)
_STRICT_BOTH = re.compile(r"\bboth\b|\band\b|及び|および|並びに|かつ|両方")


def wording_flaws(sentence: str, quotes: Sequence[Evidence], question: str) -> Iterator[str]:
    """Yield "name", "opposite" or "either"."""
    context = " ".join(line for quote in quotes for line in quote.context)
    text = " ".join(quote.text for quote in quotes)
    known = f"{text} {context} {question}"
    said, given, everything = normalise(sentence), normalise(f"{text} {context}"), normalise(known)
    if _new_names(sentence, known, is_same=is_japanese(sentence) == is_japanese(text)):
        yield "name"
    if any(_is_turned(one, other, said, given, everything) for one, other in (*_PAIRS, *((b, a) for a, b in _PAIRS))):
        yield "opposite"
    if _EITHER.search(said) and _STRICT_BOTH.search(given) and not re.search(_EITHER, everything):
        yield "either"


def _is_turned(one: re.Pattern[str], other: re.Pattern[str], said: str, given: str, everything: str) -> bool:
    return bool(one.search(said) and not other.search(said) and not one.search(everything) and other.search(given))


def _new_names(sentence: str, known: str, *, is_same: bool) -> bool:
    """Return True for a name that is in neither the quotes nor the question. Between languages, only a Japanese sentence shows
    which words are names.
    """
    lower, words = normalise(known), blanked(sentence)
    if is_japanese(sentence):
        names = _JA_NAME.findall(words) if is_same else []
        return any(normalise(name) not in lower for name in (*names, *_LATIN.findall(words)))
    stems = {stem(word.lower()) for word in _LATIN.findall(known)}
    return is_same and any(stem(name.lower()) not in stems for name in _CAPITAL.findall(words))
