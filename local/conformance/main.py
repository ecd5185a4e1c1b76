"""The entry point of the conformance agent."""

from a2a_hub.a2a.card import AgentSkill
from a2a_hub.agents.function import agent_card, handler_of
from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.runtime.function import MESSAGE_FACTORY, stdout_log
from local.conformance.agent import ConformanceAgent

_card = agent_card(
    name="Conformance agent",
    description="Does what a message's id begins with.",
    version="1.0.0",
    url="http://127.0.0.1",
    skills=(AgentSkill(id="conformance", name="Conformance", description="For kits.", tags=("test",)),),
)

conformance = entry_point(
    handler_of(ConformanceAgent(message_factory=MESSAGE_FACTORY), card=_card, log=stdout_log("conformance"))
)
