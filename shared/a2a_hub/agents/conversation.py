"""Lets an agent that answers one question at a time take up the question before: "and abroad?", 「じゃあ海外は？」.

Kept in this instance's memory and bounded: where it is lost, a follow-up is answered by what it says itself.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import structs

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Part, SendMessageRequest
from a2a_hub.a2a.reply import Data, Piece, Text
from a2a_hub.a2a.text import text_of
from a2a_hub.agents.phrasing import Answer
from a2a_hub.text.follow_up import completed, is_follow_up, names_another
from a2a_hub.text.language import Language, answer_language

_MOST = 1_000
_LONGEST_QUESTION = 2_000
# The hub's ids have 36 characters; whoever else calls may send megabytes of them.
_LONGEST_ID = 200
_SAID_BEFORE = {
    Language.EN: "What I know of this I have said before:\n",
    Language.JA: "先ほどの回答でお伝えしたとおりです。\n",
}


@dataclass(frozen=True, slots=True)
class LastTurn:
    """What a conversation was about last: the question in full, and by what its answer is known again."""

    question: str
    answer: int


class LastTurns:
    """The last turn of each conversation; the conversation unused for longest goes first. Thread-safe."""

    def __init__(self, *, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._turns: OrderedDict[str, LastTurn] = OrderedDict()

    def get(self, context_id: str | None) -> LastTurn | None:
        """The last turn, None when none is known."""
        with self._lock:
            return self._turns.get(context_id) if context_id else None

    def put(self, context_id: str | None, question: str, answer: str) -> None:
        """Remembers a turn; one whose question or id is too long is not kept, nor is the one before it."""
        if not context_id or len(context_id) > _LONGEST_ID:
            return
        with self._lock:
            self._turns.pop(context_id, None)
            if 0 < len(question) <= _LONGEST_QUESTION:
                self._turns[context_id] = LastTurn(question, hash(answer))
            if len(self._turns) > self._most:
                self._turns.popitem(last=False)


def in_conversation(answer: Answer, *, alone_first: bool = True) -> Answer:
    """`answer`, which is asked what a follow-up means; `alone_first`: only where it has no answer to what the follow-up says.

    An agent that finds something for nearly every text has to be asked what is meant at once. An answer that was given
    before is said to be that.
    """
    turns = LastTurns()

    def told(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        question, context_id = text_of(request.message), request.message.context_id
        earlier = turns.get(context_id) if is_follow_up(question) else None
        if earlier is None:
            said: list[str] = []
            for piece in answer(request, call):
                if isinstance(piece, Text):
                    said.append(piece.text)
                yield piece
            turns.put(context_id, question, "".join(said))
            return
        pieces: list[Piece] = []
        if alone_first and not names_another(earlier.question, question):
            pieces = list(answer(request, call))
        if not _is_answered(pieces):
            question = completed(earlier.question, question)
            pieces = [_understood(piece, question) for piece in answer(_asking(question, request), call)]
        text = "".join(piece.text for piece in pieces if isinstance(piece, Text))
        if _is_answered(pieces) and hash(text) == earlier.answer:
            yield Text(_SAID_BEFORE[answer_language(question)])
        yield from pieces
        # What could not be answered is no ground for the next follow-up: "in feet?", "and Mount Everest?".
        if _is_answered(pieces):
            turns.put(context_id, question, text)

    return told


def _asking(question: str, request: SendMessageRequest) -> SendMessageRequest:
    return structs.replace(request, message=structs.replace(request.message, parts=(Part(text=question),)))


def _understood(piece: Piece, question: str) -> Piece:
    return Data(piece.value | {"understoodAs": question}) if isinstance(piece, Data) else piece


def _is_answered(pieces: Sequence[Piece]) -> bool:
    data = (piece.value for piece in pieces if isinstance(piece, Data))
    return any(value.get("answered") is True or value.get("grounded") is True for value in data)
