"""A text with what it quotes taken out: a pattern for a sentence then meets the sentence alone, and nothing quoted is changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

QUOTED = "\ue000[0-9]+\ue001"
"""Matches what stands for a quoted text in the sentence."""

_FENCE = "```"
_CLOSING = {"“": "”", "‘": "’", "「": "」", "『": "』", "`": "`", '"': '"', "'": "'"}
# An apostrophe inside a word opens nothing, and closes nothing.
_BEFORE_SINGLE, _AFTER_SINGLE = " \t\n(,:\u3000", " \t\n),.:;!?\u3000"
# Where everything is; people say it so that somebody else sends their words here.
_PLACE = re.compile(
    r"^in (?:the|my|this|our) workspace[,:]? |,? (?:in|inside|of|from) (?:the|my|this|our) workspace(?=$|[ .,!?])"
    r"|ワークスペース(?:内|の中)?(?:の|にある|で|に|から)[、,]? ?",
    re.IGNORECASE,
)
_OPENING = re.compile(f"{_FENCE}|[{''.join(_CLOSING)}]")
_MARKS = re.compile("[\ue000\ue001]")


class Sentence(Struct, frozen=True):
    """`text` holds a mark for each of the `quotes`, which stood there as `originals`; between its words stands one blank."""

    text: str
    quotes: tuple[str, ...]
    originals: tuple[str, ...]

    def value(self, words: str) -> str | None:
        """What words of the sentence mean: what they quote, or themselves; None for a mixture."""
        if re.fullmatch(QUOTED, words):
            return self.quotes[int(words[1:-1])]
        return None if _MARKS.search(words) else words

    def command(self, words: str) -> str:
        """What is quoted in whole; else the words with their quotes, which mean something to whoever runs them."""
        if re.fullmatch(QUOTED, words):
            return self.quotes[int(words[1:-1])]
        return re.sub(QUOTED, lambda mark: self.originals[int(mark[0][1:-1])], words)


def without_place(sentence: Sentence) -> Sentence:
    """The sentence without the words "in the workspace", which is where all of it is anyway."""
    return replace(sentence, text=_PLACE.sub("", sentence.text).strip())


def sentence_of(text: str) -> Sentence:
    """The sentence of a text."""
    text = _MARKS.sub("", text)
    pieces: list[str] = []
    quotes: list[str] = []
    originals: list[str] = []
    behind = 0
    for start, end, quote in _spans(text):
        pieces += [text[behind:start], f"\ue000{len(quotes)}\ue001"]
        quotes.append(quote)
        originals.append(text[start:end])
        behind = end
    marked = "".join([*pieces, text[behind:]])
    return Sentence(" ".join(marked.split()), tuple(quotes), tuple(originals))


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each quoted text stands, with its quotation marks, and what it says. Looks at each character a few times at most."""
    unclosed: set[str] = set()
    behind = 0
    for opening in _OPENING.finditer(text):
        start, mark = opening.start(), opening[0]
        if start < behind or mark in unclosed:
            continue
        if mark == "'" and start > 0 and text[start - 1] not in _BEFORE_SINGLE:
            continue
        if mark == _FENCE:
            inside = text.find("\n", start) + 1
            end = text.find(_FENCE, inside) if inside else -1
        else:
            inside = start + 1
            end = text.find(_CLOSING[mark], inside)
            while mark == "'" and end >= 0 and text[end + 1 : end + 2] not in _AFTER_SINGLE:
                end = text.find(mark, end + 1)
        if end < 0:
            unclosed.add(mark)
        elif mark == _FENCE:
            behind = end + len(_FENCE)
            yield start, behind, text[inside:end].removesuffix("\n") + "\n"
        elif mark != "`" or "\n" not in text[start:end]:
            behind = end + 1
            yield start, behind, text[inside:end]
