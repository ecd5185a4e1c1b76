"""The pages of a PDF as one text: without running heads and page numbers, and words whole that a line's end divides."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

_EDGE_LINES, _LEAST_PAGES, _LEAST_SHARE = 6, 3, 0.4
_NUMBER = re.compile(r"\d+")
_COUNTED = "\0"
_PAGE_NUMBER = re.compile(
    r"\W*(?:page|p\.|pg\.?)?\W*(\d{1,4})(?:\W*(?:of|/)\W*\d{1,4})?\W*(?:ページ|頁)?\W*", re.IGNORECASE
)
_DIVIDED = re.compile(r"(?<![\w-])([^\W\d_]{2,})(-[ \t]*\n|\u00ad[ \t]*\n?)([a-z][^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+")
_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")
_ENDS_SENTENCE = (".", "!", "?", ":", "。", "！", "？", "：", "|")


class Edges:
    """What recurs at the edge of many pages: running heads and feet, page numbers."""

    def __init__(self, keys: frozenset[str]) -> None:
        self._keys = keys

    def has(self, line: str, page: int) -> bool:
        """Whether the line of the page is such; a row of a table is not."""
        return not line.lstrip().startswith("|") and _key(line, page) in self._keys

    def length(self, lines: Iterable[str], page: int) -> int:
        """How many of the first lines are such; a single other line may stand between two running ones."""
        end = looked_at = missed = 0
        for at, line in enumerate(lines):
            if not line.strip():
                continue
            looked_at += 1
            if self.has(line, page) and not (missed and _PAGE_NUMBER.fullmatch(line)):
                end, missed = at + 1, 0
            else:
                missed += 1
            if missed > 1 or looked_at in (missed, _EDGE_LINES):
                break
        return end


def recurring(pages: Sequence[Sequence[str]]) -> Edges:
    """What recurs at the edges of pages of these lines."""
    seen: Counter[str] = Counter()
    for number, page in enumerate(pages):
        lines = [line for line in page if line.strip()]
        edges = (*lines[:_EDGE_LINES], *lines[_EDGE_LINES:][-_EDGE_LINES:])
        seen.update({_key(line, number) for line in edges})
    return Edges(
        frozenset(
            key
            for key, count in seen.items()
            if count >= _LEAST_SHARE * len(pages) and count >= (2 if key[0] == _COUNTED else _LEAST_PAGES)
        )
    )


def _key(line: str, page: int) -> str:
    """What a line has in common with those of other pages: a page number counts them, other figures may differ."""
    if number := _PAGE_NUMBER.fullmatch(line):
        return f"{_COUNTED}{int(number.group(1)) - page}"
    return "".join(_NUMBER.sub("0", line.lstrip("# ")).split()) or " "


def as_one_text(pages: Sequence[str], edges: Edges) -> list[str]:
    """The pages, to be read one after the other, without what recurs at their edges.

    The head of the first page stays: that may be the title. A page that ends a sentence ends its paragraph, too.
    """
    read: list[str] = []
    for number, page in enumerate(pages):
        lines = page.split("\n")
        head = edges.length(lines, number)
        end = len(lines) - edges.length(lines[: head - 1 if head else None : -1], number)
        start = head if number else 0
        text = "\n".join(lines[start:end]) if start < end else ""
        if start or end < len(lines):
            text = _BLANK_LINES.sub("", text).rstrip()
        if text.startswith("#"):
            text = f"\n{text}"
        if read and _goes_on(read[-1], text):
            read[-1], text = read[-1].rstrip(), text.lstrip()
        read.append(text + ("\n" if text.rstrip().endswith(_ENDS_SENTENCE) else ""))
    return _whole_words(read)


def _goes_on(page: str, after: str) -> bool:
    """Whether a page that ends with a table is followed by one that begins with its next rows, and not with a header."""
    above, below = page.rstrip().rpartition("\n")[2], after.lstrip().split("\n", 2)
    return (
        above.startswith("|")
        and below[0].startswith("|")
        and above.count("|") == below[0].count("|")
        and not "".join(below[1:2]).startswith("|---")
    )


def _whole_words(pages: Sequence[str]) -> list[str]:
    """Words that a hyphen divides at the end of a line, whole; one that has its hyphen anyway keeps it."""
    if not any(_DIVIDED.search(page) for page in pages):
        return list(pages)
    words = {word.casefold() for page in pages for word in _WORD.findall(_DIVIDED.sub(" ", page))}

    def whole(match: re.Match[str]) -> str:
        first, hyphen, second = match.groups()
        joined = first + second
        compound = hyphen[0] == "-" and joined.casefold() not in words and second.casefold() in words
        return f"{first}-{second}" if compound else joined

    return [_DIVIDED.sub(whole, page) for page in pages]
