"""The tokens of a service: for agents behind IAM, and for Google's APIs."""

import base64
import binascii
import json
from typing import Protocol

from msgspec import Struct


class TokenUnavailable(Exception):
    """No token can be had: there are no credentials, or the issuer cannot be reached."""


class ServiceTokens(Protocol):
    """A source of tokens. Raises TokenUnavailable."""

    def id_token(self, audience: str) -> str:
        """Return an OIDC ID token for `audience`."""
        ...

    def access_token(self) -> str:
        """Return an OAuth access token for Google's APIs."""
        ...


class IdTokenClaims(Struct, frozen=True, kw_only=True):
    """The claims of this service's own ID token. `expires_at` is in seconds since the epoch."""

    email: str | None
    audience: str
    expires_at: float

    def seconds_left(self, now: float) -> float:
        """Return the seconds until the token expires; negative after that."""
        return self.expires_at - now


def id_token_claims(authorization: str) -> IdTokenClaims | None:
    """Return the claims of the ID token in an Authorization header, for operators; None if there is none.

    The signature is not checked, since this identifies nobody.
    """
    scheme, _, token = authorization.partition(" ")
    segments = token.strip().split(".")
    if scheme.lower() != "bearer" or len(segments) != 3:
        return None
    padded = segments[1] + "=" * (-len(segments[1]) % 4)
    try:
        claims = json.loads(base64.urlsafe_b64decode(padded))
        email = claims.get("email")
        return IdTokenClaims(
            email=email if isinstance(email, str) else None,
            audience=str(claims["aud"]),
            expires_at=float(claims["exp"]),
        )
    except (binascii.Error, ValueError, KeyError, TypeError, AttributeError):
        return None
