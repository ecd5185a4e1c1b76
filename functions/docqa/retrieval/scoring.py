"""The score of passages and units for a question: BM25 with a group of synonyms as one term."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from functions.docqa.model import Edition, Passage, Standing, Unit, words_of_path
from functions.docqa.retrieval.query import Group
from functions.docqa.retrieval.terms import terms_of
from functions.docqa.search_results import RankedUnit

_K1, _B = 1.2, 0.5
_TITLE, _SECTION = 1.5, 2.0
SYNONYM = 0.6
FORMER = 0.5
_GOVERNING, _PASSAGE = 0.5, 0.3
_EDITIONS = frozenset(terms_of("version edition revision 版"))
_DRAFTS = ("draft", "素案", "草案", "改正案", "改定案", "改訂案", "ドラフト")


@dataclass(frozen=True, slots=True)
class Row:
    """A passage as the terms of its title, its headings and its text."""

    number: int
    title: Sequence[str]
    section: Sequence[str]
    body: Sequence[str]


class WeightedGroups:
    """The groups of a question, each with its weight."""

    def __init__(self, groups: Sequence[Group], weights: Sequence[float]) -> None:
        self._weights = weights
        own = (weight for group, weight in zip(groups, weights, strict=True) if not group.is_translated)
        self._total = sum(own) or 1.0
        of_term: defaultdict[str, list[tuple[int, float, tuple[str, ...]]]] = defaultdict(list)
        for number, group in enumerate(groups):
            for phrase in group.alternatives:
                for term in phrase:
                    of_term[term].append((number, 1.0 if phrase is group.own else SYNONYM, phrase))
        self._of_term, self._terms = dict(of_term), frozenset(of_term)

    def score(self, row: Row, average: float) -> float:
        """Return BM25 of a passage, among others of an `average` length."""
        counts: dict[str, float] = {term: row.body.count(term) for term in self._terms.intersection(row.body)}
        for term in self._terms.intersection(row.section):
            counts[term] = counts.get(term, 0.0) + _SECTION * row.section.count(term)
        for term in self._terms.intersection(row.title):
            counts[term] = counts.get(term, 0.0) + _TITLE
        norm = _K1 * (1 - _B + _B * len(row.body) / average)
        return sum(
            self._weights[group] * count * (_K1 + 1) / (count + norm) for group, count in self._said(counts).items()
        )

    def ranked(self, passages: Sequence[Passage]) -> list[RankedUnit]:
        """Return the units by how much of the groups they cover. A unit's context counts half, and its passage's score a
        little.
        """
        found: list[RankedUnit] = []
        best = max((passage.score for passage in passages), default=1.0) or 1.0
        for passage in passages:
            above = terms_of(" ".join((passage.title, words_of_path(passage.uri), *passage.section)))
            lift = _PASSAGE * self._total * passage.score / best
            governing: dict[tuple[str, ...], Mapping[int, float]] = {}
            for unit in passage.units:
                around = (unit.header, *unit.context)
                if around not in governing:
                    governing[around] = self._share(terms_of(" ".join(around)) + above)
                found.append(self._unit(passage, unit, governing[around], lift))
        return sorted(found, key=lambda each: -each.score)

    def _unit(self, passage: Passage, unit: Unit, under: Mapping[int, float], lift: float) -> RankedUnit:
        weights, total = self._weights, self._total
        said = self._share(terms_of(unit.text))
        own = sum(weights[group] * share for group, share in said.items())
        governing = sum(weights[group] * share for group, share in under.items() if group not in said)
        score = own + _GOVERNING * governing + lift
        return RankedUnit(passage, unit, score, own=own / total, governing=governing / total)

    def _share(self, terms: Sequence[str]) -> dict[int, float]:
        """Return for each group how far the terms cover it, at most 1."""
        said = self._said({term: terms.count(term) for term in self._terms.intersection(terms)})
        return {group: min(1.0, count) for group, count in said.items()}

    def _said(self, counts: Mapping[str, float]) -> dict[int, float]:
        """Return how often each group occurs; a synonym counts less than the word itself."""
        said: dict[int, float] = {}
        for term, count in counts.items():
            for group, worth, phrase in self._of_term[term]:
                each = count if len(phrase) == 1 else min(counts.get(other, 0.0) for other in phrase)
                if worth * each > said.get(group, 0.0):
                    said[group] = worth * each
        return said


def serves(edition: Edition, asked: frozenset[str]) -> bool:
    """Return True for an edition that is in force, or that the terms of a question name; for a draft, if they ask for one."""
    if edition.standing.is_valid or any(_names(asked, label) for label in edition.labels):
        return True
    return edition.standing is Standing.DRAFT and any(asked.issuperset(terms_of(word)) for word in _DRAFTS)


def _names(asked: frozenset[str], label: str) -> bool:
    """Return whether a question's terms name a year, or a version as "v4", "edition 4" or 第4版."""
    if label.isdigit():
        return not asked.isdisjoint(terms_of(label))
    numbered = not asked.isdisjoint(_EDITIONS) and asked.issuperset(terms_of(label[1:]))
    return numbered or asked.issuperset(terms_of(label))


def weights_of(groups: Sequence[Group], frequencies: Mapping[str, int], total: int) -> list[float]:
    """Return the weight of each group in a corpus of `total` passages: rare things say more of what is asked for."""
    weights = []
    for group in groups:
        own = min((frequencies[term] for term in group.own), default=0)
        known = own or max((min(frequencies[term] for term in each) for each in group.alternatives if each), default=0)
        weights.append(group.weight * math.log(1 + (total - known + 0.5) / (known + 0.5)) if known else 0.0)
    return weights
