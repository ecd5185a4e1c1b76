"""Parses and checks routes.toml: the one source for router, agent card and documentation."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct, structs

from a2a_hub.a2a.extensions.development_tool import is_development_tool
from a2a_hub.a2a.model import Binding, Version
from a2a_hub.boundaries.boundary import Boundary, address_problem, is_on_loopback
from a2a_hub.boundaries.kinds import BOUNDARY_KEYS, KINDS, GoogleApi, Public
from a2a_hub.identity.public_keys import EXPECTED, PublicKey, public_keys
from a2a_hub.routing.compiled_table import PATTERN_KEYS, CompiledTable, compile_table
from a2a_hub.routing.patterns import BadPattern, compile_pattern
from a2a_hub.routing.routes import (
    BreakerLimits,
    HubProfile,
    Kind,
    Route,
    RouteTable,
    RouteTableError,
    Safety,
    restricted,
)
from a2a_hub.text.normalization import compose, normalise
from a2a_hub.toml.checked_table import VARIABLE, CheckedTable, Problem, did_you_mean, syntax_problem
from a2a_hub.toml.lines import TomlLines

S = TypeVar("S", bound=Struct)
_fields = cache(structs.fields)
_MAX_FALLBACKS = 3
_ID = re.compile(r"[a-z][a-z0-9-]*")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-+\--~]+")
_OF_KIND = {
    Kind.A2A: ("protocol_version", "binding", "passes_tasks", "card_keys", "extensions"),
    Kind.MCP: ("tool", "text_argument", "read_only_tools"),
}
# Google's own domains, and that of the address whose variable is not set (RFC 6761 §6.4).
_OF_GOOGLE = (".googleapis.com", ".goog", ".invalid")
_DOMAIN = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_EMAIL = re.compile(rf"[^@\s]+@{_DOMAIN.pattern}")
_SPELLINGS = (
    ("extensions", _URI, "extension {!r} is no URI: write the one under which the agent's card names it"),
    (
        "allow_domains",
        _DOMAIN,
        'allow_domains holds {!r}: write a domain by itself and in lower case, as in "example.com"',
    ),
    ("allow_emails", _EMAIL, 'allow_emails holds {!r}: write a whole address, as in "anna@example.com"'),
)


def load(
    text: str,
    *,
    variables: Mapping[str, str],
    file: str = "routes.toml",
    compiled: CompiledTable | None = None,
) -> RouteTable:
    """Return the route table in `text`, with every `${NAME}` in an address replaced from `variables`.

    `compiled` spares compiling the text. Raises RouteTableError with all problems together, each with its line and remedy.
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
    hub = read_hub(table(("hub",), document.get("hub", {})))
    listed = document.get("routes", [])
    if isinstance(listed, Mapping) and listed:
        root.problem("routes", "[routes] is one table: write [[routes]], with two brackets, above each route")
        raise RouteTableError(file, problems)
    if not isinstance(listed, list) or not listed:
        root.problem("routes", "there are no routes: write each one under a [[routes]] line")
        listed = []
    tables = [table(("routes", index), values) for index, values in enumerate(listed)]
    routes = tuple(read_route(each) for each in tables)
    _check_ids(routes, tables)
    _check_priorities(routes, tables)
    owners: dict[str, dict[str, Route]] = {"keywords": {}, "names": {}}
    for route, each in zip(routes, tables, strict=True):
        _check_rules(route, each, owners, literals)
        _check_role(route, each)
        _check_boundary(route, each)
        _check_kind(route, each)
        _check_spelling(route, each)
        _check_permission(route, each)
        _check_fallbacks(route, each, routes)
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
    """Return the names of the unset `${NAME}` in the values of a table, sorted. Raises RouteTableError."""
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


# A start reads the unset variables of a table first, and loads it then.
@lru_cache(maxsize=1)
def _compiled(text: str, file: str) -> CompiledTable:
    try:
        return compile_table(text)
    except ValueError as problem:
        raise RouteTableError(file, [syntax_problem(text, problem)]) from None


