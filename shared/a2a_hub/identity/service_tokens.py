"""The tokens of a service: for agents behind IAM, and for Google's APIs."""

import base64
import binascii
import json
import time
from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from a2a_hub.runtime.shared_fetch import MAX_WAIT_SECONDS, Fetched, SharedFetch


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
    """The claims of an ID token of one's own. `expires_at` is in seconds since the epoch."""

    email: str | None
    audience: str
    expires_at: float

    def seconds_left(self, now: float) -> float:
        """Return the seconds until the token expires; negative after that."""
        return self.expires_at - now


def id_token_claims(authorization: str) -> IdTokenClaims | None:
    """Return the claims of the ID token in an Authorization header, for operators; None if there is none.

    The signature is not checked: nobody is identified by it.
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


class DefaultCredentials:
    """Tokens from Application Default Credentials, by `SharedFetch`. `clock` gives the time of day in seconds.

    google-auth is loaded on first use. It may take minutes against a silent issuer: callers wait for at most `max_wait_seconds`.
    """

    def __init__(self, *, clock: Callable[[], float] = time.time, max_wait_seconds: float = MAX_WAIT_SECONDS) -> None:
        self._clock = clock
        self._tokens = SharedFetch(self._fetch, clock=clock, name="tokens", max_wait_seconds=max_wait_seconds)
        self._credentials: dict[str | None, Any] = {}
        self._transport: Any = None

    def id_token(self, audience: str) -> str:
        """Return an OIDC ID token for `audience`."""
        return self._token(audience)

    def access_token(self) -> str:
        """Return an OAuth access token for Google's APIs."""
        return self._token(None)

    def _token(self, audience: str | None) -> str:
        try:
            return self._tokens.value(audience)
        except TimeoutError:
            raise TokenUnavailable from None

    def _fetch(self, audience: str | None) -> Fetched:
        from a2a_hub.identity import google_auth

        try:
            if self._transport is None:
                self._transport = google_auth.Request()
            credentials = self._credentials.get(audience)
            if credentials is None:
                credentials = google_auth.default_credentials(self._transport, audience=audience)
            credentials.refresh(self._transport)
        except (google_auth.GoogleAuthError, OSError, ValueError):
            raise TokenUnavailable from None
        self._credentials[audience] = credentials
        now, left = self._clock(), google_auth.seconds_left(credentials)
        return Fetched(credentials.token, now + left - google_auth.SECONDS_BEFORE_EXPIRY, now + left)
