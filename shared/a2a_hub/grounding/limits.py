"""Limits at figures: at least and more than, up to and less than, before and after, in English and Japanese."""

import re
from enum import StrEnum

from a2a_hub.text.quantities import Quantity
from a2a_hub.text.quantity_patterns import NUMBER_WORDS


class Limit(StrEnum):
    """On which side of a figure a rule holds, and whether the figure itself is within."""

    AT_LEAST = "at_least"
    MORE = "more"
    AT_MOST = "at_most"
    LESS = "less"
    AHEAD = "ahead"
    LATER = "later"


_FILLER = (
    r"(?:\s(?:the|a|an|about|approximately|another|first|last|next|of|is|are|(?:a|the)\s(?:\w+\s){1,2}of|any|jpy"
    r"|usd|eur))*[\s:]*[(¥$€£]?$"
)
_BEFORE = (
    (Limit.AT_MOST, r"[≤≦]"), (Limit.AT_LEAST, r"[≥≧]"), (Limit.LESS, r"[<＜]"), (Limit.MORE, r"[>＞]"),
    (Limit.AT_MOST, (r"\b(?:no|not|never)\s(?:\w+\s){0,2}(?:more|later|longer|greater|higher|older|larger|faster)\sthan"
     r"|\bnot\s(?:\w+\s){0,2}(?:exceed(?:ing)?|above|over|past)")),
    (Limit.AT_MOST, (r"\bup\sto\sand\sincluding|\b(?:on|in)\sor\sbefore|\b(?:at\smost|up\sto|within|maximum(?:\s\w+){0,2}|max\.?"
     r"|limited\sto|(?:limit|cap|ceiling)(?:\s\w+){0,3}|by|until)")),
    (Limit.AT_MOST, r"(?:最[大長高多]|上限)[^\d。、]{0,6}"),
    (Limit.AT_LEAST, r"(?:最[低小短少]|下限)[^\d。、]{0,6}|早くても"),
    (Limit.AT_LEAST, (r"\b(?:no|not)\s(?:less|fewer|earlier|lower|sooner|shorter|younger|smaller)\sthan"
     r"|\bnot\s(?:below|under|before)"
     r"|\breach(?:es)?|\b(?:on|in)\sor\safter"
     r"|\b(?:at\sleast|minimum(?:\s\w+){0,2}|min\.?|(?<!apart\s)(?<!aside\s)from|since|as\sof|starting|beginning)(?:\son)?")),
    (Limit.MORE, (r"\b(?:(?!less|few|low|short|earl|young|small|soon|light|slow|cheap|narrow|col|cool|rather|other)"
     r"(?:more|\w{3,}er)\sthan|over(?!\sthe\s(?:first|last|past|next|course))|above|exceed(?:s|ing|ed)?|beyond"
     r"|in\sexcess\sof|after)")),
    (Limit.LESS, (r"\b(?:(?:less|fewer|(?!rather|other)\w{3,}er)\sthan"
     r"|(?<!fall\s)(?<!falls\s)(?<!comes\s)under(?!\sthe\s)|below|before|prior\sto)")),
)  # fmt: skip
_NUMBER = rf"(?:[\d$€£¥]|(?:an?|half|{'|'.join(NUMBER_WORDS)})\b)"
# The nouns after a figure; another figure has limits of its own.
_NOUNS = rf"^(?:['’]s?)?(?:\s(?!{_NUMBER})[a-z]+){{0,2}}?"
_PAREN = (
    r"^(?:\s?[a-zµ]{1,5}(?![a-z]))?(?:/(?:[a-z]{1,4}|[分秒時日月年人回]))?(?:\s?[(（][^)）]{0,20}[)）])?\s?(?:の|分)?"
)
_AFTER = (
    (Limit.AHEAD, _NOUNS + r"\s(?:ahead|before(?:hand)?|in\sadvance)\sat\sthe\slatest"),
    (Limit.AT_LEAST, _NOUNS + r"\s(?:before|ahead|prior|in\sadvance)\sor\searlier\b"),
    (Limit.AT_LEAST, _NOUNS + r"\s?(?:(?:or|and)\s(?:more|longer|later|greater|older|higher|up(?:wards?)?(?!\sto\b)"
     r"|(?:above|over|after|beyond)(?!\s(?:an?|the|half|\d)))"
     r"|at\s(?:the\s)?(?:least|earliest)|minimum|onwards?)\b(?!\s" + _NUMBER + ")"),
    (Limit.AT_MOST, _NOUNS + r"\s?(?:(?:or|and)\s(?:less|fewer|shorter|earlier|younger|lower|smaller"
     r"|(?:below|under|before)(?!\s(?:an?|the|half|\d)))|at\s(?:the\s)?(?:most|latest)|maximum)\b(?!\s" + _NUMBER + ")"),
    (Limit.AHEAD, r"^\s?(?:before|prior\sto|in\sadvance|ahead|beforehand|earlier|(?:\w+\s)?notice)\b"),
    (Limit.AT_MOST, _PAREN + r"を?(?:超え|上回ら?)(?:ない|ません|ず|ては|ることは?でき(?:ない|ません))"),
    (Limit.AT_LEAST, _PAREN + r"を?下回[らっる]?(?:ない|ません|ず|ては)"),
    (Limit.LESS, _PAREN + r"に(?:満たない|満たず|達し(?:てい)?(?:ない|ません))"),
    (Limit.AT_LEAST, _PAREN + r"(?:以上|以降|以後|に達(?!しました)|から(?!\d)(?![^。]{0,40}[にへ](?:な[りっる]|改|変)))"),
    (Limit.AT_MOST, _PAREN + r"(?:以下|以内|以前|まで|を(?:限度|上限)|が(?:上限|限度))"),
    (Limit.MORE, _PAREN + r"(?:を?超|を?上回|より(?:も)?[多長遅高大後]|を?過ぎ|を?経過)"),
    (Limit.LESS, _PAREN + r"(?:未満|を?下回|より(?:も)?[少短早低小前]|前を?過ぎ)"),
    (Limit.AHEAD, _PAREN + r"前"),
    (Limit.LATER, _PAREN + r"後"),
)  # fmt: skip
_NAMED = (
    (Limit.AT_LEAST, re.compile(r"\bmin(?:imum)?\b|最[低小短少]|下限", re.IGNORECASE)),
    (Limit.AT_MOST, re.compile(r"\bmax(?:imum)?\b|最[大長高多]|上限", re.IGNORECASE)),
)
_BEFORE_PATTERNS = [(limit, re.compile(f"(?:{pattern}){_FILLER}")) for limit, pattern in _BEFORE]
_AFTER_PATTERNS = [(limit, re.compile(pattern)) for limit, pattern in _AFTER]
_ARTICLE = re.compile(r"\b(?:the|these|those|this)\s(?:first\s)?$")
_WINDOW = 40
_OPEN_ENDED = frozenset({Limit.MORE, Limit.LESS, Limit.AT_LEAST})
# Two weeks before and at least two weeks ahead, 2週間前まで; after six months and 6か月を過ぎたら.
_ALIKE = ({Limit.AHEAD, Limit.AT_LEAST}, {Limit.LATER, Limit.MORE})


