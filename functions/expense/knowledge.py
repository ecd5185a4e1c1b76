"""The expense policy as data: one entry per topic."""

from pathlib import Path

import msgspec

from a2a_hub.agents.knowledge import read_folder

Fact = str | int | float | bool


class Topic(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry. `facts` are the figures of the answer, for programs."""

    id: str
    rank: int
    clues: tuple[str, ...]
    title_en: str
    title_ja: str
    answer_en: str
    answer_ja: str
    facts: dict[str, Fact]


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All entries, and the terms of questions about expenses that no entry answers."""

    about_expenses: tuple[str, ...] = ()
    topics: tuple[Topic, ...] = ()


def load(folder: Path) -> Policy:
    """Return the policy in the TOML files of a folder. Raises ValueError if an entry is incomplete."""
    files = read_folder(folder, Policy)
    return Policy(
        about_expenses=tuple(term for file in files for term in file.about_expenses),
        topics=tuple(topic for file in files for topic in file.topics),
    )
