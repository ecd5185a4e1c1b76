"""Short names that a document gives to things: "Recovery Time Objective (RTO)", 「青空商事（以下「甲」という）」."""

import re
from collections.abc import Iterator, Sequence

from functions.docqa.vocabulary.words import HIRAGANA, KANJI, KATAKANA

Definition = tuple[str, str]

_MOST, _LONGEST, _BEFORE, _LEAST_ALONE = 40, 60, 120, 5
_OPENS = re.compile(r"[(（]")
_INSIDE = re.compile(r"[^()（）\n]{1,90}(?=[)）])")
_QUOTED = r"[「『“\"'‘](?:[Tt]he )?(?P<name>[^」』”\"'’]{1,30})[」』”\"'’]"
_ENGLISH_NAME = re.compile(
    rf"(?:(?:each,? )?(?:an?|the) |(?:hereinafter|hereafter|herein|collectively|together|below|from now on)[ ,]+"
    rf"(?:(?:also )?(?:referred to|called|known) (?:as )?)?,?(?:the |an? )?|the )?{_QUOTED}$",
    re.IGNORECASE,
)
_JAPANESE_NAME = re.compile(
    r"(?:^|[。、,])(?:以下|以後|略称)[、,:：]?(?:本[^「、]{0,8}(?:では|において)、?)?(?:単に)?(?:[「『“\"](?P<quoted>[^」』”\"]{1,20})[」』”\"]|(?P<bare>[^「」、。\s]{1,12}?))"
    r"(?:と(?:いう|する|呼ぶ|称する|略す|略称する|表記する|記す)[。.]?|と)?[。.]?$"
)
_SHORT = re.compile(r"[A-Z][A-Za-z]?[A-Z0-9][A-Za-z0-9&/-]{0,6}s?$|[A-Z]{2,8}s?$")
_SMALL = frozenset({"of", "the", "and", "for", "to", "in", "on", "a", "an", "at", "by", "&", "or", "with"})
_WORDS_BEFORE = re.compile(r"[A-Za-z0-9][\w'’&.-]*(?:[ -][A-Za-z0-9&][\w'’&.-]*){0,9} ?$")
_NAME_BEFORE = re.compile(
    r"(?:[A-Z][\w'’&.-]*|\d+)(?:,? (?:[A-Z][\w'’&.-]*|of|and|for|the|de|&|\d+))*(?: \([^()]*\))? ?$"
)
_JAPANESE_BEFORE = re.compile(rf"[{KANJI}{KATAKANA}A-Za-z0-9０-９Ａ-Ｚａ-ｚ・＆&]{{2,30}}$")
_TWO_BEFORE = re.compile(rf"[{KANJI}{KATAKANA}A-Za-z]{{2,}}の{_JAPANESE_BEFORE.pattern}")
_COMPANY = re.compile(
    r"(?:[A-Z][\w&'’-]* )+(?:K\.K\.|G\.K\.|Co\.,? Ltd\.?|Ltd\.?|Limited|Inc\.?|Corporation|Corp\.?|GmbH|AG|LLC|plc|S\.A\.)"
)
_SHORT_BEFORE = re.compile(r"[A-Z][A-Za-z0-9/&-]{1,8}$")
_BETWEEN_NAMES = re.compile(r"[:：、,，;；/／]")
_WORD_CUT = re.compile(r"^[a-z'’]+ ")
_JAPANESE = re.compile(rf"[{KANJI}{KATAKANA}{HIRAGANA}]")
_TWO_CAPITALS = re.compile("[A-Z](?:[A-Z]|[a-z][A-Z])")
_LINE = re.compile(
    r"^[ \t]*(?:[|*-][ \t]*)?(?:\*\*)?([A-Z][A-Za-z0-9/&]{1,8})(?:\*\*)?[ \t]*(?:[|:：]|[-–—](?= )|=)[ \t]*"
    r"(?:\*\*)?([A-Z][^|:：.\n]{4,60})",
    re.MULTILINE,
)
# What a document calls itself says nothing about its sentences.
_OF_ITSELF = re.compile(
    r"(?:規程|規則|規定|要領|要綱|契約|約款|書|手順|手引き|ポリシー|ガイドライン|マニュアル|法|令|条例|計画)$"
    r"|^(?:agreement|contract|policy|policies|terms|conditions|guidelines?|handbook|manual|procedure|document|act|rules?|schedule"
    r"|appendix|annex|plan)$",
    re.IGNORECASE,
)


def definitions_in(text: str) -> tuple[Definition, ...]:
    """(short, long) of every short name that `text` gives to what it calls by a long one elsewhere, at most 40."""
    found: dict[Definition, None] = {}
    for short, long in (*_in_brackets(text), *_in_lines(text)):
        short, long = " ".join(short.split()), " ".join(long.strip(" ,、").split())
        if short and long and len(long) <= _LONGEST and long not in short:
            found[short, long] = None
        if len(found) == _MOST:
            break
    return tuple(found)


