"""Question to passages: BM25 over the concepts and their synonyms, those that name the question's entities first."""

import json
import math
import re
import sqlite3

import msgspec

from functions.docqa.model import Document, Passage, UnitKind, words_of_path
from functions.docqa.questions.concept import Concept, Role
from functions.docqa.questions.question import Question
from functions.docqa.search.adaptation import Vocabulary
from functions.docqa.search.index import load
from functions.docqa.vocabulary.words import View, bigrams, view

PASSAGES, FIRST_PASSAGES, LARGE = 40, 12, 1_000
# So many that those that say one part of a question may crowd out those that say all of it.
MANY = 10 * PASSAGES
_COMMON_SHARE = 0.2
_KANJI = re.compile(r"[\u3400-\u9fff々]$")
_RANKED = """
SELECT p.passage, p.standing, -found.rank FROM (
    SELECT rowid, rank FROM words WHERE words MATCH ? AND rank MATCH 'bm25(2.0, 3.0, 1.0)' ORDER BY rank LIMIT ?
) found JOIN passages p ON p.number = found.rowid ORDER BY found.rank
"""
_RANKED_WITHIN = """
SELECT p.passage, p.standing, -bm25(words, 2.0, 3.0, 1.0) FROM words JOIN passages p ON p.number = words.rowid
WHERE words MATCH ? AND p.path IN (SELECT value FROM json_each(?)) ORDER BY bm25(words, 2.0, 3.0, 1.0) LIMIT ?
"""
_NAMING = """
SELECT DISTINCT f.uri FROM words JOIN passages p ON p.number = words.rowid JOIN files f ON f.path = p.path WHERE words MATCH ?
"""
_OF_DOCUMENT = """
SELECT p.passage, p.standing FROM passages p JOIN files f ON f.path = p.path WHERE f.uri = ? ORDER BY p.number LIMIT 40
"""
_FIRST_OF_DOCUMENT = _OF_DOCUMENT.replace("LIMIT 40", "LIMIT 1")
_OPENING_UNITS = 3


