"""The seam of authentication: a bearer token in, a principal out, or one of two refusals that must not be confused.

Rejected (401): the token is not valid here. Unavailable (503): nobody can say now; an outage never looks like a bad token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from a2a_hub.a2a.errors import UNAUTHENTICATED, UNAVAILABLE, A2AError
from a2a_hub.identity.principal import Principal

# RFC 6750 §2.1, and no token that anybody issues is longer.
_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9._~+/=-]{1,8192})")


class VerifierUnavailable(Exception):
    """Whoever knows the token cannot be asked now. `retry_after_seconds` is when to try again."""

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__("the token cannot be verified now")
        self.retry_after_seconds = retry_after_seconds


class TokenVerifier(Protocol):
    """One kind of token."""

    def verify(self, token: str) -> Principal | None:
        """Who the token belongs to; None when this verifier does not accept it. Raises VerifierUnavailable."""
        ...


def can_be_sent(token: str) -> bool:
    """Whether a caller can send this token in a header (RFC 6750 §2.1)."""
    match = _BEARER.fullmatch(f"Bearer {token}")
    return match is not None and match[1] == token


def bearer_token(authorization: str | None) -> str:
    """The token in an Authorization header. Raises UNAUTHENTICATED with a Bearer challenge (RFC 6750 §3)."""
    match = _BEARER.fullmatch(authorization.strip()) if authorization else None
    if match is None:
        raise _rejected("Send a bearer token: Authorization: Bearer <token>", 'Bearer realm="a2a"')
    return match[1]


def authenticate(authorization: str | None, verifiers: Sequence[TokenVerifier]) -> Principal:
    """The caller behind an Authorization header. Raises UNAUTHENTICATED (401) or UNAVAILABLE (503, Retry-After)."""
    token = bearer_token(authorization)
    unavailable: VerifierUnavailable | None = None
    for verifier in verifiers:
        try:
            principal = verifier.verify(token)
        except VerifierUnavailable as error:
            unavailable = error
            continue
        if principal is not None:
            return principal
    if unavailable is not None:
        raise A2AError(
            UNAVAILABLE,
            "The token cannot be verified at the moment; try again later",
            headers={"retry-after": str(unavailable.retry_after_seconds)},
        )
    raise _rejected("The bearer token is not valid here", 'Bearer realm="a2a", error="invalid_token"')


def _rejected(message: str, challenge: str) -> A2AError:
    return A2AError(UNAUTHENTICATED, message, headers={"www-authenticate": challenge})
