"""Where sentences begin and end, in English and Japanese text."""

import re
from collections.abc import Iterator

# One class of characters first: that is what a scan is fast at.
_END = re.compile(
    r"[。．！？!?.「『（(」』）)](?:(?<=[。．！？!?])[。．！？!?]*[」』）)\"'”’]*"
    r"|(?<=\.)(?=[\"'”’)\]*_`]*(?:\s|$))[\"'”’)\]*_`]*|(?<=[「『（(」』）)]))"
)
# fmt: off
_BOLD = "**"
_ABBREVIATIONS = frozenset({
    "etc", "cf", "approx", "no", "nos", "dr", "mr", "mrs", "ms", "prof", "st", "vs", "fig", "sec", "art", "dept",
    "ext", "tel", "max", "min", "inc", "ltd", "co",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
})
# fmt: on
_LONGEST_ABBREVIATION = 12
_LAST_WORD = re.compile(r"\w*\Z")
_INITIAL_OR_NUMBER = re.compile(r"(?:\b[a-z]\.[a-z]|(?:^|\s)[a-z]|^\W*\d+)\Z", re.IGNORECASE)
# "Annex B. The keys …" has no initial.
_LETTERED = re.compile(
    r"\b(?:annex|appendix|schedule|exhibit|part|class|category|grade|group|plan|option|type|zone) [a-z]\Z",
    re.IGNORECASE,
)
_CLAUSE_NUMBER = re.compile(r"\s*(?:section|article|rule|§) ?\d[\d.-]*[a-z]?", re.IGNORECASE)
_LOWER_FOLLOWS = re.compile(r"\s+[a-z]")
_LABELLED = re.compile(r"\s*(?:[-・*•]\s*)?(?![^:\n]{0,40}\]\()[^\s:：。.|][^:：。|]{0,40}[:：](?!//)")
_LINE_END = re.compile(r"\r?\n")
_CONTINUED = (",", "-", *"、にはをがともでのへやてし")
_ENGLISH_GOES_ON = re.compile(
    r"(?:^|\s)(?:an?|the|of|to|in|on|at|by|for|from|with|and|or|your|our|its|their|this|that|see|is|are|be|must|may|should)$"
    r"|\[[^\]]*$",
    re.IGNORECASE,
)
# "Is it yours?" may be the words of a link, and "?id=1" a part of an address.
_LINK_TARGET = re.compile(r"[\"'”’*_`]*\]\([^()\n]*\)[\"'”’)*_`]*(?=\s|$)")
_ENDS = re.compile(r"[\"'”’)\]*_`]*(?:\s|$)")
_SHORT_LATIN_LINE, _SHORT_JAPANESE_LINE = 46, 20
_LEAST_FILLED, _NARROWEST, _ABOUT_AS_LONG = 2, 34, 0.6


def spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of `text[start:end]` as (start, end), without the white space around them.

    Sentences run over single line breaks, except where the lines look set apart on purpose.
    """
    found = []
    for line_start, line_end in _joined_lines(text, start, end):
        begin = line_start
        for stop in _stops(text, line_start, line_end):
            found.append(_trimmed(text, begin, stop))
            begin = stop
        found.append(_trimmed(text, begin, line_end))
    return [span for span in found if span[0] < span[1]]


def _stops(text: str, start: int, end: int) -> Iterator[int]:
    """Where sentences end before `end`."""
    begin, depth = start, 0
    for match in _END.finditer(text, start, end):
        at, stop = match.span()
        if stop == end:
            return
        first, last = text[at], text[stop - 1]
        if first in "「『（(":
            depth += 1
        elif first in "」』）)":
            depth = max(0, depth - 1)
        elif depth:
            depth -= last in "」』）)"
        elif link := _LINK_TARGET.match(text, stop, end):
            yield link.end()
            begin = link.end()
        elif not _goes_on(text, begin, at, stop, end):
            stop += _closing_marks(text, begin, stop)
            yield stop
            begin = stop


def _closing_marks(text: str, begin: int, stop: int) -> int:
    """How long the `**` at `stop` is that closes what the sentence from `begin` opened."""
    closes = text.startswith(_BOLD, stop) and text.count(_BOLD, begin, stop) % 2 == 1
    return len(_BOLD) if closes else 0


def _goes_on(text: str, begin: int, at: int, stop: int, end: int) -> bool:
    """Whether the sentence from `begin` goes on after the mark from `at` to `stop`: "no. 5", 3．5."""
    if text[at] == "．":
        return text[stop : stop + 1].isdigit() or text[begin:at].strip().isdigit()
    if text[at] in "!?":
        return text[stop : stop + 1].isascii() and not _ENDS.match(text, stop, end)
    return text[at] == "." and (
        _abbreviates(text[max(begin, at - _LONGEST_ABBREVIATION) : at])
        or _CLAUSE_NUMBER.fullmatch(text, begin, at) is not None
        or _LOWER_FOLLOWS.match(text, stop, end) is not None
    )


def _abbreviates(ending: str) -> bool:
    """Whether a full stop after `ending` is part of its last word: no, e.g, J, 2."""
    match = _LAST_WORD.search(ending)
    word = match.group().lower() if match else ""
    if len(word) > 1 and not word.isdigit():
        return word in _ABBREVIATIONS
    return _INITIAL_OR_NUMBER.search(ending) is not None and not _LETTERED.search(ending)


def _joined_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    if text.find("\n", start, end) < 0:
        yield start, end
        return
    filled = _fills_a_column(text[start:end])
    for match in _LINE_END.finditer(text, start, end):
        line_start = max(begin, text.rfind("\n", begin, match.start()) + 1)
        line = text[line_start : match.start()].strip()
        limit = _SHORT_LATIN_LINE if line.isascii() else _SHORT_JAPANESE_LINE
        following = text[match.end() : match.end() + 60].split("\n", 1)[0]
        set_apart = (
            len(line) < limit
            and not (filled and not line.endswith("."))
            and not (line.endswith(_CONTINUED) or following[:1].islower() or _ENGLISH_GOES_ON.search(line))
        )
        if set_apart or _LABELLED.match(following):
            yield begin, match.start()
            begin = match.end()
    yield begin, end


def _fills_a_column(paragraph: str) -> bool:
    """Whether all lines but the last are about as long as one another: those of a narrow column, not lines set apart."""
    *lengths, _ = (len(line.strip()) for line in paragraph.split("\n"))
    longest = max(lengths, default=0)
    return len(lengths) >= _LEAST_FILLED and longest >= _NARROWEST and min(lengths) >= _ABOUT_AS_LONG * longest


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
