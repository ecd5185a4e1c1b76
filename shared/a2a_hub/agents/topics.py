"""Finds the topic of a question by its clues: deterministic, so that a wrong choice is mended in the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from a2a_hub.agents.terms import needle, wording
from a2a_hub.text.language import Language

_NAMED = 8


@dataclass(frozen=True, slots=True)
class Clue:
    """Groups of terms that give a topic away when one term of each group stands in a question."""

    groups: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, text: str) -> Clue:
        """From its written form: "per diem", or groups joined by "+" whose terms are apart by "|": "when + paid|pay"."""
        return cls(tuple(tuple(map(needle, group.split("|"))) for group in text.split("+")))

    def length_in(self, words: str) -> int:
        """How many characters of a question, in the form of `terms.wording`, it explains; 0 when it is not there."""
        lengths = [max((len(term) for term in group if term in words), default=0) for group in self.groups]
        return sum(lengths) if all(lengths) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What gives one topic away. Among topics that match, the highest rank wins, then the longest clue."""

    topic: str
    rank: int
    clues: tuple[Clue, ...]

    @classmethod
    def of(cls, topic: str, *, rank: int, clues: Iterable[str]) -> Rule:
        """A rule from clues in their written form."""
        return cls(topic=topic, rank=rank, clues=tuple(map(Clue.parse, clues)))

    def strength(self, words: str) -> tuple[int, int] | None:
        """How strongly a question is about the topic, None when it is not."""
        longest = max((clue.length_in(words) for clue in self.clues), default=0)
        return (self.rank, longest) if longest else None


def topics_of(question: str, rules: Sequence[Rule]) -> list[str]:
    """The topics of the question, the strongest first; equally strong ones as in `rules`."""
    words = wording(question)
    found = [(strength, rule.topic) for rule in rules if (strength := rule.strength(words)) is not None]
    return [topic for _, topic in sorted(found, key=lambda each: each[0], reverse=True)]


def topic_of(question: str, rules: Sequence[Rule]) -> str | None:
    """The topic of the question, None when no rule matches; of equally strong ones the first in `rules`."""
    return next(iter(topics_of(question, rules)), None)


def some_titles(titles: Sequence[str], language: Language) -> str:
    """Some topics by name: enough to show what can be asked, few enough to be read."""
    named = titles[:_NAMED]
    return "、".join(named) + "など" if language is Language.JA else ", ".join(named) + " and more"
