"""The seams between the protocol and an agent, whose one iterator of events feeds all operations, and its stored tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Struct

from a2a_hub.a2a import model
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Event, Message, SendMessageRequest, Task, TaskPushNotificationConfig
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


class Canceller(Protocol):
    """What passes cancellations on."""

    def cancel(self, call: Call) -> None:
        """Tells whoever works on the task in hand, somewhere else, that it is cancelled; a failure to do so is no error."""
        ...


class Agent(Canceller, Protocol):
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


class Sending(Protocol):
    """The two operations that start a turn. Each raises A2AError."""

    def send(self, request: model.SendMessageRequest, call: Call) -> Task | Message:
        """The turn's result."""
        ...

    def stream(
        self, request: model.SendMessageRequest, call: Call, *, idle_seconds: float
    ) -> Iterator[Event | None]:
        """The turn's events, None for `idle_seconds` without one. It has `close`."""
        ...


class Operations(Protocol):
    """The operations on tasks that there are, each with the section that says what it does. Each raises A2AError."""

    def get(self, request: model.GetTaskRequest, call: Call) -> Task:
        """§3.1.3."""
        ...

    def list(self, request: model.ListTasksRequest, call: Call) -> model.ListTasksResponse:
        """§3.1.4."""
        ...

    def cancel(self, request: model.CancelTaskRequest, call: Call) -> Task:
        """§3.1.5."""
        ...

    def subscribe(
        self, request: model.SubscribeToTaskRequest, call: Call, *, idle_seconds: float
    ) -> Iterator[Event | None]:
        """§3.1.6; like `Sending.stream`."""
        ...

    def create_config(self, request: TaskPushNotificationConfig, call: Call) -> TaskPushNotificationConfig:
        """§3.1.7."""
        ...

    def get_config(
        self, request: model.GetTaskPushNotificationConfigRequest, call: Call
    ) -> TaskPushNotificationConfig:
        """§3.1.8."""
        ...

    def list_configs(
        self, request: model.ListTaskPushNotificationConfigsRequest, call: Call
    ) -> model.ListTaskPushNotificationConfigsResponse:
        """§3.1.9."""
        ...

    def delete_config(self, request: model.DeleteTaskPushNotificationConfigRequest, call: Call) -> None:
        """§3.1.10."""
        ...


class Tasks(Protocol):
    """All operations of an agent that keeps tasks."""

    @property
    def sending(self) -> Sending:
        """Starts turns."""
        ...

    @property
    def operations(self) -> Operations:
        """Looks after what was started."""
        ...


def on_task(tasks: Operations, params: Struct, call: Call) -> Struct | None:
    """Return the result of the operation whose request `params` is, None if it has none. Raises A2AError."""
    match params:
        case model.GetTaskRequest():
            return tasks.get(params, call)
        case model.ListTasksRequest():
            return tasks.list(params, call)
        case model.CancelTaskRequest():
            return tasks.cancel(params, call)
        case model.TaskPushNotificationConfig():
            return tasks.create_config(params, call)
        case model.GetTaskPushNotificationConfigRequest():
            return tasks.get_config(params, call)
        case model.ListTaskPushNotificationConfigsRequest():
            return tasks.list_configs(params, call)
        case model.DeleteTaskPushNotificationConfigRequest():
            tasks.delete_config(params, call)
            return None
        case _:
            raise AssertionError(f"no operation takes {type(params).__name__}")
