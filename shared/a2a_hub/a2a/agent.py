"""The interfaces between the protocol and an agent (one iterator of events per turn) and its stored tasks."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct

from a2a_hub.a2a import model
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Event, Message, SendMessageRequest, Task
from a2a_hub.a2a.relay import EventSource
from a2a_hub.a2a.reply import Piece, to_events
from a2a_hub.runtime.ids import new_id


class Turn(Struct, frozen=True, kw_only=True):
    """An agent's answer to a request. Work starts when `events` is iterated: a single Message, or a Task and its updates.

    `immediate` is True if its events wait for no agent and no model. `role` names the pull workers who do the work instead of the
    agent; there are no events then. While the agent is away, a stored turn without a waiting caller is retried for
    `retry_seconds` (`TryLater`).
    """

    events: Iterator[Event]
    immediate: bool = False
    role: str = ""
    retry_seconds: float = 0.0


class TryLater(Exception):
    """The agent is temporarily unavailable. Raised by the events of a turn instead of a failure if the next attempt, in
    `seconds` at the earliest, is before `CurrentTask.retries_until`.

    `message` is for the caller, in the language of the question, `reason` for a program; `cause` is for the operator.
    """

    def __init__(self, message: str, *, seconds: float = 0.0, cause: str = "", reason: str = "DOWN") -> None:
        super().__init__(cause or message)
        self.message = message
        self.seconds = seconds
        self.cause = cause
        self.reason = reason


Answer = Callable[[SendMessageRequest, Call], Iterator[Piece]]
"""The answer of an agent that answers one question at a time."""


class Canceller(Protocol):
    """An agent that can be told of a cancellation."""

    def cancel(self, call: Call) -> None:
        """Notify the remote worker of `call.task` of the cancellation; failures are ignored."""


class Agent(Canceller, Protocol):
    """The agent as the server calls it. One that works in this process is a subclass, and may define `send` alone."""

    def context_of(self, request: SendMessageRequest, call: Call) -> str:  # noqa: ARG002 - others need it
        """Return the request's context id, or a new one."""
        return request.message.context_id or new_id()

    def bypasses_task(self, request: SendMessageRequest, call: Call) -> bool:  # noqa: ARG002
        """Return True if the message belongs to no task even if one waits in its context."""
        return False

    def starts_new_task(self, request: SendMessageRequest, call: Call, notes: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Return True if this starts a new task instead of resuming the idle one (input-required without a question), which has
        these notes.
        """
        return False

    def cancel(self, call: Call) -> None:  # noqa: ARG002
        """See `Canceller.cancel`. Without a remote worker, the turn notices by itself."""
        return

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        """Return one turn. With `call.task`, its events are those of that task. Raises A2AError for a refusal."""


class AnsweringAgent(Agent):
    """A simple agent: one function from a request to pieces of an answer (`a2a_hub.a2a.reply`)."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        """See `Agent.send`."""
        pieces = self._answer(request, call)
        return Turn(events=to_events(pieces, context_id=self.context_of(request, call), call=call))


class MessageOperations(Protocol):
    """The two operations that start a turn. Each raises A2AError."""

    def send(self, request: model.SendMessageRequest, call: Call) -> Task | Message:
        """Return the turn's result."""

    def stream(self, request: model.SendMessageRequest, call: Call) -> EventSource:
        """Return the turn's events."""


class StoredTaskOperations(Protocol):
    """The operations on stored tasks (§3.1.3-§3.1.10). Each raises A2AError."""

    def answer(self, request: Struct, call: Call) -> Struct | None:
        """Return the result of the operation for this type of request, None if it has none."""

    def subscribe(self, request: model.SubscribeToTaskRequest, call: Call) -> EventSource:
        """§3.1.6; like `MessageOperations.stream`."""


class TaskService(MessageOperations, Protocol):
    """All operations of an agent that stores tasks."""

    @property
    def operations(self) -> StoredTaskOperations:
        """The operations that start no turn."""
