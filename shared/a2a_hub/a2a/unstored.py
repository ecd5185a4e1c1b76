"""SendMessage and SendStreamingMessage where no task is kept: the turn lives as long as somebody waits for it."""

from collections.abc import Iterator

from a2a_hub.a2a.agent import Agent
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import PUSH_NOTIFICATION_NOT_SUPPORTED, TASK_NOT_FOUND, A2AError
from a2a_hub.a2a.fold import fold
from a2a_hub.a2a.in_flight import InFlight
from a2a_hub.a2a.model import Event, Message, SendMessageRequest, Task
from a2a_hub.a2a.relay import Relay


class Unstored:
    """Answers the two operations for an agent that keeps no tasks, and for callers who own none."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._in_flight = InFlight()

    def send(self, request: SendMessageRequest, call: Call) -> Task | Message:
        """The turn's result. Raises A2AError."""
        _refuse_tasks(request)
        return self._in_flight.once(
            _key_of(request, call), request, lambda: fold(self._agent.send(request, call).events)
        )

    def stream(self, request: SendMessageRequest, call: Call, *, idle_seconds: float) -> Iterator[Event | None]:
        """The turn's events, None for `idle_seconds` without one. It has `close`, which ends the turn. Raises A2AError."""
        _refuse_tasks(request)
        return self._in_flight.subscription(
            _key_of(request, call),
            request,
            lambda: Relay(self._agent.send(request, call).events, on_abandoned=call.cancellation.cancel),
            idle_seconds=idle_seconds,
        )


def _refuse_tasks(request: SendMessageRequest) -> None:
    configuration = request.configuration
    if configuration is not None and configuration.task_push_notification_config is not None:
        raise A2AError(PUSH_NOTIFICATION_NOT_SUPPORTED)
    if request.message.task_id:
        raise A2AError(TASK_NOT_FOUND, metadata={"taskId": request.message.task_id[:200]})


def _key_of(request: SendMessageRequest, call: Call) -> tuple[object, ...] | None:
    """With the content, what makes two requests the same; None without a principal, since anonymous callers are not one."""
    if call.principal is None:
        return None
    return call.principal.subject, call.streaming, call.version, call.binding, request.message.message_id
