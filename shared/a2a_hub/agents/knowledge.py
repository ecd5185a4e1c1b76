"""An agent's knowledge: TOML files in a folder of its own, and the topic of a question by the terms in it.

English terms match as whole words in either number, Japanese ones anywhere. The match is deterministic: a wrong choice is fixed
in the data.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from a2a_hub.text.language import Language
from a2a_hub.text.normalization import normalise
from a2a_hub.toml.document import parse

T = TypeVar("T")
_MAX_TITLES = 8
_JAPANESE = "\u3005\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u9fff"
_TOKEN = re.compile(rf"[{_JAPANESE}]+|[a-z0-9]+(?:[.,][0-9]+)*[+#]*|[^\W{_JAPANESE}]+")
_IS_JAPANESE = re.compile(rf"[{_JAPANESE}]")
_ACCENTED = re.compile("[\u00c0-\u024f]")
# One form for "what's" and "what", "Fuji's" and "Fuji".
_POSSESSIVE = re.compile(r"['\u2019](?:s\b|re\b)")
_APOSTROPHE = re.compile(r"['\u2019]")


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One text in both languages."""

    en: str
    ja: str

    def in_(self, language: Language) -> str:
        """Return the text in one of them."""
        return self.ja if language is Language.JA else self.en


def read_folder(folder: Path, kind: type[T]) -> list[T]:
    """Return each file as a `kind`, in the order of their names. Raises ValueError with the file and the place of an error."""
    return [_read(path, kind) for path in sorted(folder.glob("*.toml"))]


def _read(path: Path, kind: type[T]) -> T:
    try:
        return msgspec.convert(parse(path.read_text("utf-8")), kind)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def searchable(text: str) -> str:
    """Return the words of `text` with a blank on each side: without punctuation, accents, case and plural.

    A run of Japanese is one word, without blanks and points within it.
    """
    text = _APOSTROPHE.sub("", _POSSESSIVE.sub("", normalise(text)))
    text = _ACCENTED.sub(lambda match: unicodedata.normalize("NFD", match[0])[0], text)
    words: list[str] = []
    joins = False
    for token in _TOKEN.findall(text):
        japanese = bool(_IS_JAPANESE.match(token))
        if japanese and joins:
            words[-1] += token
        else:
            words.append(token if japanese else _singular(token))
        joins = japanese
    return f" {' '.join(words)} "


def search_term(term: str) -> str:
    """Return the form to look for in a `searchable` text: "タクシー代" anywhere, " per diem " only as whole words."""
    words = searchable(term)
    left = "" if _IS_JAPANESE.match(words[1:2]) else " "
    right = "" if _IS_JAPANESE.match(words[-2:-1]) else " "
    return f"{left}{words.strip()}{right}"


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


@dataclass(frozen=True, slots=True)
class Clue:
    """Groups of terms; a question with one term of each group is about the topic."""

    groups: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, text: str) -> Clue:
        """Parse its written form: "per diem", or groups joined by "+" with terms separated by "|": "when + paid|pay"."""
        return cls(tuple(tuple(map(search_term, group.split("|"))) for group in text.split("+")))

    def match_length(self, words: str) -> int:
        """Return the number of characters that the clue matches in a `searchable` question; 0 if it does not match."""
        lengths = [max((len(term) for term in group if term in words), default=0) for group in self.groups]
        return sum(lengths) if all(lengths) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The clues of one topic. Of several matching topics the highest rank wins, then the longest clue."""

    topic: str
    rank: int
    clues: tuple[Clue, ...]

    @classmethod
    def of(cls, topic: str, *, rank: int, clues: Iterable[str]) -> Rule:
        """Return a rule from clues in their written form."""
        return cls(topic=topic, rank=rank, clues=tuple(map(Clue.parse, clues)))

    def strength(self, words: str) -> tuple[int, int] | None:
        """Return the rank and the length of the longest matching clue; None if none matches."""
        longest = max((clue.match_length(words) for clue in self.clues), default=0)
        return (self.rank, longest) if longest else None


def topics_of(question: str, rules: Sequence[Rule]) -> list[str]:
    """Return the topics of the question, the strongest first; equally strong ones in the order of `rules`."""
    words = searchable(question)
    found = [(strength, rule.topic) for rule in rules if (strength := rule.strength(words)) is not None]
    return [topic for _, topic in sorted(found, key=lambda each: each[0], reverse=True)]


def topic_of(question: str, rules: Sequence[Rule]) -> str | None:
    """Return the strongest topic of the question; None if no rule matches."""
    return next(iter(topics_of(question, rules)), None)


def some_titles(titles: Sequence[Wording], language: Language) -> str:
    """Return the first few titles as one text: an overview that is short enough to be read."""
    named = [title.in_(language) for title in titles[:_MAX_TITLES]]
    return "、".join(named) + "など" if language is Language.JA else ", ".join(named) + " and more"
