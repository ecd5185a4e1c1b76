"""The bounds of sentences in English and Japanese text."""

import re
from collections.abc import Iterator

# One class of characters first: that is what a scan is fast at.
_END = re.compile(
    r"[。．！？!?.「『（(」』）)](?:(?<=[。．！？!?])[。．！？!?]*[」』）)\"'”’]*"
    r"|(?<=\.)(?=[\"'”’)\]]*(?:\s|$))[\"'”’)\]]*|(?<=[「『（(」』）)]))"
)
# fmt: off
_ABBREVIATIONS = frozenset({
    "etc", "cf", "approx", "no", "nos", "dr", "mr", "mrs", "ms", "prof", "st", "vs", "fig", "sec", "art", "dept",
    "ext", "tel", "rev", "ver", "vol", "max", "min", "inc", "ltd", "co",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
})
# fmt: on
_LONGEST_ABBREVIATION = 12
_LAST_WORD = re.compile(r"\w*\Z")
_INITIAL_OR_NUMBER = re.compile(r"(?:\b[a-z]\.[a-z]|(?:^|\s)[a-z]|^\W*\d+)\Z", re.IGNORECASE)
# "Annex B. The keys …" has no initial.
_LETTERED = re.compile(
    r"\b(?:annex|appendix|schedule|exhibit|part|class|category|grade|group|plan|option|type|zone|menu|room|gate|hall"
    r"|building|terminal|band|tier) [a-z]\Z",
    re.IGNORECASE,
)
_CLAUSE_NUMBER = re.compile(r"\s*(?:section|article|rule|§) ?\d[\d.-]*[a-z]?", re.IGNORECASE)
_LOWER_FOLLOWS = re.compile(r"\s+[a-z]")
_ENDS = re.compile(r"[\"'”’)\]]*(?:\s|$)")
_LONGEST = 2_000  # a "sentence" without an end is cut at white space


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of `text` begin and end, without the white space around them."""
    found, begin = [], 0
    for stop in (*_stops(text), len(text)):
        while stop - begin > _LONGEST:
            at = text.rfind(" ", begin + _LONGEST // 2, begin + _LONGEST)
            at = at if at > 0 else begin + _LONGEST
            found.append(_trimmed(text, begin, at))
            begin = at
        found.append(_trimmed(text, begin, stop))
        begin = stop
    return [span for span in found if span[0] < span[1]]


def _stops(text: str) -> Iterator[int]:
    begin, depth = 0, 0
    for match in _END.finditer(text):
        at, stop = match.span()
        if stop == len(text):
            return
        first, last = text[at], text[stop - 1]
        if first in "「『（(":
            depth += 1
        elif first in "」』）)":
            depth = max(0, depth - 1)
        elif depth:
            depth -= last in "」』）)"
        elif not _goes_on(text, begin, at, stop):
            yield stop
            begin = stop


def _goes_on(text: str, begin: int, at: int, stop: int) -> bool:
    """Return whether the sentence from `begin` goes on after the mark from `at` to `stop`: "no. 5", 3．5."""
    if text[at] == "．":
        return text[stop : stop + 1].isdigit() or text[begin:at].strip().isdigit()
    if text[at] in "!?":
        return text[stop : stop + 1].isascii() and not _ENDS.match(text, stop)
    return text[at] == "." and (
        _abbreviates(text[max(begin, at - _LONGEST_ABBREVIATION) : at])
        or _CLAUSE_NUMBER.fullmatch(text, begin, at) is not None
        or _LOWER_FOLLOWS.match(text, stop) is not None
    )


def _abbreviates(ending: str) -> bool:
    """Return whether a full stop after `ending` is part of its last word: no, e.g, J, 2."""
    match = _LAST_WORD.search(ending)
    word = match.group().lower() if match else ""
    if len(word) > 1 and not word.isdigit():
        return word in _ABBREVIATIONS
    return _INITIAL_OR_NUMBER.search(ending) is not None and not _LETTERED.search(ending)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
