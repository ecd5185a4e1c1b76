"""Follow-up questions ("and abroad?", 「じゃあ海外は？」) for agents that answer one question at a time.

The last turns are in this instance's memory, bounded; without them, a follow-up is answered by its own words.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import structs

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Part, SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Text
from a2a_hub.agents.phrasing import Answer
from a2a_hub.text.follow_up import completed, is_follow_up, names_another
from a2a_hub.text.language import Language, answer_language

_MAX_TURNS = 1_000
_MAX_QUESTION_CHARACTERS = 2_000
# The hub's ids have 36 characters; other callers may send megabytes.
_MAX_ID_CHARACTERS = 200
_REPEATED = {
    Language.EN: "What I know of this I have said before:\n",
    Language.JA: "先ほどの回答でお伝えしたとおりです。\n",
}


@dataclass(frozen=True, slots=True)
class LastTurn:
    """The last question of a conversation in full, and the hash of its answer."""

    question: str
    answer: int


class LastTurns:
    """An LRU cache of the last turn of each conversation. Thread-safe."""

    def __init__(self, *, max_turns: int = _MAX_TURNS) -> None:
        self._max_turns = max_turns
        self._lock = threading.Lock()
        self._turns: OrderedDict[str, LastTurn] = OrderedDict()

    def get(self, context_id: str | None) -> LastTurn | None:
        """Return the last turn, None if it is unknown."""
        with self._lock:
            return self._turns.get(context_id) if context_id else None

    def put(self, context_id: str | None, question: str, answer: str) -> None:
        """Store a turn; one with too long a question or id only deletes the turn before it."""
        if not context_id or len(context_id) > _MAX_ID_CHARACTERS:
            return
        with self._lock:
            self._turns.pop(context_id, None)
            if 0 < len(question) <= _MAX_QUESTION_CHARACTERS:
                self._turns[context_id] = LastTurn(question, hash(answer))
            if len(self._turns) > self._max_turns:
                self._turns.popitem(last=False)


def in_conversation(answer: Answer, *, alone_first: bool = True) -> Answer:
    """Return `answer` with follow-ups completed by the question before. `alone_first`: only if their own words get no answer.

    An agent that finds something for nearly every text needs the completed question at once. A repeated answer is marked as such.
    """
    turns = LastTurns()

    def answer_in_context(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        question, context_id = text_of(request.message), request.message.context_id
        earlier = turns.get(context_id) if is_follow_up(question) else None
        if earlier is None:
            texts: list[str] = []
            for piece in answer(request, call):
                if isinstance(piece, Text):
                    texts.append(piece.text)
                yield piece
            turns.put(context_id, question, "".join(texts))
            return
        pieces: list[Piece] = []
        if alone_first and not names_another(earlier.question, question):
            pieces = list(answer(request, call))
        if not _is_answered(pieces):
            question = completed(earlier.question, question)
            pieces = [_marked(piece, question) for piece in answer(_with_text(question, request), call)]
        text = "".join(piece.text for piece in pieces if isinstance(piece, Text))
        if _is_answered(pieces) and hash(text) == earlier.answer:
            yield Text(_REPEATED[answer_language(question)])
        yield from pieces
        # An unanswered question is no basis for the next follow-up: "in feet?", "and Mount Everest?".
        if _is_answered(pieces):
            turns.put(context_id, question, text)

    return answer_in_context


def _with_text(question: str, request: SendMessageRequest) -> SendMessageRequest:
    return structs.replace(request, message=structs.replace(request.message, parts=(Part(text=question),)))


def _marked(piece: Piece, question: str) -> Piece:
    return Data(piece.value | {"understoodAs": question}) if isinstance(piece, Data) else piece


def _is_answered(pieces: Sequence[Piece]) -> bool:
    data = (piece.value for piece in pieces if isinstance(piece, Data))
    return any(value.get("answered") is True or value.get("grounded") is True for value in data)
