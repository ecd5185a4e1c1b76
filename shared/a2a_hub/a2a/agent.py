"""The seam between the protocol and an agent: one iterator of events feeds all operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Struct

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Event, SendMessageRequest
from a2a_hub.a2a.reply import MessageFactory, Piece, to_events


class Turn(Struct, frozen=True, kw_only=True):
    """What an agent makes of a request. Nothing is done before `events` are taken: a Message alone, or a Task and its updates.

    `immediate`: its events wait for nobody else, neither an agent nor a model. `as_message`: a client that waits gets the result
    as a Message, not as a Task. `role` names the pull workers who do the work, where it is not the agent's own; there are no
    events then.
    """

    events: Iterator[Event]
    immediate: bool = False
    as_message: bool = True
    role: str = ""


class Agent(Protocol):
    """What the server needs of an agent."""

    def context_of(self, request: SendMessageRequest, call: Call) -> str:
        """The request's context id, or a new one."""
        ...

    def bypasses_task(self, request: SendMessageRequest) -> bool:
        """Whether the message belongs to no task, though one may wait in its context."""
        ...

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        """One turn. With a task in hand (`call.task`), its events are those of that task. Raises A2AError for a refusal."""
        ...

    def cancel(self, call: Call) -> None:
        """Tells whoever works on the task in hand, somewhere else, that it is cancelled; a failure to do so is no error."""
        ...


class AnsweringAgent:
    """An agent that is a function from a request to pieces of answer: all that a simple agent has to be.

    `answer(request, call)` yields pieces (`a2a_hub.a2a.reply`). The context is the request's, or a new one.
    """

    def __init__(
        self,
        answer: Callable[[SendMessageRequest, Call], Iterator[Piece]],
        *,
        message_factory: MessageFactory,
    ) -> None:
        self._answer = answer
        self._message_factory = message_factory

    def context_of(self, request: SendMessageRequest, call: Call) -> str:  # noqa: ARG002 - the protocol's
        """See `Agent.context_of`."""
        return request.message.context_id or self._message_factory.new_id()

    def bypasses_task(self, request: SendMessageRequest) -> bool:  # noqa: ARG002 - the protocol's
        """None does."""
        return False

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        """See `Agent.send`."""
        pieces = self._answer(request, call)
        context_id = self.context_of(request, call)
        return Turn(
            events=to_events(pieces, context_id=context_id, call=call, message_factory=self._message_factory)
        )

    def cancel(self, call: Call) -> None:
        """Nobody else works on it."""
