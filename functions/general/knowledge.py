"""The almanac's files: facts one by one or in tables, and the words that questions are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from a2a_hub.agents.terms import needle
from a2a_hub.agents.toml_folder import read_folder
from functions.general.fact import Fact, Question

Terms = tuple[str, ...]


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
    """One file of the almanac. `fillers` are the words that say nothing of what is asked."""

    groups: dict[str, str] = {}
    fillers: Terms = ()
    facts: tuple[Entry, ...] = ()
    tables: tuple[Table, ...] = ()


def load(folder: Path) -> tuple[Fact, ...]:
    """The facts in all TOML files of a folder. Raises ValueError or KeyError when a file is wrong."""
    files = read_folder(folder, File)
    groups = {name: terms for file in files for name, terms in file.groups.items()}
    fillers = frozenset(needle(term) for file in files for term in file.fillers)
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
    needed = tuple(_needles(group, groups) for group in ask)
    aside = [needle_ for group in may for needle_ in _needles(group, groups)]
    return Question(needed=needed, aside=tuple(aside), fillers=fillers)


def _needles(group: str, groups: Mapping[str, str]) -> tuple[str, ...]:
    needles: list[str] = []
    for term in filter(None, group.split("|")):
        needles.extend(_needles(groups[term[1:]], groups) if term.startswith("$") else [needle(term)])
    return tuple(needles)


def _first(names: str) -> str:
    return names.split("|", 1)[0]


def _sentence(text: str) -> str:
    # "Washington, D.C." brings its own full stop.
    return text[:1].upper() + text[1:].replace("..", ".")