def read_hub(table: CheckedTable) -> HubProfile:
    """Return the [hub] table; its mistakes become problems."""
    table.refuse_unknown(HubProfile.__struct_fields__)
    absent = HubProfile()
    if ("provider_organization" in table.values) != ("provider_url" in table.values):
        table.problem(None, "provider_organization and provider_url go together: write both, or neither")
    return _struct(
        table,
        HubProfile,
        name=table.text("name", absent.name),
        name_ja=table.text("name_ja", table.text("name", absent.name_ja)),
        description=table.text("description", absent.description),
        description_ja=table.text("description_ja", table.text("description", absent.description_ja)),
        provider_organization=table.text("provider_organization", "") or None,
        provider_url=_address(table, "provider_url", ""),
        documentation_url=_address(table, "documentation_url", ""),
        icon_url=_address(table, "icon_url", ""),
    )


def read_route(table: CheckedTable) -> Route:
    """Return one [[routes]] table; its mistakes become problems."""
    table.refuse_unknown({*Route.__struct_fields__, *BOUNDARY_KEYS})
    id_, name, description = table.text("id"), table.text("name"), table.text("description")
    role, default = table.text("role", ""), table.flag("default")
    return _struct(
        table,
        Route,
        id=id_,
        name=name,
        name_ja=table.text("name_ja", name),
        description=description,
        description_ja=table.text("description_ja", description),
        priority=table.whole("priority", 0 if default else None),
        url=_address(table, "url", "" if role else None) or "",
        boundary=_read_boundary(table, required=not role),
        kind=table.choice("kind", Kind) or Kind.A2A,
        role=role,
        protocol_version=table.choice("protocol_version", Version),
        binding=table.choice("binding", Binding),
        breaker=_read_breaker(table),
        max_response_bytes=table.whole("max_response_bytes", 4 << 20, minimum=1),
        safety=table.choice("safety", Safety),
        card_keys=_read_card_keys(table),
        default=default,
    )


def _struct(table: CheckedTable, type_: type[S], **fields: Any) -> S:
    """Return the table as a whole. Each field but the given ones has the key of its name, its type, and its default."""
    readers: dict[Any, Callable[[str, Any], object]] = {
        str: table.text,
        int: table.whole,
        float: table.seconds,
        bool: lambda key, _: table.flag(key),
        tuple[str, ...]: table.texts,
    }
    for field in _fields(type_):
        if field.name not in fields:
            fields[field.name] = readers[field.type](field.name, field.default)
    return type_(**fields)


def _read_boundary(table: CheckedTable, *, required: bool) -> Boundary:
    kind = KINDS[table.choice("boundary", KINDS, required=required) or Public.kind]
    for key in sorted(table.values.keys() & BOUNDARY_KEYS - kind.keys):
        owners = " or ".join(f'"{each.kind}"' for each in KINDS.values() if key in each.keys)
        table.problem(key, f'{key} is no key of boundary "{kind.kind}": delete it, or set boundary = {owners}')
    return kind.read(table)


def _read_card_keys(table: CheckedTable) -> tuple[PublicKey, ...]:
    keys: list[PublicKey] = []
    for pem in table.texts("card_keys"):
        try:
            keys += public_keys(pem)
        except ValueError:
            table.problem("card_keys", f"card_keys {EXPECTED}")
    return tuple(keys)


def _read_breaker(table: CheckedTable) -> BreakerLimits | None:
    value = table.values.get("breaker", {})
    if value == "off":
        return None
    if not isinstance(value, Mapping):
        table.problem("breaker", f'breaker is {value!r}: write "off", or {{ failures = 5, pause_seconds = 30 }}')
        return None
    limits = table.inner("breaker", value)
    limits.refuse_unknown(BreakerLimits.__struct_fields__)
    return _struct(limits, BreakerLimits, failures=limits.whole("failures", BreakerLimits().failures, minimum=1))


