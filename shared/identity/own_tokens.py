"""The tokens of this function itself, as a service: for agents behind IAM, and for Google's APIs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from shared.identity.id_token_credentials import SCOPE, id_token_credentials

_SECONDS_AFTER_FAILURE = 5.0


class NoToken(Exception):
    """There is no token to be had: no credentials, or whoever issues tokens cannot be reached."""


class OwnTokens(Protocol):
    """Where tokens come from. Raises NoToken."""

    def id_token(self, audience: str) -> str:
        """An OIDC ID token for `audience`."""
        ...

    def access_token(self) -> str:
        """An OAuth access token for Google's APIs."""
        ...


class DefaultCredentials:
    """Tokens from Application Default Credentials, kept until shortly before they expire; one fetch at a time for each.

    google-auth is imported on the first use: who needs no token does not pay for it. A failed fetch takes seconds: whoever
    waited for it, or comes right after it, is told that it failed; as long as the last token lives, it is used on, and nobody
    waits but the one who fetches.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._none_until: dict[str | None, float] = {}
        self._lock = threading.Lock()
        self._locks: dict[str | None, threading.Lock] = {}
        self._credentials: dict[str | None, Any] = {}
        self._transport: Any = None

    def id_token(self, audience: str) -> str:
        """An OIDC ID token for `audience`."""
        return self._token(audience, lambda transport: _id_token_credentials(transport, audience))

    def access_token(self) -> str:
        """An OAuth access token for Google's APIs."""
        return self._token(None, _default_credentials)

    def _token(self, key: str | None, make: Callable[[Any], Any]) -> str:
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        last = self._credentials.get(key)
        if last is None or not _lives(last):
            lock.acquire()
        elif not lock.acquire(blocking=False):
            token: str = last.token
            return token
        try:
            return self._token_of_one(key, make)
        finally:
            lock.release()

    def _token_of_one(self, key: str | None, make: Callable[[Any], Any]) -> str:
        credentials = self._credentials.get(key)
        if credentials is None or not credentials.valid:
            try:
                credentials = self._refreshed(key, credentials, make)
            except NoToken:
                if credentials is None or not _lives(credentials):
                    raise
        token: str = credentials.token
        return token

    def _refreshed(self, key: str | None, credentials: Any, make: Callable[[Any], Any]) -> Any:
        from google.auth.exceptions import GoogleAuthError

        if self._clock() < self._none_until.get(key, 0.0):
            raise NoToken
        try:
            if self._transport is None:
                from google.auth.transport.requests import Request

                self._transport = Request()
            if credentials is None:
                credentials = make(self._transport)
            credentials.refresh(self._transport)
        except (GoogleAuthError, OSError, ValueError):
            self._none_until[key] = self._clock() + _SECONDS_AFTER_FAILURE
            raise NoToken from None
        self._credentials[key] = credentials
        return credentials


def _lives(credentials: Any) -> bool:
    """Whether the token has not expired yet, though it may be about to."""
    from google.auth.credentials import TokenState

    lives: bool = credentials.token_state is not TokenState.INVALID
    return lives


def _id_token_credentials(transport: Any, audience: str) -> Any:
    return id_token_credentials(_default_credentials(transport), audience, transport=transport)


def _default_credentials(transport: Any) -> Any:
    import google.auth

    credentials, _ = google.auth.default(scopes=[SCOPE], request=transport)
    return credentials
