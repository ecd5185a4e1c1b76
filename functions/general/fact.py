"""A fact, and the only questions it answers: those in which every word is accounted for.

"The height of Mount Fuji" is answered, "the height of Mount Fuji's crater" is not: nothing explains "crater".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One way to ask: a term of each group in `needed` has to be there, `aside` and `fillers` may be.

    All of them are needles of `a2a_hub.agents.terms`.
    """

    needed: tuple[tuple[str, ...], ...]
    aside: tuple[str, ...]
    fillers: frozenset[str]

    def strength(self, words: str, *, before: str = "") -> int:
        """How much of a question in the form of `a2a_hub.agents.terms.wording` this is; 0 when it is another one.

        What stands in the question `before` need not be said again, but something has to be said.
        """
        found = [[needle for needle in group if needle in words or needle in before] for group in self.needed]
        terms = [needle for group in found for needle in group]
        if not all(found) or not any(needle in words for needle in terms):
            return 0
        if not _covers((*terms, *self.aside, *self.fillers), words):
            return 0
        return sum(max(map(len, group)) for group in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact, in the words in which it is told."""

    id: str
    questions: tuple[Question, ...]
    en: str
    ja: str

    def strength(self, words: str, *, before: str = "") -> int:
        """How well this fact answers a question, with what stands in the question `before`; 0 when it does not."""
        return max(question.strength(words, before=before) for question in self.questions)


def _covers(needles: Iterable[str], words: str) -> bool:
    left = set(range(len(words)))
    for needle in needles:
        start = words.find(needle)
        while start >= 0:
            left.difference_update(range(start, start + len(needle)))
            start = words.find(needle, start + 1)
    return all(words[position] == " " for position in left)
