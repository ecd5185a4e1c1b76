"""Follow-up questions ("and abroad?", 「じゃあ海外は？」) for agents that answer one question at a time.

They are completed by a model, or by rules. The last turns are in this instance's memory, bounded; without them, a follow-up is
answered by its own words.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import structs

from a2a_hub.a2a.agent import Answer
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Part, SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Text
from a2a_hub.agents.rewriting import Rewriter
from a2a_hub.text.follow_up import completed, is_follow_up, names_another
from a2a_hub.text.language import Language, answer_language

_MAX_CONVERSATIONS = 1_000
_MAX_TURNS = 3
_MAX_QUESTION_CHARACTERS = 2_000
_MAX_ANSWER_CHARACTERS = 500
# The hub's ids have 36 characters; other callers may send megabytes.
_MAX_ID_CHARACTERS = 200
_REPEATED = {
    Language.EN: "What I know of this I have said before:\n",
    Language.JA: "先ほどの回答でお伝えしたとおりです。\n",
}


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation in full, the beginning of its answer, and the hash of that."""

    question: str
    answer: str
    answer_hash: int


class LastTurns:
    """An LRU cache of the last turns of each conversation. Thread-safe."""

    def __init__(self, *, max_conversations: int = _MAX_CONVERSATIONS) -> None:
        self._max_conversations = max_conversations
        self._lock = threading.Lock()
        self._turns: OrderedDict[str, tuple[Turn, ...]] = OrderedDict()

    def get(self, context_id: str | None) -> tuple[Turn, ...]:
        """Return the last turns, the oldest first; nothing if they are unknown."""
        with self._lock:
            return self._turns.get(context_id, ()) if context_id else ()

    def put(self, context_id: str | None, question: str, answer: str) -> None:
        """Add a turn; one with too long a question or id only deletes the turns before it."""
        if not context_id or len(context_id) > _MAX_ID_CHARACTERS:
            return
        with self._lock:
            before = self._turns.pop(context_id, ())
            if 0 < len(question) <= _MAX_QUESTION_CHARACTERS:
                turn = Turn(question, answer[:_MAX_ANSWER_CHARACTERS], hash(answer))
                self._turns[context_id] = (*before, turn)[-_MAX_TURNS:]
            if len(self._turns) > self._max_conversations:
                self._turns.popitem(last=False)


def in_conversation(answer: Answer, *, alone_first: bool = True, rewriter: Rewriter | None = None) -> Answer:
    """Return `answer` with follow-ups completed: by `rewriter`, or where it fails by the question before.

    `alone_first`: only if their own words get no answer by rules. An agent that finds something for nearly every text needs the
    completed question at once. A repeated answer is marked as such.
    """
    turns = LastTurns()

    def answer_in_context(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        question, context_id = text_of(request.message), request.message.context_id
        earlier = turns.get(context_id)
        complete = None
        if rewriter and earlier:
            before = [(turn.question, turn.answer) for turn in earlier]
            complete = rewriter.rewritten(question, before, cancellation=call.cancellation)
        if complete is not None or not earlier or not is_follow_up(question):
            texts: list[str] = []
            for piece in _answered(answer, request, call, complete or question):
                if isinstance(piece, Text):
                    texts.append(piece.text)
                yield piece
            turns.put(context_id, complete or question, "".join(texts))
            return
        last = earlier[-1]
        pieces: list[Piece] = []
        if alone_first and not names_another(last.question, question):
            pieces = list(answer(request, call))
        if not _is_answered(pieces):
            question = completed(last.question, question)
            pieces = list(_answered(answer, request, call, question))
        text = "".join(piece.text for piece in pieces if isinstance(piece, Text))
        if _is_answered(pieces) and hash(text) == last.answer_hash:
            yield Text(_REPEATED[answer_language(question)])
        yield from pieces
        # An unanswered question is no basis for the next follow-up: "in feet?", "and Mount Everest?".
        if _is_answered(pieces):
            turns.put(context_id, question, text)

    return answer_in_context


def _answered(answer: Answer, request: SendMessageRequest, call: Call, question: str) -> Iterator[Piece]:
    """Yield the answer to `question` in place of the message's text, and in the data as what it was understood as."""
    if question == text_of(request.message):
        yield from answer(request, call)
        return
    message = structs.replace(request.message, parts=(Part(text=question),))
    for piece in answer(structs.replace(request, message=message), call):
        yield Data(piece.value | {"understoodAs": question}) if isinstance(piece, Data) else piece


def _is_answered(pieces: Sequence[Piece]) -> bool:
    data = (piece.value for piece in pieces if isinstance(piece, Data))
    return any(value.get("answered") is True or value.get("grounded") is True for value in data)
