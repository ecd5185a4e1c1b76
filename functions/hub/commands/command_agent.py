"""The hub as an agent that answers commands itself and passes everything else on to the agents behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2a_hub.a2a.agent import Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Message, SendMessageRequest
from a2a_hub.a2a.reply import MessageFactory, Text, to_events
from a2a_hub.a2a.text import text_of
from functions.hub.agent import HubAgent
from functions.hub.commands.agent_commands import has_result, result_events
from functions.hub.commands.commands import Commands
from functions.hub.turn import EXECUTES


class CommandAgent:
    """See `a2a_hub.a2a.agent.Agent`: `commands` in front of `agent`."""

    def __init__(self, agent: HubAgent, commands: Commands, *, message_factory: MessageFactory) -> None:
        self._agent = agent
        self._commands = commands
        self._message_factory = message_factory

    def context_of(self, request: SendMessageRequest, call: Call) -> str:
        """See `Agent.context_of`."""
        return self._agent.context_of(request, call)

    def bypasses_task(self, request: SendMessageRequest) -> bool:
        """See `Agent.bypasses_task`: a command does."""
        message = request.message
        return _may_be_command(message) and self._commands.is_command(text_of(message))

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        """See `Agent.send`."""
        notes: Mapping[str, Any] = call.task.notes if call.task else {}
        if EXECUTES in notes:
            return self._executed(request, call, notes)
        answer = None
        if _may_be_command(request.message):
            answer = self._commands.answer(text_of(request.message), call)
        if answer is None:
            return self._agent.send(request, call)
        events = to_events(
            iter((Text(answer),)),
            context_id=self.context_of(request, call),
            call=call,
            message_factory=self._message_factory,
            as_task=False,
        )
        return Turn(events=events, immediate=True)

    def starts_new_task(self, request: SendMessageRequest, call: Call, notes: Mapping[str, Any]) -> bool:
        """See `HubAgent.starts_new_task`."""
        return self._agent.starts_new_task(request, call, notes)

    def cancel(self, call: Call) -> None:
        """See `Agent.cancel`."""
        self._agent.cancel(call)

    def _executed(self, request: SendMessageRequest, call: Call, notes: Mapping[str, Any]) -> Turn:
        if call.task is None or not has_result(notes):
            return self._agent.send(request, call)
        events = result_events(
            notes,
            task_id=call.task.id,
            context_id=self.context_of(request, call),
            message_factory=self._message_factory,
        )
        return Turn(events=events, as_message=False)


def _may_be_command(message: Message) -> bool:
    first = message.parts[0].text if message.parts else None
    return first is not None and first.lstrip()[:1] in ("/", "\uff0f")
