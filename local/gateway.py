"""What the gateway lets through and to whom, as data: the same rules whatever program applies them."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class GatewayRoute:
    """Requests that go to one function; the first route that matches takes the request."""

    to: str
    """The function's name."""
    path: str | None = None
    """The exact path, without the query; None matches every path."""
    methods: tuple[str, ...] = ()
    """The methods; empty matches every method."""


LOCAL_ROUTES = (
    GatewayRoute(to="agent_card", path="/.well-known/agent-card.json", methods=("GET", "HEAD")),
    GatewayRoute(to="agent_card", path="/.well-known/agent.json", methods=("GET", "HEAD")),
    GatewayRoute(to="hub"),
)
