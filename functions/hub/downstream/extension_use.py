"""For which extensions an agent is asked: those of its route, but the `development-tool` extension only where there is a client
of it, or the agent refuses all others. The hub is the client then, for people who can only read and write text.
"""

from __future__ import annotations

from msgspec.structs import replace

from a2a_hub.a2a.client_response import Endpoint
from a2a_hub.routing.routes import Route
from functions.hub.downstream.interface import AgentRequest


def asked_for(route: Route, endpoint: Endpoint, agent_request: AgentRequest) -> tuple[str, ...]:
    """The extensions of the route that this turn uses."""
    if not route.extensions or agent_request.development_tool or agent_request.executes:
        return route.extensions
    from a2a_hub.a2a.extensions.development_tool import URI

    if URI in endpoint.required_extensions:
        return route.extensions
    return tuple(uri for uri in route.extensions if uri != URI)


def settled_for(agent_request: AgentRequest, extensions: tuple[str, ...]) -> AgentRequest:
    """With the settings that a session's first message must have; that they name no workspace leaves it to the agent."""
    message = agent_request.message
    if (
        not extensions
        or agent_request.development_tool
        or agent_request.executes
        or message.task_id is not None
    ):
        return agent_request
    from a2a_hub.a2a.extensions.development_tool import URI, AgentSettings
    from a2a_hub.a2a.extensions.schema_json import Spelling, metadata_of

    if URI not in extensions:
        return agent_request
    metadata = metadata_of(AgentSettings(), Spelling.SNAKE) | (message.metadata or {})
    extended = tuple(dict.fromkeys((*message.extensions, URI)))
    return replace(agent_request, message=replace(message, metadata=metadata, extensions=extended))