# "From 50 years" is a limit, "from 5 euros" may be a price.
_AGES = ("age", "month")
# Up from two years to three.
_TO = re.compile(r"(?:\s\w+)?\sto\s(?:an?\s|\d|\w+\b)")
_NO_MORE = re.compile(r"\b(?:(?:no|not)\smore\sthan|at\smost)\s$")
_OUTSIDE = {
    Limit.MORE: {Limit.AT_MOST, Limit.LESS},
    Limit.LESS: {Limit.AT_LEAST, Limit.MORE, Limit.AHEAD},
    Limit.AT_MOST: {Limit.MORE, Limit.LATER},
    Limit.AT_LEAST: {Limit.LESS},
}


def is_outside(text: str, said: Quantity, given: Limit | None) -> bool:
    """Return True if a figure lies on the other side of the limit at it: 5 itself where more than 5 is meant."""
    if given is None:
        return False
    limit = limit_of(text, said)
    return given in (Limit.MORE, Limit.LESS) if limit is None else limit in _OUTSIDE.get(given, ())


def limit_of(text: str, quantity: Quantity) -> Limit | None:
    """Return the limit at a quantity of the text, None if it has none."""
    before = text[max(0, quantity.start - _WINDOW) : quantity.start].lower()
    after = text[quantity.end : quantity.end + _WINDOW].lower()
    is_point = quantity.kind in ("date", "time", "weekday", "fiscal")
    first = next((limit for limit, pattern in _BEFORE_PATTERNS if pattern.search(before)), None)
    second = next((limit for limit, pattern in _AFTER_PATTERNS if pattern.search(after)), None)
    if second in (Limit.AHEAD, Limit.LATER):
        if is_point:
            second = Limit.LESS if second is Limit.AHEAD else Limit.MORE
        elif first and (second is Limit.LATER or first in (Limit.LESS, Limit.MORE) or _NO_MORE.search(before)):
            second = None
    # "After the 3 years" is later than a span, "after the fourth day" is not.
    is_span = re.match(r"\d+(?![a-z\d])", text[quantity.start :])
    word = "" if is_point else (_ARTICLE.sub("", before) if is_span else before).rstrip()
    if first is Limit.AT_LEAST and word.endswith("from") and (quantity.unit not in _AGES or _TO.match(after)):
        first = None
    if first is Limit.MORE and word.endswith("after"):
        first = Limit.LATER
    return second or first


def limit_named(text: str) -> Limit | None:
    """Return the limit that the name of a row or a column gives its figures."""
    return next((limit for limit, name in _NAMED if name.search(text)), None)


def agree(said: Limit | None, given: Limit | None, kind: str) -> bool:
    """Return True if the limit of a sentence is that of its quote. A limit may be left out where another word says it."""
    if said is given or said is None:
        return True
    if given is None:
        return said not in _OPEN_ENDED or kind in ("date", "time", "weekday", "fiscal") or said is Limit.AT_MOST
    return {said, given} in _ALIKE
