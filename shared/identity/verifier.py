"""The seam of authentication: a bearer token in, a principal out, or one of two refusals that must not be confused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from shared.a2a.errors import UNAUTHENTICATED, A2AError
from shared.identity.principal import Principal


class TokenVerifier(Protocol):
    """One kind of token."""

    def verify(self, token: str) -> Principal | None:
        """Who the token belongs to; None when this verifier does not accept it."""
        ...


def authenticate(headers: Mapping[str, str], verifiers: tuple[TokenVerifier, ...]) -> Principal:
    """The caller of a request. Raises UNAUTHENTICATED (401 with a Bearer challenge, RFC 6750 §3)."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    token = token.strip()
    if not token or scheme.lower() != "bearer":
        raise _challenge("Send a bearer token: Authorization: Bearer <token>", 'Bearer realm="a2a"')
    for verifier in verifiers:
        principal = verifier.verify(token)
        if principal is not None:
            return principal
    raise _challenge("The bearer token is not valid here", 'Bearer realm="a2a", error="invalid_token"')


def _challenge(message: str, challenge: str) -> A2AError:
    return A2AError(UNAUTHENTICATED, message, headers={"www-authenticate": challenge})
