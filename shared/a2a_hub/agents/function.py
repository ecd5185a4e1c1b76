"""The request path of a function that serves one A2A agent: its card, its health, the protocol."""

import time
from collections.abc import Callable, Iterator

from a2a_hub.a2a.agent import Agent, AnsweringAgent
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import OUTPUT_MODES, AgentCapabilities, AgentCard, AgentSkill, interfaces
from a2a_hub.a2a.card_endpoint import CardEndpoint
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Piece
from a2a_hub.a2a.server import A2AServer, Limits
from a2a_hub.http.dispatch import POST, Dispatcher, Identified
from a2a_hub.http.messages import Handler, Request
from a2a_hub.identity.authentication import Caller
from a2a_hub.runtime.function import MESSAGE_FACTORY, anonymous, serve, status_pages
from a2a_hub.telemetry.log import Log, Record

__all__ = ["agent_card", "agent_function"]


def agent_card(*, name: str, description: str, version: str, url: str, skills: tuple[AgentSkill, ...]) -> AgentCard:
    """Return the card of an agent behind the hub. It declares no authentication: IAM stands in front of it, or nothing."""
    return AgentCard(
        name=name,
        description=description,
        version=version,
        supported_interfaces=interfaces(url),
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=False),
        default_input_modes=("text/plain",),
        default_output_modes=OUTPUT_MODES,
        skills=skills,
    )


def agent_function(
    answer: Callable[[SendMessageRequest, Call], Iterator[Piece]], *, card: AgentCard, log: Log
) -> Handler:
    """Return a handler for the whole function. `answer` is the agent; see `a2a_hub.a2a.reply` for what it yields."""

    def noted(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        call.record["text"] = text_of(request.message)
        return answer(request, call)

    agent = AnsweringAgent(noted if log.with_text else answer, message_factory=MESSAGE_FACTORY)
    return handler_of(agent, card=card, log=log)


def handler_of(agent: Agent, *, card: AgentCard, log: Log) -> Handler:
    """Return a handler for a function that serves this agent to everybody who reaches it."""
    return serve_agent(A2AServer(agent, card=lambda: card, log=log, limits=Limits()), card=card, log=log)


def serve_agent(
    server: A2AServer,
    *,
    card: AgentCard,
    log: Log,
    identify: Callable[[Request, Record], Caller] = anonymous,
    before: Callable[[], object] | None = None,
) -> Handler:
    """Return a handler for a function with this server, its card and its status pages. `before` is called with each request."""
    cards = CardEndpoint(lambda: card, protocol_version_v0_3="0.3.0", max_age_seconds=300, now=time.time)
    dispatcher = Dispatcher(
        (*status_pages(card.name), *cards.endpoints, Identified("/", server.handle, POST)),
        identify=identify,
        fallback=server.handle,
    )
    return serve(dispatcher.handle, log=log, before=before)
