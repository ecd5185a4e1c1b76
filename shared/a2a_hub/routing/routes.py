"""Loads and checks routes.toml: the one source for router, agent card and documentation."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property, lru_cache

from msgspec import Struct

from a2a_hub.a2a.model import Binding
from a2a_hub.a2a.versions import Version
from a2a_hub.routing.compiled_table import CompiledTable, compile_table
from a2a_hub.routing.rules import (
    address_problem,
    check_access,
    check_extensions,
    check_ids,
    check_priorities,
    check_roles,
    check_rules,
)
from a2a_hub.toml.checked_table import VARIABLE, CheckedTable, Problem
from a2a_hub.toml.lines import TomlLines


class Boundary(StrEnum):
    """What lies between the hub and a downstream agent, and so which credential the hub sends."""

    PUBLIC = "public"
    IAM = "iam"
    GOOGLE_API = "google_api"
    USER = "user"


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
    audience: str | None = None
    """The audience of the ID token; None stands for the origin of the URL."""
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


def load(
    text: str,
    *,
    variables: Mapping[str, str],
    file: str = "routes.toml",
    compiled: CompiledTable | None = None,
) -> RouteTable:
    """The route table that `text` describes, with every `${NAME}` in an address taken from `variables`.

    `compiled` spares compiling the text. Raises RouteTableError with all problems at once, each with its line and what to do.
    """
    document, literals = compiled or _compiled(text, file)
    lines = TomlLines(text)
    problems: list[Problem] = []

    def table(path: tuple[str | int, ...], values: object) -> CheckedTable:
        if not isinstance(values, Mapping):
            problems.append(
                Problem(lines.line_of(path), f"{path[0]} must be a table: write [{path[0]}] above its keys")
            )
        checked = values if isinstance(values, Mapping) else {}
        return CheckedTable(path=path, values=checked, lines=lines, variables=variables, problems=problems)

    root = table((), document)
    root.refuse_unknown(("hub", "routes"))
    hub = _read_hub(table(("hub",), document.get("hub", {})))
    listed = document.get("routes", [])
    if isinstance(listed, Mapping) and listed:
        root.problem("routes", "[routes] is one table: write [[routes]], with two brackets, above each route")
        raise RouteTableError(file, problems)
    if not isinstance(listed, list) or not listed:
        root.problem("routes", "there are no routes: write each one under a [[routes]] line")
        listed = []
    tables = [table(("routes", index), values) for index, values in enumerate(listed)]
    routes = tuple(_read_route(each) for each in tables)
    check_ids(routes, tables)
    check_priorities(routes, tables)
    check_rules(routes, tables, literals)
    check_roles(routes, tables)
    check_extensions(routes, tables)
    check_access(routes, tables)
    if problems:
        raise RouteTableError(file, problems)
    return RouteTable(hub=hub, routes=routes, literals=literals)


def unset_variables(
    text: str,
    variables: Mapping[str, str],
    *,
    file: str = "routes.toml",
    compiled: CompiledTable | None = None,
) -> tuple[str, ...]:
    """The names of the `${NAME}` in the values of a table that `variables` does not set, sorted. Raises RouteTableError."""
    named: set[str] = set()

    def collect(value: object) -> None:
        if isinstance(value, str):
            if "${" in value:
                named.update(VARIABLE.findall(value))
        elif isinstance(value, dict | list):
            for inner in value.values() if isinstance(value, dict) else value:
                collect(inner)

    collect((compiled or _compiled(text, file)).document)
    return tuple(sorted(name for name in named if not variables.get(name)))


# A start asks for the unset variables of a table first, and loads it then.
@lru_cache(maxsize=1)
def _compiled(text: str, file: str) -> CompiledTable:
    try:
        return compile_table(text)
    except ValueError as problem:
        from a2a_hub.toml.syntax import syntax_problem

        raise RouteTableError(file, [syntax_problem(text, problem)]) from None


def _read_hub(table: CheckedTable) -> HubProfile:
    table.refuse_unknown(HubProfile.__struct_fields__)
    absent = HubProfile()
    if ("provider_organization" in table.values) != ("provider_url" in table.values):
        table.problem(None, "provider_organization and provider_url go together: write both, or neither")
    return HubProfile(
        name=table.text("name", absent.name),
        name_ja=table.text("name_ja", table.text("name", absent.name_ja)),
        description=table.text("description", absent.description),
        description_ja=table.text("description_ja", table.text("description", absent.description_ja)),
        version=table.text("version", absent.version),
        provider_organization=table.text("provider_organization", "") or None,
        provider_url=_address(table, "provider_url", ""),
        documentation_url=_address(table, "documentation_url", ""),
        icon_url=_address(table, "icon_url", ""),
    )


def _read_route(table: CheckedTable) -> Route:
    table.refuse_unknown(Route.__struct_fields__)
    default = table.flag("default")
    role = table.text("role", "")
    name, description = table.text("name"), table.text("description")
    return Route(
        id=table.text("id"),
        name=name,
        name_ja=table.text("name_ja", name),
        description=description,
        description_ja=table.text("description_ja", description),
        examples=table.texts("examples"),
        tags=table.texts("tags"),
        keywords=table.texts("keywords"),
        patterns=table.texts("patterns"),
        unless=table.texts("unless"),
        priority=table.whole("priority", 0 if default else None),
        url=_address(table, "url", "" if role else None) or "",
        boundary=table.choice("boundary", Boundary, required=not role) or Boundary.PUBLIC,
        role=role,
        audience=table.expanded("audience", "") or None,
        protocol_version=table.choice("protocol_version", Version),
        binding=table.choice("binding", Binding),
        timeout_seconds=table.seconds("timeout_seconds", 30.0),
        connect_timeout_seconds=table.seconds("connect_timeout_seconds", 5.0),
        stream_idle_timeout_seconds=table.seconds("stream_idle_timeout_seconds", 120.0),
        retries=table.whole("retries", 1),
        max_response_bytes=table.whole("max_response_bytes", 4 << 20, least=1),
        sticky=table.flag("sticky"),
        follow_ups=table.flag("follow_ups"),
        passes_tasks=table.flag("passes_tasks"),
        extensions=table.texts("extensions"),
        default=default,
        optional=table.flag("optional"),
        input_modes=table.texts("input_modes", ("text/plain",)),
        allow_domains=table.texts("allow_domains"),
        allow_emails=table.texts("allow_emails"),
        allow_clients=table.texts("allow_clients"),
    )


def _address(table: CheckedTable, key: str, default: str | None = None) -> str | None:
    before = len(table.problems)
    value = table.expanded(key, default)
    if value and len(table.problems) == before and (message := address_problem(value)):
        table.problem(key, f"{key} is {value!r}: {message}")
    return value or None
