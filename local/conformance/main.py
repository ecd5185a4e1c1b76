"""The entry point of the conformance agent."""

import time

from a2a_hub.a2a.card import AgentSkill
from a2a_hub.a2a.card_endpoint import CardEndpoint
from a2a_hub.a2a.server import A2AServer, Limits
from a2a_hub.agents.function import ANONYMOUS, agent_card
from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.http.messages import Request, Response
from a2a_hub.runtime.function import MESSAGE_FACTORY, health, not_found, stdout_log
from a2a_hub.telemetry.log import Record
from local.conformance.agent import ConformanceAgent

_log = stdout_log("conformance")
_card = agent_card(
    name="Conformance agent",
    description="Does what a message's id begins with.",
    version="1.0.0",
    url="http://127.0.0.1",
    skills=(AgentSkill(id="conformance", name="Conformance", description="For kits.", tags=("test",)),),
)
_server = A2AServer(
    ConformanceAgent(message_factory=MESSAGE_FACTORY), card=lambda: _card, log=_log, limits=Limits()
)
_cards = CardEndpoint(lambda: _card, protocol_version_v0_3="0.3.0", max_age_seconds=300, now=time.time)


def _handle(request: Request, record: Record) -> Response:
    return (
        _cards.handle(request)
        or health(request, _card.name)
        or _server.handle(request, ANONYMOUS, record)
        or not_found(request)
    )


conformance = entry_point(_log.requests(_handle))
