"""The hub as an A2A agent: from the protocol's request to a turn, and back to the protocol's events."""

import time
from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a.a2ui import acted_on
from a2a_hub.a2a.agent import Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.a2a.model import Event, SendMessageRequest, may_end_turn, text_of
from a2a_hub.a2a.reply import Text, to_events
from a2a_hub.identity.principal import is_operator
from a2a_hub.routing.hub_card import ROUTE_EXTENSION
from a2a_hub.routing.routes import may_use
from a2a_hub.text.display import displayed
from functions.hub.commands.agent_commands import has_result, result_events
from functions.hub.commands.commands import Commands
from functions.hub.conversations import EXECUTES
from functions.hub.downstream.mirror import is_mirrored, mirrored
from functions.hub.pipeline import Pipeline
from functions.hub.turn import IncomingTurn, TurnRecord


class HubAgent(Struct, frozen=True):
    """The hub as one agent; see `a2a_hub.a2a.agent.Agent`. Commands are answered here; everything else is routed to an agent.

    `operators`: see `is_operator`.
    """

    pipeline: Pipeline
    commands: Commands
    operators: Collection[str]

    def context_of(self, request: SendMessageRequest, call: Call) -> str:
        """See `Agent.context_of`."""
        return request.message.context_id or self.pipeline.conversations.mint(call.owner)

    def bypasses_task(self, request: SendMessageRequest, call: Call) -> bool:
        """See `Agent.bypasses_task`: a command does."""
        message = request.message
        return _may_be_command(request) and self.commands.is_command(text_of(message), call, message.context_id)

    def starts_new_task(self, request: SendMessageRequest, call: Call, notes: Mapping[str, Any]) -> bool:
        """Return True for a message that belongs to another route; see `Agent.starts_new_task`."""
        return self.pipeline.starts_new_task(self._incoming(request, call, dict(notes)))

    def cancel(self, call: Call) -> None:
        """See `Agent.cancel`."""
        self.pipeline.cancel(call)

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        """See `Agent.send`. Raises A2AError for an unknown skill."""
        notes = call.task.notes if call.task else {}
        if call.task is not None and has_result(notes):
            context_id = self.context_of(request, call)
            return Turn(events=result_events(notes, task_id=call.task.id, context_id=context_id))
        if EXECUTES not in notes and _may_be_command(request):
            answer = self.commands.answer(text_of(request.message), call, request.message.context_id)
            if answer is not None:
                # A listed task may be a program's, whose texts are not filtered for user interfaces.
                shown = displayed(answer, self.pipeline.link_hosts) if call.for_ui else answer
                context_id, pieces = self.context_of(request, call), iter((Text(shown),))
                events = to_events(pieces, context_id=context_id, call=call, as_task=False)
                return Turn(events=events, immediate=True)
        return self._routed_turn(request, call, notes)

    def _routed_turn(self, request: SendMessageRequest, call: Call, notes: dict[str, Any]) -> Turn:
        if not request.message.parts and not call.for_ui:
            # People get the failure as text; programs get the error (§4.1.4).
            raise invalid_field("message.parts", "must hold at least one part")
        incoming = self._incoming(request, call, notes)
        context_id = incoming.context.context_id
        turn, translated = self.pipeline.start_turn(incoming)
        route = turn.choice.route if turn.choice else None
        if route is not None and route.role and call.task is not None and may_use(route, call.principal):
            return Turn(events=iter(()), role=route.role)
        # A caller's token is not stored for a retry, and a command's events come over one connection only.
        may_be_retried = route is not None and not route.boundary.per_caller and not incoming.executes
        retry_seconds = route.retry_seconds if route is not None and may_be_retried else 0
        immediate = turn.immediate
        if route is not None and is_mirrored(route, call):
            events = mirrored(translated, context_id=context_id, call=call)
            immediate = False
        else:
            pieces = chain.from_iterable(pieces for _, pieces in translated)
            events = to_events(pieces, context_id=context_id, call=call, as_task=not immediate)
        if ROUTE_EXTENSION in incoming.extensions:
            events = _with_explanation(events, turn, for_operator=is_operator(call.principal, self.operators))
        return Turn(events=events, immediate=immediate, retry_seconds=retry_seconds)

    def _incoming(self, request: SendMessageRequest, call: Call, notes: dict[str, Any]) -> IncomingTurn:
        """Return the turn of a request. Raises A2AError for a skill that is not a string."""
        skill, skill_field = _skill(request)
        configuration = request.configuration
        returns_immediately = configuration is not None and configuration.return_immediately
        extensions = () if call.for_ui else call.extensions
        return IncomingTurn(
            call=call,
            message=request.message,
            context=self.pipeline.conversations.ids_of(call.owner, request.message.context_id),
            skill=skill,
            skill_field=skill_field,
            # Without a waiting caller, too: the first event of a stream names the agent's own task. And for programs that use the
            # extension, which puts everything into updates: they find them in the task's history.
            streaming=call.streaming or returns_immediately or URI in extensions,
            extensions=extensions,
            acts_on=acted_on(request.message),
            executes=EXECUTES in notes,
            notes=notes,
        )


def _may_be_command(request: SendMessageRequest) -> bool:
    parts = request.message.parts
    return len(parts) > 0 and all(part.text is not None for part in parts) and _skill(request)[0] is None


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


def _with_explanation(events: Iterator[Event], turn: TurnRecord, *, for_operator: bool) -> Iterator[Event]:
    """Yield the events; the one that ends the turn comes after its agent has ended, with the explanation in its metadata, as the
    `route` extension has it (docs/api.md).

    Only that `for_operator` has the sentences that the verifier dropped.
    """
    started = time.perf_counter()
    last: Event | None = None
    for event in events:
        if last is not None:
            yield last
            last = None
        if may_end_turn(event):
            last = event
        else:
            yield event
    if last is not None:
        explanation = _explanation(turn, total_ms=round((time.perf_counter() - started) * 1000, 3))
        lists = (data.get("dropped") for data in turn.data if for_operator)
        if dropped := [each for dropped in lists if isinstance(dropped, list) for each in dropped]:
            explanation["dropped"] = dropped
        yield replace(last, metadata={**(last.metadata or {}), ROUTE_EXTENSION: explanation})


def _explanation(turn: TurnRecord, *, total_ms: float) -> dict[str, Any]:
    route, choice = turn.route, turn.choice
    endpoint = turn.downstream.endpoint if turn.downstream else None
    values = {
        "requestId": turn.incoming.call.request_id,
        "route": route.id if route else None,
        "rule": choice.rule if choice else None,
        "words": choice.words if choice else None,
        "reason": turn.reason,
        "agent": route.name if route else None,
        "agentJa": route.name_ja if route else None,
        "boundary": route.boundary.kind if route else None,
        "version": endpoint.version if endpoint else None,
        "binding": endpoint.binding if endpoint else None,
        "declined": turn.declined,
        "citations": turn.citations,
        "error": turn.failure.kind if turn.failure else None,
        "timings": {"routingMs": turn.routing_ms, "downstreamMs": turn.downstream_ms, "totalMs": total_ms},
    }
    return {name: value for name, value in values.items() if value}
