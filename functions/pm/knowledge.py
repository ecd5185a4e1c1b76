"""Project management practices as data, each with its tasks."""

from pathlib import Path

import msgspec

from a2a_hub.agents.knowledge import read_folder
from a2a_hub.text.language import Language


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One text in both languages."""

    en: str
    ja: str

    def in_(self, language: Language) -> str:
        """Return the text in one of them."""
        return self.ja if language is Language.JA else self.en


class Task(Wording, frozen=True, forbid_unknown_fields=True):
    """One thing to do, written "title | description"."""

    def __post_init__(self) -> None:
        for text in (self.en, self.ja):
            if text.count(" | ") != 1:
                raise ValueError(f"{text!r} is not written as: title | description")

    def title(self, language: Language) -> str:
        """Return the task in a few words."""
        return self.in_(language).split(" | ")[0]

    def description(self, language: Language) -> str:
        """Return the description in a sentence."""
        return self.in_(language).split(" | ")[1]


class Topic(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A practice. `items` names its tasks: "tasks for creating a WBS"; the first ones matter most."""

    id: str
    rank: int
    clues: tuple[str, ...]
    title: Wording
    about: Wording
    items: Wording
    tasks: tuple[Task, ...]


class Practices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All topics."""

    topics: tuple[Topic, ...]


def load(folder: Path) -> Practices:
    """Return the practices in the TOML files of a folder. Raises ValueError if an entry is incomplete."""
    return Practices(topics=tuple(topic for file in read_folder(folder, Practices) for topic in file.topics))