def _address(table: CheckedTable, key: str, default: str | None = None) -> str | None:
    before = len(table.problems)
    value = table.expanded(key, default)
    if value and len(table.problems) == before and (message := address_problem(value)):
        table.problem(key, f"{key} is {value!r}: {message}")
    return value or None


def _check_ids(routes: Sequence[Route], tables: Sequence[CheckedTable]) -> None:
    """Check that every id is a unique lower-case name, and that exactly one route is the default."""
    first: dict[str, CheckedTable] = {}
    for route, table in zip(routes, tables, strict=True):
        if route.id and not _ID.fullmatch(route.id):
            table.problem(
                "id",
                f"id {route.id!r} must be lower-case letters, digits and hyphens, starting with a letter",
            )
        if route.id and first.setdefault(route.id, table) is not table:
            table.problem(
                "id",
                f"id {route.id!r} is taken by the route at line {first[route.id].line}: choose another",
            )
    defaults = [(route, table) for route, table in zip(routes, tables, strict=True) if route.default]
    if tables and not defaults:
        tables[-1].problem(
            None, "no route is the default: write default = true in the one that takes what matches no rule"
        )
    for route, table in defaults:
        if route.optional:
            table.problem("optional", "the default takes what matches no rule: it is always there")
    for _, table in defaults[1:]:
        table.problem("default", f"{defaults[0][0].id!r} is the default already: only one route can be")


def _check_priorities(routes: Sequence[Route], tables: Sequence[CheckedTable]) -> None:
    """Check that no two routes have the same priority: a text that matches both would have two answers."""
    holders: dict[int, Route] = {}
    for route, table in zip(routes, tables, strict=True):
        # A value of the wrong type has its own problem and was read as 0.
        if type(table.values.get("priority")) is not int:
            continue
        holder = holders.setdefault(route.priority, route)
        if holder is not route:
            table.problem(
                "priority",
                f"priority {route.priority} is also that of {holder.id!r}: each route needs one of its own",
            )


def _check_rules(
    route: Route, table: CheckedTable, owners: dict[str, dict[str, Route]], literals: Mapping[str, tuple[str, ...]]
) -> None:
    """Check that every rule can match, no keyword or name has two routes, and only the default has no rule.

    `owners` are the routes of the keywords and names so far; `literals` are those that each pattern requires
    (`required_literals`).
    """
    if not (route.names or route.named_by or route.keywords or route.patterns or route.default):
        message = f"route {route.id!r} has no rule: add keywords or patterns, or make it the default"
        table.problem(None, message)
    for key, of_key in owners.items():
        _check_keywords(route, table, key, of_key)
    for key in PATTERN_KEYS:
        _check_patterns(table, key, getattr(route, key), literals)


def _check_role(route: Route, table: CheckedTable) -> None:
    """Check that a route with a role has no agent: the workers of the role fetch its tasks."""
    if not route.role:
        return
    if not _ID.fullmatch(route.role):
        message = f"role {route.role!r} must be lower-case letters, digits and hyphens, starting with a letter"
        table.problem("role", message)
    for key in (
        "url",
        "kind",
        "boundary",
        "audience",
        "passes_tasks",
        "safety",
        "signs_caller_for",
        "extensions",
        "retry_seconds",
        "breaker",
    ):
        if key in table.values:
            table.problem(key, f"{key} says how an agent is called, and role that nobody is: delete one of the two")


def _check_boundary(route: Route, table: CheckedTable) -> None:
    """Check that the hub's access token, whose holder can act as the hub, goes to Google alone."""
    if not isinstance(route.boundary, GoogleApi) or not route.url or address_problem(route.url):
        return
    if not is_on_loopback(route.url) and not (urlsplit(route.url).hostname or "").endswith(_OF_GOOGLE):
        table.problem(
            "url",
            f"url is {route.url!r}: boundary google_api sends the hub's own access token, which only hosts below "
            'googleapis.com and goog get; for an agent on Cloud Run, write boundary = "iam"',
        )


