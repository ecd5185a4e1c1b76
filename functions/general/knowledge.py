"""The almanac's facts, one by one or in tables, with the only questions that they answer: every word has to be explained.

"The height of Mount Fuji" is answered, "the height of Mount Fuji's crater" is not: nothing explains "crater".
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from a2a_hub.agents.knowledge import read_folder, search_term
from a2a_hub.text.language import Language

Terms = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One way to ask: a term of each group in `needed` is required, `aside` and `fillers` are optional.

    All are in the form of `search_term`.
    """

    needed: tuple[tuple[str, ...], ...]
    aside: tuple[str, ...]
    fillers: frozenset[str]

    def strength(self, words: str, *, before: str = "") -> int:
        """Return the strength of the match with a `searchable` question; 0 if it is another question.

        Required terms may stand in the question `before`, but not all of them.
        """
        found = [[term for term in group if term in words or term in before] for group in self.needed]
        terms = [term for group in found for term in group]
        if not all(found) or not any(term in words for term in terms):
            return 0
        if not _covers((*terms, *self.aside, *self.fillers), words):
            return 0
        return sum(max(map(len, group)) for group in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact in both languages, with its questions."""

    id: str
    questions: tuple[Question, ...]
    en: str
    ja: str

    def strength(self, words: str, *, before: str = "") -> int:
        """Return the strength of the best matching question; 0 if none matches."""
        return max(question.strength(words, before=before) for question in self.questions)

    def touches(self, words: str) -> bool:
        """Return True if a `searchable` question has the terms of one that this fact answers, whatever else it says."""
        return any(all(any(term in words for term in group) for group in each.needed) for each in self.questions)

    def text(self, language: Language) -> str:
        """Return the fact in one of the languages."""
        return self.ja if language is Language.JA else self.en


def _covers(terms: Iterable[str], words: str) -> bool:
    left = set(range(len(words)))
    for term in terms:
        start = words.find(term)
        while start >= 0:
            left.difference_update(range(start, start + len(term)))
            start = words.find(term, start + 1)
    return all(words[position] == " " for position in left)


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fact. A question is a list of groups of terms: "river|川", "$longest|最長の"."""

    id: str
    asks: tuple[Terms, ...]
    may: Terms = ()
    en: str
    ja: str


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Facts of one kind. A row is subject, subject in Japanese, value, value in Japanese, each "name|alias".

    `ask` and `reverse` are questions as in an Entry, with "$subject" and "$value" for the row's own names.
    """

    id: str
    ask: Terms
    reverse: Terms = ()
    may: Terms = ()
    en: str
    ja: str
    rows: tuple[tuple[str, str, str, str], ...]


class File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of the almanac. `fillers` are words without meaning for the question."""

    groups: dict[str, str] = {}
    fillers: Terms = ()
    facts: tuple[Entry, ...] = ()
    tables: tuple[Table, ...] = ()


def load(folder: Path) -> tuple[Fact, ...]:
    """Return the facts of all TOML files in a folder. Raises ValueError or KeyError if a file has errors."""
    files = read_folder(folder, File)
    groups = {name: terms for file in files for name, terms in file.groups.items()}
    fillers = frozenset(search_term(term) for file in files for term in file.fillers)
    facts = [fact for file in files for fact in _facts(file, groups, fillers)]
    return tuple(facts)


def _facts(file: File, groups: Mapping[str, str], fillers: frozenset[str]) -> Iterator[Fact]:
    for entry in file.facts:
        yield Fact(
            id=entry.id,
            questions=tuple(_question(ask, entry.may, groups, fillers) for ask in entry.asks),
            en=entry.en.strip(),
            ja=entry.ja.strip(),
        )
    for table in file.tables:
        for subject_en, subject_ja, value_en, value_ja in table.rows:
            own = {**groups, "subject": f"{subject_en}|{subject_ja}", "value": f"{value_en}|{value_ja}"}
            asks = [ask for ask in (table.ask, table.reverse) if ask]
            may = (*table.may, "$value") if table.reverse else table.may
            name = _first(subject_en)
            yield Fact(
                id=f"{table.id}:{name}",
                questions=tuple(_question(ask, may, own, fillers) for ask in asks),
                en=_sentence(table.en.format(subject=name, value=_first(value_en))),
                ja=table.ja.format(subject=_first(subject_ja), value=_first(value_ja)),
            )


def _question(ask: Terms, may: Terms, groups: Mapping[str, str], fillers: frozenset[str]) -> Question:
    needed = tuple(_search_terms(group, groups) for group in ask)
    aside = [term for group in may for term in _search_terms(group, groups)]
    return Question(needed=needed, aside=tuple(aside), fillers=fillers)


def _search_terms(group: str, groups: Mapping[str, str]) -> tuple[str, ...]:
    search_terms: list[str] = []
    for term in filter(None, group.split("|")):
        search_terms.extend(_search_terms(groups[term[1:]], groups) if term.startswith("$") else [search_term(term)])
    return tuple(search_terms)


def _first(names: str) -> str:
    return names.split("|", 1)[0]


def _sentence(text: str) -> str:
    # "Washington, D.C." brings its own full stop.
    return text[:1].upper() + text[1:].replace("..", ".")
