"""From a question to the passages that may answer it, and to their units in order.

The rarest terms of the question find candidates; these are scored by all of its terms.
"""

import heapq
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from functions.docqa.model import Passage
from functions.docqa.retrieval.access import Asker, may_read
from functions.docqa.retrieval.index import RULES, load, marks, reading
from functions.docqa.retrieval.query import Group, groups_of
from functions.docqa.retrieval.scoring import FORMER, SYNONYM, Row, WeightedGroups, serves, weights_of
from functions.docqa.retrieval.terms import terms_of
from functions.docqa.retrieval.vectors import Vectors
from functions.docqa.search_results import RankedUnit

_CANDIDATES, _FEWEST = 300, 30
_POSTINGS, _SHARE_OF_POSTINGS = 20_000, 0.04
_RANKS = 60


@dataclass(frozen=True, slots=True)
class _Table:
    number: int
    passages: int


_Words = tuple[str, float, str]
"""A query for a word of the question, its weight, and a query for its synonyms."""


class Search:
    """The search for one question over an index as it is now, among what the asker may read."""

    def __init__(self, connection: sqlite3.Connection, question: str, asker: Asker) -> None:
        self._connection, self._question = connection, question
        rows = connection.execute("SELECT number, rules, passages FROM readers").fetchall()
        readers = ((_Table(number, passages), RULES.decode(rules)) for number, rules, passages in rows)
        self._tables = [table for table, rules in readers if may_read(rules, asker)]
        self._total = sum(table.passages for table in self._tables) or 1
        self._groups = groups_of(question)
        self._frequencies = self._counted(
            {term for each in self._groups for phrase in each.alternatives for term in phrase}
        )
        self._weights = weights_of(self._groups, self._frequencies, self._total)
        self._weighed = WeightedGroups(self._groups, self._weights)

    @classmethod
    @contextmanager
    def opened(cls, index_path: Path, question: str, *, asker: Asker) -> Iterator["Search"]:
        """Yield the search over an index, opened for one question only: opening takes half a millisecond, and no connection
        survives a fork.
        """
        with reading(index_path) as connection:
            yield cls(connection, question, asker)

    def find(self, *, limit: int = 30, vectors: Vectors | None = None) -> list[Passage]:
        """Return the best passages for the question, best first. Editions that are not in force score less, unless the question
        names them.
        """
        by_words = self._by_words(limit)
        tables = [table.number for table in self._tables]
        near = vectors.nearest(self._connection, self._question, tables) if vectors else []
        return _fused(by_words, self._in_order(near), limit)

    def _by_words(self, limit: int) -> list[Passage]:
        budget = _POSTINGS + int(self._total * _SHARE_OF_POSTINGS)
        chosen = _affordable(self._groups, self._weights, self._frequencies, budget)
        rows = [row for table in self._tables for row in self._rows(table, self._candidates(table, chosen))]
        average = sum(len(row.body) for row in rows) / (len(rows) or 1) or 1.0
        scored = sorted(((self._weighed.score(row, average), row.number) for row in rows), reverse=True)
        return self._in_order(scored[: 2 * limit])[:limit]

    def _in_order(self, scored: Sequence[tuple[float, int]]) -> list[Passage]:
        """Return the passages of these scores and numbers, the best first; those of former editions count half."""
        asked = frozenset(terms_of(self._question))
        found = [
            passage
            if serves(passage.edition, asked)
            else msgspec.structs.replace(passage, score=FORMER * passage.score)
            for passage in self._passages(scored)
        ]
        return sorted(found, key=lambda passage: -passage.score)

    def rank_units(self, passages: Sequence[Passage]) -> list[RankedUnit]:
        """Return the units of passages, ranked by how much of the question they cover."""
        return self._weighed.ranked(passages)

    def _counted(self, terms: Collection[str]) -> dict[str, int]:
        """Return the number of readable passages that have each term."""
        found = dict.fromkeys(terms, 0)
        for table in self._tables:
            query = f"SELECT term, doc FROM terms{table.number} WHERE term IN ({marks(terms)})"
            for term, passages in self._connection.execute(query, (*terms,)):
                found[term] += passages
        return found

    def _candidates(self, table: _Table, chosen: Sequence[_Words]) -> list[int]:
        """Return the passages of a table that have most of the words, by weight."""
        found: dict[int, float] = {}
        for words, weight, others in chosen:
            own = self._having(table, words)
            for number in own:
                found[number] = found.get(number, 0.0) + weight
            for number in set(self._having(table, others)).difference(own):
                found[number] = found.get(number, 0.0) + SYNONYM * weight
        return heapq.nlargest(max(_FEWEST, _CANDIDATES * table.passages // self._total), found, key=found.__getitem__)

    def _having(self, table: _Table, words: str) -> list[int]:
        query = f"SELECT rowid FROM words{table.number} WHERE words{table.number} MATCH ?"
        return [number for (number,) in self._connection.execute(query, (words,))] if words else []

    def _rows(self, table: _Table, numbers: Sequence[int]) -> list[Row]:
        query = f"SELECT rowid, title, section, body FROM words{table.number} WHERE rowid IN ({marks(numbers)})"
        rows = self._connection.execute(query, numbers)
        return [Row(number, title.split(), section.split(), body.split()) for number, title, section, body in rows]

    def _passages(self, scored: Sequence[tuple[float, int]]) -> list[Passage]:
        query = f"SELECT number, passage, standing FROM passages WHERE number IN ({marks(scored)})"
        rows = self._connection.execute(query, [number for _, number in scored])
        stored = {number: (blob, standing) for number, blob, standing in rows}
        return [load(*stored[number], score) for score, number in scored if number in stored]


def _affordable(
    groups: Sequence[Group], weights: Sequence[float], frequencies: Mapping[str, int], budget: int
) -> list[_Words]:
    """Return the words of a question and their synonyms, the rarest first, that about `budget` passages have in all."""
    found: defaultdict[int, list[list[str]]] = defaultdict(lambda: [[], []])
    phrases = (
        (min(frequencies[term] for term in phrase), number, phrase)
        for number, group in enumerate(groups)
        for phrase in group.alternatives
        if phrase
    )
    for frequency, number, phrase in sorted(phrases):
        if frequency and (frequency <= budget or not found):
            budget -= frequency
            quoted = "(" + " AND ".join(f'"{term}"' for term in phrase) + ")"
            found[number][phrase != groups[number].own].append(quoted)
    return [(" OR ".join(own), weights[number], " OR ".join(others)) for number, (own, others) in found.items()]


def _fused(by_words: Sequence[Passage], by_vector: Sequence[Passage], limit: int) -> list[Passage]:
    """Return passages by reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009).

    Those that words find keep their score; to one that only its vector finds, its rank gives a share of the best score.
    """
    if not by_vector:
        return list(by_words)
    ranks: defaultdict[str, float] = defaultdict(float)
    for found in (by_words, by_vector):
        for rank, passage in enumerate(found, start=1):
            ranks[passage.id] += 1 / (_RANKS + rank)
    share = (by_words[0].score if by_words else 1.0) / max(ranks.values())
    fused = {each.id: msgspec.structs.replace(each, score=share * ranks[each.id]) for each in by_vector}
    fused |= {each.id: each for each in by_words}
    return sorted(fused.values(), key=lambda each: -ranks[each.id])[:limit]
