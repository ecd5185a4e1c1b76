"""What must hold between the routes of a table, and for the words that choose them (design §4)."""

import ipaddress
import re
from collections.abc import Sequence
from typing import Protocol
from urllib.parse import urlsplit

from shared.checked_table import CheckedTable
from shared.normal_text import compose, normalise
from shared.patterns import BadPattern, compile_pattern

_ID = re.compile(r"[a-z][a-z0-9-]*")


class Ruled(Protocol):
    """What the checks read of a route."""

    @property
    def id(self) -> str: ...
    @property
    def keywords(self) -> tuple[str, ...]: ...
    @property
    def patterns(self) -> tuple[str, ...]: ...
    @property
    def unless(self) -> tuple[str, ...]: ...
    @property
    def priority(self) -> int: ...
    @property
    def default(self) -> bool: ...


def check_ids(routes: Sequence[Ruled], tables: Sequence[CheckedTable]) -> None:
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
                f"id {route.id!r} is taken by the route at line {_line(first[route.id])}: choose another",
            )
    defaults = [(route, table) for route, table in zip(routes, tables, strict=True) if route.default]
    if tables and not defaults:
        tables[-1].problem(
            None, "no route is the default: write default = true in the one that takes what matches no rule"
        )
    for _, table in defaults[1:]:
        table.problem("default", f"{defaults[0][0].id!r} is the default already: only one route can be")


def check_priorities(routes: Sequence[Ruled], tables: Sequence[CheckedTable]) -> None:
    """No two routes have the same priority: a text that matches both would have two answers."""
    holders: dict[int, Ruled] = {}
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


def check_rules(routes: Sequence[Ruled], tables: Sequence[CheckedTable]) -> None:
    """Every keyword and pattern can match, each keyword belongs to one route, and only the default may have none."""
    owners: dict[str, Ruled] = {}
    for route, table in zip(routes, tables, strict=True):
        if not route.keywords and not route.patterns and not route.default:
            table.problem(
                None, f"route {route.id!r} has no rule: add keywords or patterns, or make it the default"
            )
        for index, keyword in enumerate(route.keywords):
            normal = normalise(keyword)
            if not any(character.isalnum() for character in normal):
                if keyword.strip():
                    table.problem(
                        "keywords", f"keyword {keyword!r} has no letter or digit to match", index=index
                    )
                continue
            owner = owners.setdefault(normal, route)
            if owner is not route:
                message = f"keyword {keyword!r} is also one of {owner.id!r}: only the route of higher priority would ever get it"
                table.problem("keywords", message, index=index)
            elif normal in map(normalise, route.keywords[:index]):
                message = f"keyword {keyword!r} stands twice in this route (compared without case and width): delete one"
                table.problem("keywords", message, index=index)
        _check_patterns(table, "patterns", route.patterns)
        _check_patterns(table, "unless", route.unless)


def _check_patterns(table: CheckedTable, key: str, patterns: tuple[str, ...]) -> None:
    for index, pattern in enumerate(patterns):
        if compose(pattern) != pattern:
            message = f"pattern {pattern!r} can never match, since texts are normalised first: write {compose(pattern)!r}"
            table.problem(key, message, index=index)
        try:
            if pattern and compile_pattern(pattern).search(""):
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
    if parts.scheme == "http" and not _is_loopback(host):
        return "http is only for this machine (localhost, 127.0.0.1): use https"
    return None


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _line(table: CheckedTable) -> int:
    return table.lines.get(table.path, 1)
