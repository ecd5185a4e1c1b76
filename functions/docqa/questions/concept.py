"""What a question speaks of, and how much each thing matters."""

from enum import StrEnum

from msgspec import Struct


class Role(StrEnum):
    """How much it says when a concept of the question is not in a source."""

    NOUN = "noun"
    ACTION = "action"
    ATTRIBUTE = "attribute"
    LIGHT = "light"


class Concept(Struct, frozen=True):
    """One thing a question speaks of, with every way to say it.

    `own` are the question's own forms, `words` and `texts` their alternatives (`View.words`, `View.text`), `broader`
    words for more than it (laptop → device), `vital` an act that makes the case ("if solvent is spilled"), `parts` the
    words of a phrase or the halves of an unknown Japanese compound (`loose` when one of them may be missing). `modifies`
    is the index of the concept this one narrows down (legal → team), `sought` what the question asks which one it
    is, `proper` a name, `aside` what is told beside the question,
    `alone` an act that is done to nothing, and may it be done.
    """

    surface: str
    role: Role
    own: tuple[str, ...]
    words: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    loose: bool = False
    kinds: frozenset[str] = frozenset()
    known: bool = False
    modifies: int | None = None
    vital: bool = False
    sought: bool = False
    proper: bool = False
    aside: bool = False
    alone: bool = False
