"""The hub as an A2A agent: from the protocol's request to a turn, and back to the protocol's events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from functions.hub.contexts import ids_of
from functions.hub.pipeline import Pipeline
from functions.hub.turn import Incoming
from shared.a2a.call import Call
from shared.a2a.errors import invalid_field
from shared.a2a.model import Event, SendMessageRequest
from shared.a2a.reply import Mint, to_events


class HubAgent:
    """See `shared.a2a.agent.Agent`."""

    def __init__(self, pipeline: Pipeline, *, mint: Mint) -> None:
        self._pipeline = pipeline
        self._mint = mint

    def send(self, request: SendMessageRequest, call: Call) -> Iterator[Event]:
        """The events of one turn. Raises A2AError for an unknown skill."""
        owner = call.principal.subject if call.principal else ""
        context_id, downstream_context_id = ids_of(owner, request.message.context_id or None)
        skill, skill_field = _skill(request)
        incoming = Incoming(
            message=request.message,
            skill=skill,
            skill_field=skill_field,
            owner=owner,
            principal=call.principal,
            context_id=context_id,
            downstream_context_id=downstream_context_id,
            streaming=call.streaming,
            request_id=call.request_id,
            authorization=call.authorization,
            traceparent=call.traceparent,
            cancellation=call.cancellation,
        )
        _, pieces = self._pipeline.begin(incoming, call.record)
        return to_events(pieces, context_id=context_id, call=call, mint=self._mint)


def _skill(request: SendMessageRequest) -> tuple[str | None, str]:
    """`metadata.skill` of the message (seed 003), or of the request, with the path of its field."""
    path = "message.metadata.skill"
    for place, metadata in ((path, request.message.metadata), ("metadata.skill", request.metadata)):
        skill: Any = (metadata or {}).get("skill")
        if skill is not None:
            if not isinstance(skill, str):
                raise invalid_field(place, "must be a string")
            return skill, place
    return None, path
