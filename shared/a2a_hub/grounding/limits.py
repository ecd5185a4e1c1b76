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
    r"(?:\s(?:the|a|an|about|approximately|another|first|last|past|next|of|is|are|(?:a|the)\s(?:\w+\s){1,2}of|any|jpy"
    r"|usd|eur))*[\s:]*[(¥$€£]?$"
)
_BEFORE = (
    (Limit.AT_MOST, r"[≤≦]"), (Limit.AT_LEAST, r"[≥≧]"), (Limit.LESS, r"[<＜]"), (Limit.MORE, r"[>＞]"),
    (Limit.AT_MOST, r"\b(?:no|not)\s(?:\w+\s){0,2}(?:more|later|longer|greater|higher|older|larger)\sthan"),
    (Limit.AT_MOST, (r"\bnot\s(?:\w+\s){0,2}(?:exceed(?:ing)?|above|over|go\s(?:over|beyond)|past)|\b(?:cannot"
     r"|can't)\sexceed")),
    (Limit.AT_MOST, (r"\bup\sto\sand\sincluding|\bless\sthan\sor\sequal\sto|\b(?:on|in)\sor\sbefore|\b(?:at\smost"
     r"|up\sto|within|maximum|max\.?"
     r"|limited\sto|capped\sat"
     r"|(?:limit|cap|ceiling)(?:\s\w+){0,3}|by|until|till|through|inside)")),
    (Limit.AT_MOST, r"(?:最[大長高多]|上限)[^\d。、]{0,6}"),
    (Limit.AT_LEAST, r"(?:最[低小短少]|下限)[^\d。、]{0,6}|早くても"),
    (Limit.AT_LEAST, r"\b(?:shortest|smallest|lowest|minimum)\s(?:\w+\s){0,3}is"),
    (Limit.AT_LEAST, (r"\b(?:no|not)\s(?:less|fewer|earlier|lower|sooner|shorter|younger|smaller)\sthan"
     r"|\bnot\s(?:below|under|before)")),
    (Limit.AT_LEAST, (r"\breach(?:es)?|\b(?:greater|more)\sthan\sor\sequal\sto|\b(?:on|in)\sor\safter"
     r"|\b(?:at\sleast|minimum|min\.?|(?<!apart\s)(?<!aside\s)from|since|as\sof|starting(?:\son|\sfrom|\sat)?"
     r"|effective(?:\sfrom)?"
     r"|beginning(?:\son)?)")),
    (Limit.MORE, (r"\b(?:(?!less|few|low|short|earl|young|small|soon|light|slow|cheap|narrow|cold|cool|rather|other)"
     r"(?:more|\w{3,}er)\sthan|over(?!\sthe\s(?:first|last|past"
     r"|next|course))|above|exceed(?:s|ing"
     r"|ed)?|beyond"
     r"|in\sexcess\sof|after|(?<!the\s)past|following)")),
    (Limit.LESS, (r"\b(?:(?:less|fewer|lower|shorter|earlier|younger|smaller|sooner|lighter|slower|cheaper|narrower"
     r"|colder|cooler)\sthan"
     r"|under(?!\sthe\s)|below|before"
     r"|prior\sto|ahead\sof"
     r"|short\sof)")),
)  # fmt: skip
_NUMBER = rf"(?:[\d$€£¥]|(?:an?|half|{'|'.join(NUMBER_WORDS)})\b)"
# The nouns after a figure; another figure has limits of its own.
_NOUNS = rf"^(?:['’]s?)?(?:\s(?!{_NUMBER})[a-z]+){{0,2}}?"
_PAREN = (
    r"^(?:\s?[a-zµ]{1,5}(?![a-z]))?(?:/(?:[a-z]{1,4}|[分秒時日月年人回]))?(?:\s?[(（][^)）]{0,20}[)）])?\s?(?:の|分)?"
)
_NEVER = r"(?:ない|ません|ず|ぬ|ては|(?:こと|もの)(?:は|が)(?:でき|あり|認め)[^。、]{0,4}(?:ない|ません))"
_AFTER = (
    (Limit.AHEAD, _NOUNS + r"\s(?:ahead|before(?:hand)?|in\sadvance)\sat\sthe\slatest"),
    (Limit.AT_LEAST, _NOUNS + r"\s?(?:(?:or|and)\s(?:more|longer|later|greater|older|higher|up(?:wards?)?(?!\sto\b)"
     r"|(?:above|over|after|beyond)(?!\s(?:an?|the|half|\d)))\b"
     r"|at\s(?:the\s)?(?:least|earliest)\b(?!\s" + _NUMBER + r")|minimum\b|onwards?\b|\+(?!\s?[\d$€£¥]))"),
    (Limit.AT_MOST, _NOUNS + r"\s?(?:(?:or|and)\s(?:less|fewer|shorter|earlier|younger|lower|smaller"
     r"|(?:below|under|before)(?!\s(?:an?|the|half|\d)))\b"
     r"|at\s(?:the\s)?(?:most|latest)\b(?!\s" + _NUMBER + r")|maximum\b|max\b|or\sless\b)"),
    (Limit.AHEAD, r"^(?:['’]s?)?\s?(?:before|prior\sto|in\sadvance|ahead|beforehand|earlier|(?:\w+\s)?notice)\b"),
    (Limit.AT_MOST, _PAREN + rf"(?:を?超(?:え|過し?|す)|を?上回[らっる]?|を?越え){_NEVER}"),
    (Limit.AT_LEAST, _PAREN + rf"(?:を?下回[らっる]?|未満(?:で|に)あ?っ?){_NEVER}"),
    (Limit.LESS, _PAREN + r"に(?:満たない|満たず|達し(?:てい)?(?:ない|ません)|達せず|達する前)"),
    (Limit.AT_LEAST, _PAREN + r"(?:以上|以降|以後|に達(?!しま?した(?:$|[。、]))|から(?!\d)(?![^。]{0,40}[にへ](?:な[りっる]"
     r"|改|変|引き))"
     r"|より(?![前後も早遅多長高大重広強少短低小軽狭弱上下増減良悪])"
     r"|を下限|が(?:下限|最低))"),
    (Limit.AT_MOST, _PAREN + r"(?:以下|以内|以前|まで|を(?:限度|上限)|が(?:上限|限度|最大|最長)|限り|内に)"),
    (Limit.MORE, _PAREN + r"(?:を?超|を?上回|を?越え|より後|より(?:も)?[多長遅高大重広強]|を?過ぎ|を?経過)"),
    (Limit.LESS, _PAREN + r"(?:未満|に満たない|を?下回|より前|より(?:も)?[少短早低小軽狭弱]|を?切)"),
    (Limit.LESS, _PAREN + r"前を?(?:過ぎ|切)"),
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
_EXACTLY = re.compile(r"\b(?:exactly|precisely|just)\s(?:the\s)?[$€£¥]?$")
_EXACTLY_BEFORE, _EXACTLY_AFTER = (
    re.compile(r"(?:ちょうど|丁度|きっかり|ぴったり)$"),
    re.compile(r"^(?:ちょうど|丁度|きっかり|ぴったり)"),
)
_OUTSIDE = {
    Limit.MORE: {Limit.AT_MOST, Limit.LESS},
    Limit.LESS: {Limit.AT_LEAST, Limit.MORE, Limit.AHEAD},
    Limit.AT_MOST: {Limit.MORE, Limit.LATER},
    Limit.AT_LEAST: {Limit.LESS},
}

# Limits within which the figure itself is, or is not.
CLOSED = {Limit.MORE: False, Limit.LESS: False, Limit.AT_MOST: True, Limit.AT_LEAST: True}


def is_outside(text: str, said: Quantity, given: Limit | None) -> bool:
    """Return True if a figure lies on the other side of the limit at it: exactly 5 where more than 5 is meant."""
    if given is None:
        return False
    if is_exactly(text, said):
        return given in (Limit.MORE, Limit.LESS)
    limit = limit_of(text, said)
    return CLOSED.get(given) is False if limit is None else limit in _OUTSIDE.get(given, ())


def is_exactly(text: str, said: Quantity) -> bool:
    """Return True if the figure is spoken of itself: exactly 5."""
    before, after = text[: said.start].lower(), text[said.end :]
    return bool(_EXACTLY.search(before) or _EXACTLY_BEFORE.search(before) or _EXACTLY_AFTER.search(after))


def limit_of(text: str, quantity: Quantity) -> Limit | None:
    """Return the limit at a quantity of the text, None if it has none."""
    before = text[max(0, quantity.start - _WINDOW) : quantity.start].lower()
    after = text[quantity.end : quantity.end + _WINDOW].lower()
    is_point = quantity.kind in ("date", "time", "weekday", "fiscal")
    first = next((limit for limit, pattern in _BEFORE_PATTERNS if pattern.search(before)), None)
    second = next((limit for limit, pattern in _AFTER_PATTERNS if pattern.search(after)), None)
    if second in (Limit.AHEAD, Limit.LATER):
        if is_point:
            is_japanese = after.lstrip()[:1] in "前後"
            second = (Limit.LESS if second is Limit.AHEAD else Limit.MORE) if is_japanese else None
        elif first and (second is Limit.LATER or first in (Limit.LESS, Limit.MORE)):
            second = None
    # "After the 3 years" is later than a span, "after the fourth day" is not.
    is_span = re.match(r"\d+(?![a-z\d])", text[quantity.start :])
    word = "" if is_point else (_ARTICLE.sub("", before) if is_span else before).rstrip()
    if first is Limit.AT_LEAST and word.endswith("from") and quantity.unit not in _AGES:
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