class Corpus:
    """The searchable side of an index, on one connection, for one question at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._total: int = connection.execute("SELECT count(*) FROM passages").fetchone()[0]
        self._frequencies: dict[str, int] = {}
        self._documents: dict[str, View] | None = None
        self._vocabulary: Vocabulary | None = None
        self._openings: dict[str, str] = {}

    def adapted(self, question: Question) -> Question:
        """`question` in the words of this corpus."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self.connection, self._frequency)
        return self._vocabulary.adapted(question)

    def rarity(self, concept: Concept) -> float:
        """From 0.25 (in nearly every passage) to 1 (in none, or hardly any)."""
        frequency = max((self._frequency(text) for text in _forms(concept)), default=0)
        scale = math.log(self._total + 1) or 1.0
        return min(1.0, max(0.25, math.log((self._total + 1) / (frequency + 0.5)) / scale))

    def search(self, question: Question, *, first: bool = False) -> list[Passage]:
        """Some `PASSAGES` passages, best first; of a large corpus only those that lead, when the `first` will do.

        Empty when no word of the question is in the corpus.
        """
        limit = FIRST_PASSAGES if first and self._total > LARGE else PASSAGES
        found: dict[str, Passage] = {}
        terms = self._terms(question)
        if not terms:
            return []
        anything = " OR ".join(terms)
        within = (json.dumps(sorted(question.sources)),) if question.sources else ()
        statement = _RANKED_WITHIN if within else _RANKED
        queries = [f"({required}) AND ({anything})" for required in _required(question)]
        if self._total > MANY and (everything := self._everything(question)):
            queries.append(f"({everything}) AND ({anything})")
        for query in [*queries, anything]:
            for blob, standing, score in self.connection.execute(statement, (query, *within, limit)):
                passage = load(blob, standing, score)
                found.setdefault(passage.id, passage)
            if len(found) >= limit:
                break
        return self._naming(question, list(found.values())[: limit * 2])

    def _naming(self, question: Question, passages: list[Passage]) -> list[Passage]:
        """Of a small corpus only the passages whose documents name, somewhere, the names that the question gives.

        There a name is too frequent to tell passages apart, and yet not everything is about its bearer.
        """
        for concept in question.concepts:
            if concept.proper and not concept.aside and self._total <= LARGE and self._frequency(concept.own[0]):
                query = " OR ".join(map(_match, _forms(concept)))
                named = {uri for (uri,) in self.connection.execute(_NAMING, (query,))}
                passages = [passage for passage in passages if passage.uri in named]
        return passages

    def documents(self) -> dict[str, View]:
        """Path → what the document is called, by its title and its path."""
        if self._documents is None:
            rows = self.connection.execute("SELECT path, document FROM files WHERE document IS NOT NULL")
            documents = [(path, msgspec.msgpack.decode(blob, type=Document)) for path, blob in rows]
            self._documents = {
                path: view(f"{document.title} {words_of_path(document.uri)}") for path, document in documents
            }
        return self._documents

    def beside(self, passage: Passage) -> list[Passage]:
        """The passages of the document that `passage` is from, in their order."""
        rows = self.connection.execute(_OF_DOCUMENT, (passage.uri,))
        return [load(blob, standing, 0.0) for blob, standing in rows]

    def opening(self, passage: Passage) -> str:
        """The first sentences of the document that `passage` is from, when they stand before its sections."""
        if passage.uri not in self._openings:
            row = self.connection.execute(_FIRST_OF_DOCUMENT, (passage.uri,)).fetchone()
            first = load(row[0], row[1], 0.0) if row else None
            before = first is not None and len(first.section) <= 1
            units = first.units[:_OPENING_UNITS] if first and before else ()
            self._openings[passage.uri] = " ".join(unit.text for unit in units if unit.kind is UnitKind.SENTENCE)
        return self._openings[passage.uri]

    def _terms(self, question: Question) -> list[str]:
        weighed: list[tuple[bool, str]] = []
        for concept in question.concepts:
            for text in _forms(concept):
                frequency = self._frequency(text)
                if frequency:
                    common = frequency > max(50, self._total * _COMMON_SHARE) or concept.role is Role.LIGHT
                    weighed.append((common, _match(text)))
        rare = [term for common, term in weighed if not common]
        return list(dict.fromkeys(rare if len(rare) > 1 else [term for _, term in weighed]))

    def _everything(self, question: Question) -> str:
        """Each thing that the question speaks of, said in one way or another; "" when one of them is nowhere.

        Where it speaks of none, each act that is known.
        """
        acts = [
            concept
            for concept in question.concepts
            if concept.role is Role.ACTION and concept.known and not concept.kinds
        ]
        things = [concept for concept in question.concepts if concept.role is Role.NOUN] or acts
        said = [[_match(text) for text in _forms(concept) if self._frequency(text)] for concept in things]
        return " AND ".join(f"({' OR '.join(forms)})" for forms in said) if said and all(said) else ""

    def _frequency(self, text: str) -> int:
        known = self._frequencies.get(text)
        if known is None:
            known = min((self._token_frequency(token) for token in _index_tokens(text)), default=0)
            self._frequencies[text] = known
        return known

    def _token_frequency(self, token: str) -> int:
        if len(token) == 1 and _KANJI.match(token):
            query = "SELECT coalesce(max(doc), 0) FROM vocabulary WHERE term >= ? AND term < ?"
            row = self.connection.execute(query, (token, chr(ord(token) + 1))).fetchone()
        else:
            row = self.connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (token,)).fetchone()
        return int(row[0]) if row else 0


def _forms(concept: Concept) -> list[str]:
    return list(dict.fromkeys((*concept.own, *concept.words, *concept.texts, *concept.broader, *concept.parts)))


def _index_tokens(text: str) -> list[str]:
    if text[0] == " ":
        return text.split()
    return bigrams(text) or [text]


def _match(text: str) -> str:
    if text[0] != " " and len(text) == 1:
        return f'"{text}"*'
    return f'"{" ".join(_index_tokens(text))}"'


def _required(question: Question) -> list[str]:
    """One condition for the entities that are codes, such as P-1; the search is first narrowed down to it."""
    codes = [concept.own[0] for concept in question.concepts if re.fullmatch(r" [a-z]+\d+[a-z]? ", concept.own[0])]
    return [" AND ".join(_match(code) for code in codes)] if codes else []
