"""The seam between the agent and what knows the answers: the bundled almanac, or a language model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from shared.a2a.reply import Piece
from shared.language import Language


class Model(Protocol):
    """Something that answers general questions. Thread-safe; one per process."""

    def answer(self, question: str, *, language: Language, context_id: str | None) -> Iterator[Piece]:
        """Yields the answer to a question that is not empty, its text piece by piece as it becomes known.

        The answer is in `language`. Questions with the same `context_id` belong to one conversation.
        """
        ...
