"""The hub as an A2A agent: from the protocol's request to a turn, and back to the protocol's events."""

from collections.abc import Iterator, Mapping
from typing import Any

from a2a_hub.a2a.agent import Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.a2a.model import Message, SendMessageRequest, text_of
from a2a_hub.a2a.reply import MessageFactory, Piece, Text, to_events
from a2a_hub.routing.routes import may_use
from functions.hub.commands.agent_commands import has_result, result_events
from functions.hub.commands.commands import Commands
from functions.hub.conversations import EXECUTES, ids_of, mint_context
from functions.hub.downstream.event_translator import TranslatedEvent
from functions.hub.downstream.mirror import mirrored
from functions.hub.pipeline import IncomingTurn, Pipeline


class HubAgent:
    """The agents behind the hub as one; `CommandAgent` stands in front of it."""

    def __init__(self, pipeline: Pipeline, *, message_factory: MessageFactory) -> None:
        self._pipeline = pipeline
        self._message_factory = message_factory

    def context_of(self, request: SendMessageRequest, call: Call) -> str:
        """See `Agent.context_of`."""
        return request.message.context_id or mint_context(_owner(call))

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        """See `Agent.send`. Raises A2AError for an unknown skill."""
        if not request.message.parts and not call.for_ui:
            # People get a text; a program gets the error (§4.1.4).
            raise invalid_field("message.parts", "must hold at least one part")
        incoming = _incoming(request, call, call.task.notes if call.task else {})
        context_id = incoming.context_id
        turn, translated = self._pipeline.start_turn(incoming, call.record)
        route = turn.choice.route if turn.choice else None
        if route is not None and route.role and call.task is not None and may_use(route, call.principal):
            return Turn(events=iter(()), role=route.role)
        if route is not None and route.passes_tasks and not call.for_ui:
            events = mirrored(translated, context_id=context_id, call=call, message_factory=self._message_factory)
            return Turn(events=events, as_message=False)
        immediate = turn.immediate
        events = to_events(
            _pieces(translated),
            context_id=context_id,
            call=call,
            message_factory=self._message_factory,
            as_task=not immediate,
        )
        return Turn(events=events, immediate=immediate)

    def starts_new_task(self, request: SendMessageRequest, call: Call, notes: Mapping[str, Any]) -> bool:
        """Return True for a message that belongs to another route; see `a2a_hub.tasks.task_resolution.NewTaskPolicy`."""
        return self._pipeline.starts_new_task(_incoming(request, call, dict(notes)))

    def cancel(self, call: Call) -> None:
        """See `Agent.cancel`."""
        assert call.task is not None, "cancel() needs a stored task"
        context_id = call.task.before.context_id if call.task.before else None
        _, downstream_context_id = ids_of(_owner(call), context_id)
        self._pipeline.cancel(_owner(call), downstream_context_id, call)


class CommandAgent:
    """The whole hub: commands are answered here, everything else by `agent`. See `a2a_hub.a2a.agent.Agent`."""

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


def _incoming(request: SendMessageRequest, call: Call, notes: dict[str, Any]) -> IncomingTurn:
    """Return the turn of a request. Raises A2AError for a skill that is not a string."""
    context_id, downstream_context_id = ids_of(_owner(call), request.message.context_id or None)
    skill, skill_field = _skill(request)
    configuration = request.configuration
    returns_immediately = configuration is not None and configuration.return_immediately
    development_tool = not call.for_ui and URI in call.extensions
    return IncomingTurn(
        message=request.message,
        skill=skill,
        skill_field=skill_field,
        owner=_owner(call),
        principal=call.principal,
        context_id=context_id,
        downstream_context_id=downstream_context_id,
        # Without a waiting caller, too: the first event of a stream names the agent's own task. And for programs that use the
        # extension, which puts everything into updates: they find them in the task's history.
        streaming=call.streaming or returns_immediately or development_tool,
        request_id=call.request_id,
        authorization=call.authorization,
        traceparent=call.traceparent,
        cancellation=call.cancellation,
        development_tool=development_tool,
        text_only=call.for_ui,
        task_id=call.task.id if call.task else None,
        executes=EXECUTES in notes,
        notes=notes,
    )


def _owner(call: Call) -> str:
    return call.principal.subject if call.principal else ""


def _may_be_command(message: Message) -> bool:
    first = message.parts[0].text if message.parts else None
    return first is not None and first.lstrip()[:1] in ("/", "\uff0f")


def _pieces(events: Iterator[TranslatedEvent]) -> Iterator[Piece]:
    for _, pieces in events:
        yield from pieces


def _skill(request: SendMessageRequest) -> tuple[str | None, str]:
    """Return `metadata.skill` of the message or of the request, with the path of its field."""
    path = "message.metadata.skill"
    for place, metadata in ((path, request.message.metadata), ("metadata.skill", request.metadata)):
        skill: Any = (metadata or {}).get("skill")
        if skill is not None:
            if not isinstance(skill, str):
                raise invalid_field(place, "must be a string")
            return skill, place
    return None, path
