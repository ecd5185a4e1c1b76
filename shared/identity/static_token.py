"""Static bearer tokens, kept as SHA-256 digests only: the tokens of `make run`, each a caller of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from shared.identity.principal import Principal


class StaticTokens:
    """Verifies against a fixed set. A token's digest, not its place in the list, names its caller."""

    def __init__(self, tokens: Iterable[str]) -> None:
        digests = {_digest(token) for token in tokens}
        self._principals = {digest: Principal(subject=f"static:{digest.hex()[:16]}") for digest in digests}

    def verify(self, token: str) -> Principal | None:
        """See `TokenVerifier.verify`. Looking the digest up tells an attacker nothing about the token by its timing."""
        return self._principals.get(_digest(token))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
