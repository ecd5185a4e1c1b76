"""The seams between the protocol and an agent, whose one iterator of events feeds all operations, and its stored tasks."""

from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Struct

from a2a_hub.a2a import model
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Event, Message, SendMessageRequest, Task, TaskPushNotificationConfig
from a2a_hub.a2a.reply import MessageFactory, Piece, to_events


class Turn(Struct, frozen=True, kw_only=True):
    """An agent's answer to a request. Its work starts when `events` are taken: a Message alone, or a Task and its updates.

    `immediate` is True if its events wait for no agent and no model. With `as_message`, a client that waits gets the result as a
    Message, not as a Task. `role` names the pull workers who do the work instead of the agent; there are no events then.
    """

    events: Iterator[Event]
    immediate: bool = False
    as_message: bool = True
    role: str = ""


class Canceller(Protocol):
    """A seam that passes cancellations on."""

    def cancel(self, call: Call) -> None:
        """Notify a remote worker of the task (`call.task`) that it is cancelled. A failure to do so is no error."""


class Agent(Canceller, Protocol):
    """The agent as the server calls it."""

    def context_of(self, request: SendMessageRequest, call: Call) -> str:
        """Return the request's context id, or a new one."""

    def bypasses_task(self, request: SendMessageRequest) -> bool:
        """Return True if the message belongs to no task, although one may wait in its context."""

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        """Return one turn. With `call.task`, its events are those of that task. Raises A2AError for a refusal."""


class AnsweringAgent:
    """A simple agent: one function from a request to pieces of an answer.

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
        """See `Agent.bypasses_task`. No message does."""
        return False

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        """See `Agent.send`."""
        pieces = self._answer(request, call)
        context_id = self.context_of(request, call)
        return Turn(events=to_events(pieces, context_id=context_id, call=call, message_factory=self._message_factory))

    def cancel(self, call: Call) -> None:
        """See `Agent.cancel`. There is no remote worker."""


class Sending(Protocol):
    """The two operations that start a turn. Each raises A2AError."""

    def send(self, request: model.SendMessageRequest, call: Call) -> Task | Message:
        """Return the turn's result."""

    def stream(self, request: model.SendMessageRequest, call: Call, *, idle_seconds: float) -> Iterator[Event | None]:
        """Return the turn's events, with None for every `idle_seconds` without one. The iterator has `close`."""


class Operations(Protocol):
    """The operations on stored tasks, each with its section of the specification. Each raises A2AError."""

    def get(self, request: model.GetTaskRequest, call: Call) -> Task:
        """§3.1.3."""

    def list(self, request: model.ListTasksRequest, call: Call) -> model.ListTasksResponse:
        """§3.1.4."""

    def cancel(self, request: model.CancelTaskRequest, call: Call) -> Task:
        """§3.1.5."""

    def subscribe(
        self, request: model.SubscribeToTaskRequest, call: Call, *, idle_seconds: float
    ) -> Iterator[Event | None]:
        """§3.1.6; like `Sending.stream`."""

    def create_config(self, request: TaskPushNotificationConfig, call: Call) -> TaskPushNotificationConfig:
        """§3.1.7."""

    def get_config(self, request: model.GetTaskPushNotificationConfigRequest, call: Call) -> TaskPushNotificationConfig:
        """§3.1.8."""

    def list_configs(
        self, request: model.ListTaskPushNotificationConfigsRequest, call: Call
    ) -> model.ListTaskPushNotificationConfigsResponse:
        """§3.1.9."""

    def delete_config(self, request: model.DeleteTaskPushNotificationConfigRequest, call: Call) -> None:
        """§3.1.10."""


class Tasks(Protocol):
    """All operations of an agent that stores tasks."""

    @property
    def sending(self) -> Sending:
        """The operations that start turns."""

    @property
    def operations(self) -> Operations:
        """The operations on existing tasks."""


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
