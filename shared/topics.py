"""Finds the topic of a question by its clues: deterministic, and each choice can be told by the words that made it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shared.terms import needle, wording


@dataclass(frozen=True, slots=True)
class Clue:
    """Terms that give a topic away when all of them stand in a question."""

    needles: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Clue:
        """From its written form: one term ("per diem"), or several joined by "+" ("when + paid")."""
        return cls(tuple(needle(term) for term in text.split("+")))

    def stands_in(self, words: str) -> bool:
        """Whether a question in the form of `shared.terms.wording` has all the terms."""
        return all(needle_ in words for needle_ in self.needles)

    @property
    def length(self) -> int:
        """Longer clues say more."""
        return sum(len(needle_) for needle_ in self.needles)


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
        longest = max((clue.length for clue in self.clues if clue.stands_in(words)), default=None)
        return None if longest is None else (self.rank, longest)


def topic_of(question: str, rules: Sequence[Rule]) -> str | None:
    """The topic of the question, None when no rule matches; of equally strong ones the first in `rules`."""
    words = wording(question)
    found = [(strength, rule.topic) for rule in rules if (strength := rule.strength(words)) is not None]
    return max(found, key=lambda strength_and_topic: strength_and_topic[0])[1] if found else None
