"""Where sentences begin and end, in English and Japanese text."""

import re
from collections.abc import Iterator

# One class of characters first: that is what a scan is fast at.
_END = re.compile(
    r"[。．！？!?.「『（(」』）)](?:(?<=[。．！？!?])[。．！？!?]*[」』）)\"'”’]*"
    r"|(?<=\.)(?=[\"'”’)\]*_`]*(?:\s|$))[\"'”’)\]*_`]*|(?<=[「『（(」』）)]))"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|cf|approx|no|nos|dr|mr|mrs|ms|prof|st|vs|fig|sec|art|dept|ext|tel|max|min|inc|ltd|co"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)|\b[a-z]\.[a-z]|(?:^|\s)[a-z]|^\W*\d+)\.$",
    re.IGNORECASE,
)
_LOWER_FOLLOWS = re.compile(r"\s+[a-z]")
_LABELLED = re.compile(r"\s*(?:[-・*•]\s*)?[^\s:：。.|][^:：。|]{0,40}[:：](?!//)")
_LINE_END = re.compile(r"\r?\n")
_CONTINUED = (",", "-", *"、にはをがともでのへやてし")
_SHORT_LATIN_LINE, _SHORT_JAPANESE_LINE = 46, 20


def spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]` as (start, end), without the white space around them.

    Sentences run over single line breaks, except where the lines look set apart on purpose.
    """
    for line_start, line_end in _joined_lines(text, start, end):
        yield from _sentences(text, line_start, line_end)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin, depth = start, 0
    for match in _END.finditer(text, start, end):
        mark = match.group()
        if mark[0] in "「『（(":
            depth += 1
            continue
        if mark[0] in "」』）)":
            depth = max(0, depth - 1)
            continue
        if depth and mark[0] in "。．！？!?.":
            if mark[-1] in "」』）)":
                depth -= 1
            continue
        if mark[0] == "." and (
            _ABBREVIATION.search(text[max(begin, match.start() - 8) : match.start() + 1])
            or _LOWER_FOLLOWS.match(text, match.end(), end)
        ):
            continue
        if mark[0] == "．" and text[match.end() : match.end() + 1].isdigit():
            continue
        yield from _trimmed(text, begin, match.end())
        begin = match.end()
    yield from _trimmed(text, begin, end)


def _joined_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    if text.find("\n", start, end) < 0:
        yield start, end
        return
    for match in _LINE_END.finditer(text, start, end):
        line_start = max(begin, text.rfind("\n", begin, match.start()) + 1)
        line = text[line_start : match.start()].strip()
        limit = _SHORT_LATIN_LINE if line.isascii() else _SHORT_JAPANESE_LINE
        following = text[match.end() : match.end() + 60].split("\n", 1)[0]
        set_apart = len(line) < limit and not line.endswith(_CONTINUED) and not following[:1].islower()
        if set_apart or line.endswith("  ") or _LABELLED.match(following):
            yield begin, match.start()
            begin = match.end()
    yield begin, end


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end
