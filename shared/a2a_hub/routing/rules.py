"""What must hold between the routes of a table, and for the words that choose them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from a2a_hub.routing.patterns import BadPattern, compile_pattern
from a2a_hub.text.normalization import compose, normalise
from a2a_hub.toml.checked_table import CheckedTable

if TYPE_CHECKING:
    from a2a_hub.routing.routes import Route

_ID = re.compile(r"[a-z][a-z0-9-]*")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-+\--~]+")
_DOMAIN = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_EMAIL = re.compile(rf"[^@\s]+@{_DOMAIN.pattern}")
_LOOPBACK = r"localhost|::1|127(\.[0-9]{1,3}){3}"


def check_ids(routes: Sequence[Route], tables: Sequence[CheckedTable]) -> None:
    """Every id is a short lower-case name and used once; exactly one route is the default."""
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


def check_priorities(routes: Sequence[Route], tables: Sequence[CheckedTable]) -> None:
    """No two routes have the same priority: a text that matches both would have two answers."""
    holders: dict[int, Route] = {}
    for route, table in zip(routes, tables, strict=True):
        # A value of the wrong type is a mistake of its own and was read as 0.
        if type(table.values.get("priority")) is not int:
            continue
        holder = holders.setdefault(route.priority, route)
        if holder is not route:
            table.problem(
                "priority",
                f"priority {route.priority} is also that of {holder.id!r}: each route needs one of its own",
            )


def check_rules(
    routes: Sequence[Route], tables: Sequence[CheckedTable], literals: Mapping[str, tuple[str, ...]]
) -> None:
    """Every rule can match, no keyword has two routes, and only the default may have no rule.

    `literals` are those that each pattern requires (`required_literals`).
    """
    owners: dict[str, Route] = {}
    for route, table in zip(routes, tables, strict=True):
        if not route.keywords and not route.patterns and not route.default:
            message = f"route {route.id!r} has no rule: add keywords or patterns, or make it the default"
            table.problem(None, message)
        _check_keywords(route, table, owners)
        _check_patterns(table, "patterns", route.patterns, literals)
        _check_patterns(table, "unless", route.unless, literals)


def check_roles(routes: Sequence[Route], tables: Sequence[CheckedTable]) -> None:
    """A route is one agent's or one role's: the workers of a role fetch its tasks, and are not called."""
    for route, table in zip(routes, tables, strict=True):
        if not route.role:
            continue
        if not _ID.fullmatch(route.role):
            message = (
                f"role {route.role!r} must be lower-case letters, digits and hyphens, starting with a letter"
            )
            table.problem("role", message)
        for key in ("url", "boundary", "audience", "passes_tasks", "extensions"):
            if key in table.values:
                table.problem(
                    key, f"{key} says how an agent is called, and role that nobody is: delete one of the two"
                )


def check_extensions(routes: Sequence[Route], tables: Sequence[CheckedTable]) -> None:
    """Extensions are URIs (A2A 1.0.1 §4.6), and go into one header, separated by commas."""
    for route, table in zip(routes, tables, strict=True):
        for index, uri in enumerate(route.extensions):
            if uri and not _URI.fullmatch(uri):
                message = f"extension {uri!r} is no URI: write the one under which the agent's card names it"
                table.problem("extensions", message, index=index)


def check_access(routes: Sequence[Route], tables: Sequence[CheckedTable]) -> None:
    """Who may use a route is written as it is compared, letter by letter: a domain by itself, an address with both its parts."""
    for route, table in zip(routes, tables, strict=True):
        for index, domain in enumerate(route.allow_domains):
            if domain and not _DOMAIN.fullmatch(domain):
                message = f'allow_domains holds {domain!r}: write a domain by itself and in lower case, as in "example.com"'
                table.problem("allow_domains", message, index=index)
        for index, email in enumerate(route.allow_emails):
            if email and not _EMAIL.fullmatch(email):
                message = f'allow_emails holds {email!r}: write a whole address, as in "anna@example.com"'
                table.problem("allow_emails", message, index=index)


def _check_keywords(route: Route, table: CheckedTable, owners: dict[str, Route]) -> None:
    seen: set[str] = set()
    for index, keyword in enumerate(route.keywords):
        normal = normalise(keyword)
        owner = owners.setdefault(normal, route)
        if not any(character.isalnum() for character in normal):
            message = f"keyword {keyword!r} has no letter or digit to match: delete it"
        elif owner is not route:
            message = (
                f"keyword {keyword!r} is also one of {owner.id!r}: only one of the two would ever get it"
            )
        elif normal in seen:
            message = f"keyword {keyword!r} stands twice in this route, but for case and width: delete one"
        else:
            message = ""
        seen.add(normal)
        # An empty text was a mistake of its own already.
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
                table.problem(
                    key, f"pattern {pattern!r} matches an empty text, and so every text", index=index
                )
        except BadPattern as reason:
            message = (
                f"pattern {pattern!r} is not RE2 ({reason}); RE2 has no look-around and no back-references"
            )
            table.problem(key, message, index=index)


def address_problem(url: str) -> str | None:
    """Why `url` may not be called, or None: only https goes over a network, http only to this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return "this is not a URL"
    if parts.scheme not in ("http", "https") or not host:
        return "it must be a URL that starts with https://"
    if parts.username is not None or parts.fragment:
        return "it must not hold a user name or a #fragment"
    if parts.scheme == "http" and not re.fullmatch(_LOOPBACK, host):
        return "http is only for this machine (localhost, 127.0.0.1): use https"
    return None
