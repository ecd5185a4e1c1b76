"""Asks an agent without a network: its text and its data."""

from collections.abc import Callable, Iterator
from typing import Any

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Binding, Message, Part, Role, SendMessageRequest, Version
from a2a_hub.a2a.reply import Data, Piece, Question, Text

Answer = Callable[[SendMessageRequest, Call], Iterator[Piece]]


def ask(answer: Answer, question: str, *, context_id: str | None = None) -> tuple[str, dict[str, Any]]:
    """The text of the answer, and its structured form ({} when the agent asked back)."""
    message = Message(message_id="m", role=Role.USER, parts=(Part(text=question),), context_id=context_id)
    call = Call(request_id="r", principal=None, version=Version.V1_0, binding=Binding.JSONRPC, streaming=False)
    pieces = list(answer(SendMessageRequest(message=message), call))
    text = "".join(piece.text for piece in pieces if isinstance(piece, Text | Question))
    return text, next((piece.value for piece in pieces if isinstance(piece, Data)), {})
