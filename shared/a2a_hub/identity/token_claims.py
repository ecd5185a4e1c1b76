"""What an ID token of one's own says, for the operator; nobody's identity is decided here, so no signature is checked."""

from __future__ import annotations

import base64
import binascii
import json

from msgspec import Struct


class TokenFacts(Struct, frozen=True, kw_only=True):
    """The account, the audience, and until when, in seconds since the epoch."""

    email: str | None
    audience: str
    expires: float

    def seconds_left(self, now: float) -> float:
        """Negative for one that has expired."""
        return self.expires - now


def facts_of(authorization: str) -> TokenFacts | None:
    """What the ID token in an Authorization header says; None where there is none."""
    scheme, _, token = authorization.partition(" ")
    segments = token.strip().split(".")
    if scheme.lower() != "bearer" or len(segments) != 3:
        return None
    padded = segments[1] + "=" * (-len(segments[1]) % 4)
    try:
        claims = json.loads(base64.urlsafe_b64decode(padded))
        email = claims.get("email")
        return TokenFacts(
            email=email if isinstance(email, str) else None,
            audience=str(claims["aud"]),
            expires=float(claims["exp"]),
        )
    except (binascii.Error, ValueError, KeyError, TypeError, AttributeError):
        return None