def _check_kind(route: Route, table: CheckedTable) -> None:
    """Check that the route has no keys of another protocol."""
    for key in _OF_KIND[Kind.MCP if route.kind is Kind.A2A else Kind.A2A]:
        if key in table.values:
            table.problem(key, f'{key} has no meaning for kind = "{route.kind}": delete it, or change the kind')
    if bool(route.tool) != bool(route.text_argument):
        table.problem(None, "tool and text_argument go together: the one tool, and its argument for the text")


def _check_spelling(route: Route, table: CheckedTable) -> None:
    """Check extensions, which one header lists with commas (A2A 1.0.1 §4.6), and names that are compared letter by letter."""
    for key, pattern, message in _SPELLINGS:
        values: tuple[str, ...] = getattr(route, key)
        for value in values:
            if value and not pattern.fullmatch(value):
                table.problem(key, message.format(value))


def _check_permission(route: Route, table: CheckedTable) -> None:
    """Check that a development agent, which acts in its owner's name, has named callers."""
    if any(map(is_development_tool, route.extensions)) and not restricted(route):
        message = (
            f"the agent of {route.id!r} changes files and runs commands (development-tool), and everybody may use it: name who "
            "may, in allow_emails, allow_domains or allow_clients"
        )
        table.problem("extensions", message)


def _check_fallbacks(route: Route, table: CheckedTable, routes: Sequence[Route]) -> None:
    """Check that the fallbacks are a few other routes with agents: tasks for workers cannot be asked in turn."""
    if route.role and route.fallbacks:
        table.problem("fallbacks", "fallbacks are asked when an agent declines, and role says that there is none")
    if len(route.fallbacks) > _MAX_FALLBACKS:
        table.problem("fallbacks", f"name at most {_MAX_FALLBACKS} fallbacks: the caller waits for each")
    agents = {each.id for each in routes if not each.role} - {route.id}
    for index, fallback in enumerate(route.fallbacks):
        if fallback not in agents:
            hint = did_you_mean(fallback, agents) or f"write one of {', '.join(sorted(agents))}"
            table.problem("fallbacks", f"fallback {fallback!r} is no other route with an agent: {hint}")
        elif fallback in route.fallbacks[:index]:
            table.problem("fallbacks", f"fallback {fallback!r} stands twice: delete one")


def _check_keywords(route: Route, table: CheckedTable, key: str, owners: dict[str, Route]) -> None:
    one = key.removesuffix("s")
    seen: set[str] = set()
    for keyword in getattr(route, key):
        normal = normalise(keyword)
        owner = owners.setdefault(normal, route)
        if not any(character.isalnum() for character in normal):
            message = f"{one} {keyword!r} has no letter or digit to match: delete it"
        elif owner is not route:
            message = f"{one} {keyword!r} is also one of {owner.id!r}: only one of the two would ever get it"
        elif normal in seen:
            message = f"{one} {keyword!r} stands twice in this route, but for case and width: delete one"
        else:
            message = ""
        seen.add(normal)
        # An empty text has its own problem.
        if message and keyword.strip():
            table.problem(key, message)


def _check_patterns(
    table: CheckedTable, key: str, patterns: tuple[str, ...], literals: Mapping[str, tuple[str, ...]]
) -> None:
    for pattern in patterns:
        if compose(pattern) != pattern:
            message = f"pattern {pattern!r} can never match a normalised text: write {compose(pattern)!r}"
            table.problem(key, message)
        try:
            compiled = compile_pattern(pattern)
            if pattern and not literals.get(pattern) and compiled.search(""):
                table.problem(key, f"pattern {pattern!r} matches an empty text, and so every text")
        except BadPattern as reason:
            message = f"pattern {pattern!r} is not RE2 ({reason}); RE2 has no look-around and no back-references"
            table.problem(key, message)
