"""Static bearer tokens of named clients, kept as SHA-256 digests only; each client has its limits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec import Struct

from a2a_hub.identity.principal import Principal


class Client(Struct, frozen=True, kw_only=True):
    """A named client. `token_sha256` is the digest of its token in hexadecimal; None in `routes` or `operations` is no limit.

    `roles` are those whose tasks it may work on; None is every role.
    """

    name: str
    token_sha256: str
    routes: frozenset[str] | None = None
    operations: frozenset[str] | None = None
    roles: frozenset[str] | None = frozenset()


class StaticTokens:
    """Verifies against a fixed set of clients."""

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
        """See `TokenVerifier.verify`. Looking the digest up tells an attacker nothing about the token by its timing."""
        return self._principals.get(digest(token))


def digest(token: str) -> str:
    """The SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


def development_clients(tokens: Iterable[str]) -> tuple[Client, ...]:
    """A client without limits for each token; the token's digest names it, so that its place in the list does not matter."""
    return tuple(
        Client(name=f"dev-{digest(token)[:12]}", token_sha256=digest(token), roles=None)
        for token in dict.fromkeys(tokens)
    )
