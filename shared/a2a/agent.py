"""The seam between the protocol and an agent: one iterator of events feeds all operations (design §3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from shared.a2a.call import Call
from shared.a2a.model import Event, SendMessageRequest
from shared.a2a.reply import Mint, Piece, to_events


class Agent(Protocol):
    """What the server needs of an agent; more operations join it as the agent can store tasks."""

    def send(self, request: SendMessageRequest, call: Call) -> Iterator[Event]:
        """The events of one turn: a Message alone, or a Task and its updates. Raises A2AError for a request it refuses."""
        ...


class AnsweringAgent:
    """An agent that is a function from a request to pieces of answer: all that a simple agent has to be.

    `answer(request, call)` yields pieces (`shared.a2a.reply`). The context is the request's, or a new one.
    """

    def __init__(self, answer: Callable[[SendMessageRequest, Call], Iterator[Piece]], *, mint: Mint) -> None:
        self._answer = answer
        self._mint = mint

    def send(self, request: SendMessageRequest, call: Call) -> Iterator[Event]:
        """See `Agent.send`."""
        context_id = request.message.context_id or self._mint.new_id()
        return to_events(self._answer(request, call), context_id=context_id, call=call, mint=self._mint)
