"""Evidence: the numbered quotes that an answer's sentences rest on, with the context that governs them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Evidence:
    """A numbered quote; `context` (title, headings, table header, introduction) governs its text."""

    number: int
    text: str
    context: tuple[str, ...] = ()
    source: str = ""
    in_force: bool = True


@dataclass(frozen=True)
class Sentence:
    """One sentence of an answer and the numbers of the evidence that it cites."""

    text: str
    cites: tuple[int, ...]
