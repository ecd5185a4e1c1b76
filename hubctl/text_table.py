"""Texts on a terminal: rows whose columns line up, although Japanese characters are two cells wide, and counted things."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def row(texts: Sequence[str], widths: Sequence[int]) -> str:
    """One line; every text is cut or filled to its width."""
    return "  ".join(_fitted(text, width) for text, width in zip(texts, widths, strict=True)).rstrip()


def cells(text: str) -> int:
    """How many terminal cells a text takes."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def counted(number: int, thing: str) -> str:
    """The number and the thing: "1 agent", "2 agents"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _fitted(text: str, width: int) -> str:
    """`text` on one line, cut or filled to `width` terminal cells."""
    flat = " ".join(text.split())
    if cells(flat) > width:
        while cells(flat) > width - 1:
            flat = flat[:-1]
        flat += "…"
    return flat + " " * (width - cells(flat))
