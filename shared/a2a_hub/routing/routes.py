"""The routes of the hub, as routes.toml describes them: each agent, and its permitted callers."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property

from msgspec import Struct

from a2a_hub.a2a.model import Binding, Version
from a2a_hub.boundaries.boundary import Boundary
from a2a_hub.identity.principal import Principal
from a2a_hub.identity.public_keys import PublicKey
from a2a_hub.toml.checked_table import Problem


class BreakerLimits(Struct, frozen=True, kw_only=True):
    """The limits of a circuit breaker: after `failures` in a row, the agent is left alone for `pause_seconds`."""

    failures: int = 5
    pause_seconds: float = 30.0


class Kind(StrEnum):
    """The protocol of a downstream agent."""

    A2A = "a2a"
    MCP = "mcp"


class Safety(StrEnum):
    """The handling of a request or an answer in which the safety check finds something."""

    BLOCK = "block"
    REDACT = "redact"
    """Without personal data, if that is all that was found; else as `block`."""
    TELL = "tell"
    """Unchanged, with a note to the person and in the log."""


class Route(Struct, frozen=True, kw_only=True):
    """One downstream agent: its presentation, the rules for its texts, and its address and limits."""

    id: str
    name: str
    name_ja: str
    description: str
    description_ja: str
    examples: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Titles of its documents and the like: like keywords, but decided before those of all routes."""
    named_by: tuple[str, ...] = ()
    """Patterns of texts that name its sources, decided before all keywords."""
    unless: tuple[str, ...] = ()
    """Patterns that exclude the route for a text, even if its keywords or patterns match."""
    priority: int = 0
    url: str
    boundary: Boundary
    kind: Kind = Kind.A2A
    tool: str = ""
    """The one tool of an MCP server that is called for each text, in its argument `text_argument`; "" lets a model choose."""
    text_argument: str = ""
    read_only_tools: tuple[str, ...] = ()
    """Tools that are called without confirmation, though the server does not call them read-only."""
    protocol_version: Version | None = None
    """None: as the agent's own card says."""
    binding: Binding | None = None
    """None: as the agent's own card says, or JSONRPC."""
    timeout_seconds: float = 30.0
    connect_timeout_seconds: float = 5.0
    stream_idle_timeout_seconds: float = 120.0
    retries: int = 1
    """Further attempts for a request of which nothing was sent."""
    retry_seconds: int = 600
    """The time for which a task without a waiting caller is retried while its agent is away."""
    breaker: BreakerLimits | None = BreakerLimits()
    """None: no circuit breaker."""
    turns_per_minute: int = 0
    concurrent_turns: int = 0
    model_calls_per_day: int = 0
    """The limits of all its callers together; 0 is none. Each turn of a route with `model_calls_per_day` counts as a call."""
    max_response_bytes: int = 4 << 20
    """The limit of an answer; of a stream, that of its texts, data and files, since each chunk has an envelope beside them."""
    sticky: bool = False
    """True if a text that matches no rule stays with this route of the conversation's last turn."""
    follow_ups: bool = False
    """True if only a follow-up that depends on the previous question stays, such as "and abroad?"."""
    default: bool = False
    fallbacks: tuple[str, ...] = ()
    """Ids of the routes whose agents are asked in turn if this one's declines (`a2a_hub.a2a.declining`)."""
    optional: bool = False
    """True if the route is omitted when the variable in its address is not set."""
    role: str = ""
    """The role of the pull workers that do the work of this route, which has no url and no boundary then."""
    safety: Safety | None = None
    """The treatment of requests and answers in which Model Armor finds something; None screens neither."""
    passes_tasks: bool = False
    """True if callers that can show more than text get the agent's own tasks, messages and artifacts."""
    signs_caller_for: str = ""
    """The audience of the signed principal header that the hub adds to each request; "" sends none."""
    card_keys: tuple[PublicKey, ...] = ()
    """Keys of which one must have signed the agent's card; none accepts any card."""
    extensions: tuple[str, ...] = ()
    """URIs of the A2A extensions to activate at the agent, such as those that its card requires."""
    input_modes: tuple[str, ...] = ("text/plain",)
    allow_domains: tuple[str, ...] = ()
    """Hosted domains whose users may use the route. With no `allow_…` key at all, everybody may."""
    allow_emails: tuple[str, ...] = ()
    allow_clients: tuple[str, ...] = ()
    """Names of static clients that may use the route."""


class HubProfile(Struct, frozen=True, kw_only=True):
    """The hub's presentation on its agent card: the optional [hub] table."""

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
    """A valid table: unique ids, unique priorities, exactly one default."""

    hub: HubProfile
    routes: tuple[Route, ...]
    literals: Mapping[str, tuple[str, ...]] = {}
    """The required literals of patterns that were compiled with the table."""

    @cached_property
    def default(self) -> Route:
        """The route of a text that matches no rule."""
        return next(route for route in self.routes if route.default)

    @cached_property
    def by_id(self) -> Mapping[str, Route]:
        """Each route by its id."""
        return {route.id: route for route in self.routes}


class RouteTableError(ValueError):
    """All problems of a route table, in the order of its lines."""

    def __init__(self, file: str, problems: list[Problem]) -> None:
        self.file = file
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(f"{file}:{problem.line}: {problem.message}" for problem in self.problems))


def restricted(route: Route) -> bool:
    """Return True if only some callers may use the route."""
    return bool(route.allow_domains or route.allow_emails or route.allow_clients)


def may_use(route: Route, principal: Principal | None) -> bool:
    """Return True if the caller may use the route; None is an anonymous caller."""
    if principal is None:
        return not restricted(route)
    if principal.routes is not None and route.id not in principal.routes:
        return False
    if not restricted(route):
        return True
    return (
        principal.hosted_domain in route.allow_domains
        or principal.own_email in route.allow_emails
        or principal.client in route.allow_clients
    )
