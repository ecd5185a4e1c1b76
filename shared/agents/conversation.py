"""Lets an agent that answers one question at a time take up the question before: "and abroad?", 「じゃあ海外は？」.

Kept in this instance's memory and bounded: where it is lost, a follow-up is answered by what it says itself.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator

from msgspec import structs

from shared.a2a.call import Call
from shared.a2a.model import Part, SendMessageRequest
from shared.a2a.reply import Data, Piece
from shared.a2a.text import text_of
from shared.agents.phrasing import Answer
from shared.follow_up import completed, is_follow_up, names_another

_MOST = 1_000
_LONGEST_QUESTION = 2_000


class LastQuestions:
    """The last question of each conversation; the conversation unused for longest goes first. Thread-safe."""

    def __init__(self, *, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._questions: OrderedDict[str, str] = OrderedDict()

    def get(self, context_id: str | None) -> str | None:
        """The last question, None when none is known."""
        with self._lock:
            return self._questions.get(context_id) if context_id else None

    def put(self, context_id: str | None, question: str) -> None:
        """Remembers a question; one that is too long to be taken up is not kept, nor is the one before it."""
        if not context_id:
            return
        with self._lock:
            self._questions.pop(context_id, None)
            if 0 < len(question) <= _LONGEST_QUESTION:
                self._questions[context_id] = question
            if len(self._questions) > self._most:
                self._questions.popitem(last=False)


def in_conversation(answer: Answer, *, alone_first: bool = True) -> Answer:
    """`answer`, which is asked what a follow-up means; `alone_first`: only where it has no answer to what the follow-up says.

    An agent that finds something for nearly every text has to be asked what is meant at once.
    """
    asked = LastQuestions()

    def told(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        question = text_of(request.message)
        context_id = request.message.context_id
        earlier = asked.get(context_id) if is_follow_up(question) else None
        if earlier is None:
            asked.put(context_id, question)
            yield from answer(request, call)
            return
        meant = completed(earlier, question)
        if alone_first and not names_another(earlier, question):
            pieces = list(answer(request, call))
            if _is_answered(pieces):
                asked.put(context_id, question)
                yield from pieces
                return
        asked.put(context_id, meant)
        for piece in answer(_asking(meant, request), call):
            yield Data(piece.value | {"understoodAs": meant}) if isinstance(piece, Data) else piece

    return told


def _asking(question: str, request: SendMessageRequest) -> SendMessageRequest:
    return structs.replace(request, message=structs.replace(request.message, parts=(Part(text=question),)))


def _is_answered(pieces: list[Piece]) -> bool:
    data = (piece.value for piece in pieces if isinstance(piece, Data))
    return any(value.get("answered") is True or value.get("grounded") is True for value in data)
