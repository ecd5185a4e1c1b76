"""Service tokens from Application Default Credentials."""

import time
from collections.abc import Callable
from typing import Any

from a2a_hub.identity.service_tokens import TokenUnavailable
from a2a_hub.runtime.shared_fetch import MAX_WAIT_SECONDS, Fetched, SharedFetch


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
