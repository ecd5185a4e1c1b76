"""The routes of the hub, as routes.toml describes them: each agent, and who may use it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from a2a_hub.a2a.model import Binding, Version
from a2a_hub.boundaries.boundary import Boundary
from a2a_hub.identity.principal import Principal
from a2a_hub.toml.checked_table import Problem


class Route(Struct, frozen=True, kw_only=True):
    """One downstream agent: how it is presented, which texts are its own, and how it is called."""

    id: str
    name: str
    name_ja: str
    description: str
    description_ja: str
    examples: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    """Patterns that take the route out of the choice for a text, whatever else matched."""
    priority: int = 0
    url: str
    boundary: Boundary
    protocol_version: Version | None = None
    """None: as the agent's own card says."""
    binding: Binding | None = None
    """None: as the agent's own card says, or JSONRPC."""
    timeout_seconds: float = 30.0
    connect_timeout_seconds: float = 5.0
    stream_idle_timeout_seconds: float = 120.0
    retries: int = 1
    """How often a request of which nothing was sent is tried again."""
    max_response_bytes: int = 4 << 20
    sticky: bool = False
    """Whether a text of this route's conversation that matches no rule stays with this route."""
    follow_ups: bool = False
    """Whether it does when it only makes sense with the question before, such as "and abroad?"."""
    default: bool = False
    optional: bool = False
    """Whether the table does without this route where the variable in its address is not set."""
    role: str = ""
    """The pull workers who do the work of this route; it has no url and no boundary then."""
    passes_tasks: bool = False
    """Whether callers who can show more than text get the agent's own tasks, messages and artifacts instead of its text."""
    extensions: tuple[str, ...] = ()
    """URIs of the A2A extensions that the agent is asked to use, such as those that its card requires."""
    input_modes: tuple[str, ...] = ("text/plain",)
    allow_domains: tuple[str, ...] = ()
    """Hosted domains whose users may use the route. With no `allow_…` key at all, everybody may."""
    allow_emails: tuple[str, ...] = ()
    allow_clients: tuple[str, ...] = ()
    """Names of static clients that may use the route."""


class HubProfile(Struct, frozen=True, kw_only=True):
    """How the hub presents itself on its agent card: the optional [hub] table."""

    name: str = "A2A hub"
    name_ja: str = "A2A ハブ"
    description: str = "Passes each question on to the agent that can answer it."
    description_ja: str = "質問を、答えられるエージェントに取り次ぎます。"
    version: str = "1.0.0"
    provider_organization: str | None = None
    provider_url: str | None = None
    documentation_url: str | None = None
    icon_url: str | None = None


class RouteTable(Struct, frozen=True, kw_only=True, dict=True):
    """A table that holds: unique ids, no two routes with the same priority, exactly one default."""

    hub: HubProfile
    routes: tuple[Route, ...]
    literals: Mapping[str, tuple[str, ...]] = {}
    """Of patterns that were compiled with the table, what each requires (`required_literals`)."""

    @cached_property
    def default(self) -> Route:
        """The route of a text that matches no rule."""
        return next(route for route in self.routes if route.default)

    @cached_property
    def by_id(self) -> Mapping[str, Route]:
        """Each route by its id."""
        return {route.id: route for route in self.routes}


class RouteTableError(ValueError):
    """Everything that is wrong with a route table, in the order of its lines."""

    def __init__(self, file: str, problems: list[Problem]) -> None:
        self.file = file
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(f"{file}:{problem.line}: {problem.message}" for problem in self.problems))


def restricted(route: Route) -> bool:
    """Only some may use the route."""
    return bool(route.allow_domains or route.allow_emails or route.allow_clients)


def may_use(route: Route, principal: Principal | None) -> bool:
    """Whether the caller may use the route; None is an anonymous caller, who may use what everybody may."""
    if principal is None:
        return not restricted(route)
    if principal.routes is not None and route.id not in principal.routes:
        return False
    if not restricted(route):
        return True
    return (
        principal.hosted_domain in route.allow_domains
        or principal.email in route.allow_emails
        or principal.client in route.allow_clients
    )