def said_in(definitions: Sequence[Definition], text: str) -> tuple[Definition, ...]:
    """Those of `definitions` of which `text` says the short name or the long one."""
    return tuple(pair for pair in definitions if any(_stands_in(name, text) for name in pair))


def with_other_names(text: str, definitions: Sequence[Definition]) -> str:
    """`text`, and behind it the other name of everything that it calls by one of two."""
    other = []
    for short, long in definitions:
        says_short, says_long = _stands_in(short, text), _stands_in(long, text)
        if says_short != says_long:
            other.append(long if says_short else short)
    return "\n".join([text, *other]) if other else text


def _stands_in(name: str, text: str) -> bool:
    if name.isascii():
        return name in text and re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", text) is not None
    if len(name) > 1:
        return name in text
    return re.search(rf"(?<![{KANJI}]){name}(?![{KANJI}])", text) is not None


def _in_brackets(text: str) -> Iterator[Definition]:
    for match in _OPENS.finditer(text):
        inside = _INSIDE.match(text, match.end())
        if not inside:
            continue
        start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - _BEFORE)
        line = _WORD_CUT.sub("", text[start : match.start()]).rstrip('*_」』”" ')
        if line:
            yield from _of_one(inside.group().strip(), line)


def _of_one(content: str, line: str) -> Iterator[Definition]:
    """What brackets with `content` define when `line` stands before them."""
    if named := _JAPANESE_NAME.search(content):
        yield from _named(named["quoted"] or named["bare"], _japanese_before(line))
    elif named := _ENGLISH_NAME.match(content):
        company = [*_COMPANY.finditer(line)][-1:]
        yield from _named(named["name"], company[0] if company else _NAME_BEFORE.search(line) or _head_before(line))
    pieces = [piece.strip() for piece in _BETWEEN_NAMES.split(content)]
    for short in (piece for piece in pieces if _SHORT.match(piece)):
        yield from _abbreviated(short, line)
        yield from ((short, long) for long in pieces if _initials(short, long.split()))
    before = _SHORT_BEFORE.search(line)
    if before and _SHORT.match(before.group()):
        for long in pieces:
            japanese = _JAPANESE_BEFORE.fullmatch(long) and _JAPANESE.search(long)
            if japanese or _initials(before.group(), long.split()):
                yield before.group(), long


def _japanese_before(line: str) -> re.Match[str] | None:
    """The name that ends a line: a short one with what a の puts before it."""
    found = _JAPANESE_BEFORE.search(line)
    return _TWO_BEFORE.search(line) or found if found and len(found.group()) < _LEAST_ALONE else found


def _named(name: str, before: re.Match[str] | None) -> Iterator[Definition]:
    if before and not _OF_ITSELF.search(name):
        yield name, before.group().strip(" ,")


def _head_before(line: str) -> re.Match[str] | None:
    """The last few words of a line, from behind the last article or preposition on."""
    return re.search(r"(?:(?!(?:the|an?|of|for|to|in|on|by|and|or|with|each|any|its)\b)[a-z][\w'-]* ?){1,4}$", line)


def _abbreviated(short: str, line: str) -> Iterator[Definition]:
    if (japanese := _japanese_before(line)) and _JAPANESE.search(japanese.group()):
        yield short, japanese.group()
    elif before := _WORDS_BEFORE.search(line):
        words = before.group().split()
        for size in range(len(words), 0, -1):
            if _initials(short, words[-size:]):
                yield short, " ".join(words[-size:])
                return


def _initials(short: str, words: Sequence[str]) -> bool:
    """Whether the letters of `short` begin the words, small words or not: RTO, NDA, DoB."""
    letters = short.removesuffix("s").casefold() if short[-1:] == "s" and len(short) > 2 else short.casefold()
    letters = "".join(letter for letter in letters if letter.isalnum())
    parts = [part for word in words for part in word.casefold().split("-") if part]
    if len(parts) < 2 or parts[0] in _SMALL:
        return False
    every = "".join(part[0] for part in parts)
    main = "".join(part[0] for part in parts if part not in _SMALL)
    return letters in (every, main)


def _in_lines(text: str) -> Iterator[Definition]:
    """The lines of a list of abbreviations: "RTO: Recovery Time Objective"."""
    if not _TWO_CAPITALS.search(text):
        return
    for match in _LINE.finditer(text):
        short, words = match.group(1), match.group(2).split()
        for size in range(2, min(len(words), 7) + 1):
            if _SHORT.match(short) and _initials(short, words[:size]):
                yield short, " ".join(words[:size])
                break
