"""Parses and checks routes.toml: the one source for router, agent card and documentation."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from a2a_hub.a2a.model import Binding, Version
from a2a_hub.boundaries.boundary import Boundary, address_problem
from a2a_hub.boundaries.public import Public
from a2a_hub.boundaries.registry import BOUNDARY_KEYS, KINDS
from a2a_hub.routing.compiled_table import CompiledTable, compile_table
from a2a_hub.routing.patterns import BadPattern, compile_pattern
from a2a_hub.routing.routes import HubProfile, Route, RouteTable, RouteTableError
from a2a_hub.text.normalization import compose, normalise
from a2a_hub.toml.checked_table import VARIABLE, CheckedTable, Problem, syntax_problem
from a2a_hub.toml.lines import TomlLines

_ID = re.compile(r"[a-z][a-z0-9-]*")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-+\--~]+")
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
    _check_ids(routes, tables)
    _check_priorities(routes, tables)
    owners: dict[str, Route] = {}
    for route, each in zip(routes, tables, strict=True):
        _check_rules(route, each, owners, literals)
        _check_role(route, each)
        _check_spelling(route, each)
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
    table.refuse_unknown({*Route.__struct_fields__, *BOUNDARY_KEYS})
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
        boundary=_read_boundary(table, required=not role),
        role=role,
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


def _read_boundary(table: CheckedTable, *, required: bool) -> Boundary:
    kind = KINDS[table.choice("boundary", KINDS, required=required) or Public.kind]
    for key in sorted(table.values.keys() & BOUNDARY_KEYS - kind.keys):
        owners = " or ".join(f'"{each.kind}"' for each in KINDS.values() if key in each.keys)
        table.problem(key, f'{key} is no key of boundary "{kind.kind}": delete it, or set boundary = {owners}')
    return kind.read(table)


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
    route: Route, table: CheckedTable, owners: dict[str, Route], literals: Mapping[str, tuple[str, ...]]
) -> None:
    """Check that every rule can match, no keyword has two routes, and only the default has no rule.

    `owners` are the routes of the keywords so far; `literals` are those that each pattern requires (`required_literals`).
    """
    if not route.keywords and not route.patterns and not route.default:
        message = f"route {route.id!r} has no rule: add keywords or patterns, or make it the default"
        table.problem(None, message)
    _check_keywords(route, table, owners)
    _check_patterns(table, "patterns", route.patterns, literals)
    _check_patterns(table, "unless", route.unless, literals)


def _check_role(route: Route, table: CheckedTable) -> None:
    """Check that a route with a role has no agent: the workers of the role fetch its tasks."""
    if not route.role:
        return
    if not _ID.fullmatch(route.role):
        message = f"role {route.role!r} must be lower-case letters, digits and hyphens, starting with a letter"
        table.problem("role", message)
    for key in ("url", "boundary", "audience", "passes_tasks", "extensions"):
        if key in table.values:
            table.problem(key, f"{key} says how an agent is called, and role that nobody is: delete one of the two")


def _check_spelling(route: Route, table: CheckedTable) -> None:
    """Check extensions, which one header lists with commas (A2A 1.0.1 §4.6), and names that are compared letter by letter."""
    for key, pattern, message in _SPELLINGS:
        values: tuple[str, ...] = getattr(route, key)
        for index, value in enumerate(values):
            if value and not pattern.fullmatch(value):
                table.problem(key, message.format(value), index=index)


def _check_keywords(route: Route, table: CheckedTable, owners: dict[str, Route]) -> None:
    seen: set[str] = set()
    for index, keyword in enumerate(route.keywords):
        normal = normalise(keyword)
        owner = owners.setdefault(normal, route)
        if not any(character.isalnum() for character in normal):
            message = f"keyword {keyword!r} has no letter or digit to match: delete it"
        elif owner is not route:
            message = f"keyword {keyword!r} is also one of {owner.id!r}: only one of the two would ever get it"
        elif normal in seen:
            message = f"keyword {keyword!r} stands twice in this route, but for case and width: delete one"
        else:
            message = ""
        seen.add(normal)
        # An empty text has its own problem.
        if message and keyword.strip():
            table.problem("keywords", message, index=index)


def _check_patterns(
    table: CheckedTable, key: str, patterns: tuple[str, ...], literals: Mapping[str, tuple[str, ...]]
) -> None:
    for index, pattern in enumerate(patterns):
        if compose(pattern) != pattern:
            message = f"pattern {pattern!r} can never match a normalised text: write {compose(pattern)!r}"
            table.problem(key, message, index=index)
        try:
            compiled = compile_pattern(pattern)
            if pattern and not literals.get(pattern) and compiled.search(""):
                table.problem(key, f"pattern {pattern!r} matches an empty text, and so every text", index=index)
        except BadPattern as reason:
            message = f"pattern {pattern!r} is not RE2 ({reason}); RE2 has no look-around and no back-references"
            table.problem(key, message, index=index)
