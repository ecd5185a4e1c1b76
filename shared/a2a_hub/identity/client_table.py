"""Reads the table of named clients (`CLIENTS_FILE`), and says everything that is wrong with it at once."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from a2a_hub.identity.static_token import Client

_NAME = re.compile(r"[a-z][a-z0-9-]{0,62}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEYS = frozenset({"name", "token_sha256", "routes", "operations", "roles"})


class ClientTableError(ValueError):
    """What is wrong with the table, one sentence each. A token in it is not repeated."""


def load(text: str) -> tuple[Client, ...]:
    """The clients of `[[clients]]` tables: name, token_sha256, and optionally routes, operations and roles.

    Raises ClientTableError.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        # What the parser says quotes the line, which may hold a token.
        raise ClientTableError("it is no TOML") from None
    tables = document.pop("clients", [])
    problems = [f"{name} is not known: clients stand in [[clients]]" for name in document]
    if not isinstance(tables, list):
        problems.append("clients must be tables, each headed by [[clients]]")
        tables = []
    clients = [_client(table, f"clients[{index}]", problems) for index, table in enumerate(tables)]
    for key in ("name", "token_sha256"):
        values = [getattr(client, key) for client in clients if getattr(client, key)]
        if len(values) != len(set(values)):
            problems.append(f"two clients have the same {key}")
    if problems:
        raise ClientTableError("; ".join(problems))
    return tuple(clients)


def _client(table: Any, place: str, problems: list[str]) -> Client:
    values = table if isinstance(table, dict) else {}
    name, token_sha256 = str(values.get("name", "")), str(values.get("token_sha256", ""))
    if not _NAME.fullmatch(name):
        problems.append(f"{place}.name must be lower-case letters, digits and hyphens")
    if not _SHA256.fullmatch(token_sha256):
        problems.append(
            f"{place}.token_sha256 must be the token's SHA-256 in 64 hexadecimal digits, never the token"
        )
    problems.extend(f"{place}.{key} is not known" for key in values if key not in _KEYS)
    return Client(
        name=name,
        token_sha256=token_sha256,
        routes=_names(values, "routes", place, problems),
        operations=_names(values, "operations", place, problems),
        # Tasks hold other people's texts: a client works on no role that the table does not give it.
        roles=_names(values, "roles", place, problems) or frozenset(),
    )


def _names(values: dict[str, Any], key: str, place: str, problems: list[str]) -> frozenset[str] | None:
    names = values.get(key)
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        problems.append(f"{place}.{key} must be a list of names")
        return frozenset()
    return frozenset(names)
