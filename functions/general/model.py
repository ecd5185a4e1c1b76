"""The seam between the agent and what knows the answers: the bundled almanac, or a language model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.reply import Piece
from a2a_hub.text.language import Language


class Model(Protocol):
    """Something that answers general questions. Thread-safe; one per process."""

    def answer(self, question: str, *, language: Language, call: Call) -> Iterator[Piece]:
        """Yields the answer to a question that is not empty, its text piece by piece as it becomes known.

        The answer is in `language`, and each question is answered by itself. `call.record` tells the operator how it went.
        """
        ...
