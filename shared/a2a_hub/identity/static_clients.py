"""Named clients with static bearer tokens, stored as SHA-256 digests only, and the table that lists them (`CLIENTS_FILE`)."""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from a2a_hub.identity.principal import Principal

_NAME = re.compile(r"[a-z][a-z0-9-]{0,62}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEYS = frozenset({"name", "token_sha256", "routes", "operations", "roles"})


class Client(Struct, frozen=True, kw_only=True):
    """A named client. `token_sha256` is the hexadecimal digest of its token; None in `routes` or `operations` means no limit.

    It may work on the tasks of `roles`; None means every role.
    """

    name: str
    token_sha256: str
    routes: frozenset[str] | None = None
    operations: frozenset[str] | None = None
    roles: frozenset[str] | None = frozenset()


class StaticTokenVerifier:
    """A verifier of the tokens of a fixed set of clients."""

    def __init__(self, clients: Iterable[Client]) -> None:
        self._principals = {
            client.token_sha256: Principal(
                subject=f"client:{client.name}",
                client=client.name,
                routes=client.routes,
                operations=client.operations,
                roles=client.roles,
            )
            for client in clients
        }

    def verify(self, token: str) -> Principal | None:
        """See `TokenVerifier.verify`. The timing of a lookup by digest reveals nothing about the token."""
        return self._principals.get(digest(token))


def digest(token: str) -> str:
    """Return the SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


def development_clients(tokens: Iterable[str]) -> tuple[Client, ...]:
    """Return a client without limits for each token, named by the token's digest: the order of the list does not matter."""
    return tuple(
        Client(name=f"dev-{digest(token)[:12]}", token_sha256=digest(token), roles=None)
        for token in dict.fromkeys(tokens)
    )


class ClientTableError(ValueError):
    """All errors of the table, one sentence each. Tokens are not repeated."""


def load_clients(text: str) -> tuple[Client, ...]:
    """Return the clients of the `[[clients]]` tables: name, token_sha256, and optionally routes, operations and roles.

    Raises ClientTableError with all errors.
    """
    # Loaded for a table: without one, no start needs it.
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        # The parser quotes the line, which may hold a token.
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
        problems.append(f"{place}.token_sha256 must be the token's SHA-256 in 64 hexadecimal digits, never the token")
    problems.extend(f"{place}.{key} is not known" for key in values if key not in _KEYS)
    return Client(
        name=name,
        token_sha256=token_sha256,
        routes=_names(values, "routes", place, problems),
        operations=_names(values, "operations", place, problems),
        # Tasks hold other people's texts: a client works only on the roles that the table grants.
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
