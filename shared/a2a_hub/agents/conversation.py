"""Follow-up questions ("and abroad?", 「じゃあ海外は？」) for agents that answer one question at a time.

They are completed by a model, or by rules. The last turns are with callers who keep them (the `memory` extension), else in this
instance's memory, bounded; without them, a follow-up is answered by its own words.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct, structs

from a2a_hub.a2a.agent import Answer
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.declining import Reason, declining
from a2a_hub.a2a.extensions import memory
from a2a_hub.a2a.model import Part, SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Text
from a2a_hub.agents.rewriting import rewritten
from a2a_hub.language_models.model import LanguageModel
from a2a_hub.text.follow_up import asks_once_more, completed, is_follow_up, is_small_talk, names_another, of_another
from a2a_hub.text.language import Language, answer_language

_MAX_CONVERSATIONS = 1_000
_MAX_TURNS = 3
_MAX_QUESTION_CHARACTERS = 2_000
_MAX_ANSWER_CHARACTERS = 500
_NO_MORE = {
    Language.EN: "This is all I can say about it:\n",
    Language.JA: "この件でお答えできるのは次の内容だけです。\n",
}
# The hub's ids have 36 characters; other callers may send megabytes.
_MAX_ID_CHARACTERS = 200


class Turn(Struct, frozen=True, omit_defaults=True):
    """A question of a conversation in full, and the beginning of its answer; `is_open` if it is a follow-up that got none."""

    question: str
    answer: str
    is_open: bool = False


# msgspec analyses a type at its first use, and crashes if two threads do that at once.
msgspec.json.Decoder(Turn)


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

    def put(self, context_id: str | None, turns: tuple[Turn, ...]) -> None:
        """Replace the turns of a conversation whose id is not too long."""
        if not context_id or len(context_id) > _MAX_ID_CHARACTERS:
            return
        with self._lock:
            self._turns.pop(context_id, None)
            if turns:
                self._turns[context_id] = turns
            if len(self._turns) > self._max_conversations:
                self._turns.popitem(last=False)


def turns_after(before: tuple[Turn, ...], question: str, answer: str, *, is_open: bool = False) -> tuple[Turn, ...]:
    """Return the turns to remember after one more, the last ones; none after too long a question."""
    if not 0 < len(question) <= _MAX_QUESTION_CHARACTERS:
        return ()
    closed = (turn for turn in before if not turn.is_open)
    turns = (*closed, Turn(question, _begins(answer), is_open))[-_MAX_TURNS:]
    while len(msgspec.json.encode(turns)) > memory.MAX_BYTES:
        turns = turns[1:]
    return turns


def _kept_turns(request: SendMessageRequest) -> tuple[Turn, ...]:
    """Return the turns that the caller has kept; none if it has kept nothing that this agent wrote."""
    try:
        kept = msgspec.convert((request.message.metadata or {}).get(memory.URI, ()), tuple[Turn, ...])
    except msgspec.ValidationError:
        return ()
    return kept[-_MAX_TURNS:] if all(map(_may_be_kept, kept)) else ()


def _may_be_kept(turn: Turn) -> bool:
    """Return True for a turn no longer than those that this agent leaves with its callers."""
    return len(turn.question) <= _MAX_QUESTION_CHARACTERS and len(turn.answer) <= _MAX_ANSWER_CHARACTERS


def in_conversation(answer: Answer, *, alone_first: bool = True, model: LanguageModel | None = None) -> Answer:
    """Return `answer` with follow-ups completed: by the model, or where it fails by the question before.

    `alone_first`: only if their own words get no answer by rules. An agent that finds something for nearly every text needs the
    completed question at once.
    """
    turns = LastTurns()

    def answer_in_context(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        question, context_id = text_of(request.message), request.message.context_id
        keeps = memory.URI in call.extensions
        earlier = (_kept_turns(request) if keeps else ()) or turns.get(context_id)

        def remember(question: str, text: str, *, is_open: bool = False) -> Iterator[Piece]:
            if is_small_talk(question):
                return
            after = turns_after(earlier, question, text, is_open=is_open)
            turns.put(context_id, after)
            if keeps:
                yield Data({memory.URI: msgspec.to_builtins(after)})

        complete = None
        if model and earlier:
            before = [(turn.question, turn.answer) for turn in earlier]
            complete = rewritten(model, question, before, cancellation=call.cancellation)
        if complete is not None or not earlier or not is_follow_up(question):
            texts: list[str] = []
            for piece in _answered(answer, request, call, complete or question):
                if isinstance(piece, Text):
                    texts.append(piece.text)
                yield piece
            yield from remember(complete or question, "".join(texts))
            return
        # "And Mount Everest?" takes up no turn that got no answer; "are you sure?" is said of the last one.
        answered = next((turn for turn in reversed(earlier) if not turn.is_open), earlier[-1])
        once_more = asks_once_more(question)
        last = earlier[-1] if once_more else answered
        pieces: list[Piece] = []
        if alone_first and not once_more and not names_another(last.question, question):
            pieces = list(answer(request, call))
        if not _is_answered(pieces):
            another, question = of_another(last.question, question), completed(last.question, question)
            pieces = list(_answered(answer, request, call, another or question))
            if another and not _is_answered(pieces):
                together = list(_answered(answer, request, call, question))
                # What was said of the first subject is no answer about the other.
                is_new = not _text_of(together).startswith(last.answer)
                pieces = together if is_new and _is_answered(together) else pieces
            elif another:
                question = another
        is_open = not _is_answered(pieces)
        if not (is_open or once_more) and "\n" in question and _begins(_text_of(pieces)) == last.answer:
            # The answer before says nothing of what was added: another agent may.
            pieces, is_open = _declined(pieces, answer_language(question)), True
        yield from pieces
        yield from remember(question, _text_of(pieces), is_open=is_open)

    return answer_in_context


def _answered(answer: Answer, request: SendMessageRequest, call: Call, question: str) -> Iterator[Piece]:
    """Yield the answer to `question` in place of the message's text, and in the data as what it was understood as."""
    if question == text_of(request.message):
        yield from answer(request, call)
        return
    message = structs.replace(request.message, parts=(Part(text=question),))
    for piece in answer(structs.replace(request, message=message), call):
        yield Data(piece.value | {"understoodAs": question}) if isinstance(piece, Data) else piece


def _declined(pieces: Sequence[Piece], language: Language) -> list[Piece]:
    """Return the answer before as that of an agent that knows no more."""
    data = {name: value for piece in pieces if isinstance(piece, Data) for name, value in piece.value.items()}
    texts = (piece for piece in pieces if not isinstance(piece, Data))
    return [declining(Reason.REPEATED, data), Text(_NO_MORE[language]), *texts]


def _begins(answer: str) -> str:
    return answer[:_MAX_ANSWER_CHARACTERS]


def _text_of(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Text))


def _is_answered(pieces: Sequence[Piece]) -> bool:
    data = (piece.value for piece in pieces if isinstance(piece, Data))
    return any(value.get("answered") is True or value.get("grounded") is True for value in data)
