"""A text with what it quotes taken out: a pattern for a sentence then meets the sentence alone, and nothing quoted is changed."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

QUOTED = "\ue000[0-9]+\ue001"
"""Matches what stands for a quoted text in the sentence."""

_FENCE = r"```[^\n`]*\n(?P<fenced>.*?)\n?```"
_PAIRS = (
    r"“(?P<a>[^”]*)”|‘(?P<b>[^’]*)’|「(?P<c>[^」]*)」|『(?P<d>[^』]*)』|`(?P<e>[^`\n]*)`|\"(?P<f>[^\"]*)\""
)
# An apostrophe inside a word opens nothing.
_SINGLE = r"(?<![^\s(,:])'(?P<g>[^']*)'(?![^\s),.:;!?])"
# Where everything is; people say it so that somebody else sends their words here.
_PLACE = re.compile(
    r"^in (?:the|my|this|our) workspace[,:]? |,? (?:in|inside|of|from) (?:the|my|this|our) workspace(?=$|[ .,!?])"
    r"|ワークスペース(?:内|の中)?(?:の|にある|で|に|から)[、,]? ?",
    re.IGNORECASE,
)
_ALL = re.compile(f"{_FENCE}|{_PAIRS}|{_SINGLE}", re.DOTALL)
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
    quotes: list[str] = []
    originals: list[str] = []

    def mark(found: re.Match[str]) -> str:
        fenced = found["fenced"]
        quotes.append(f"{fenced}\n" if fenced else next((each for each in found.groups() if each), ""))
        originals.append(found[0])
        return f"\ue000{len(quotes) - 1}\ue001"

    marked = _ALL.sub(mark, _MARKS.sub("", text))
    return Sentence(" ".join(marked.split()), tuple(quotes), tuple(originals))
