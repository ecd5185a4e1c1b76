"""The tokens of this function itself, as a service: for agents behind IAM, and for Google's APIs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

from a2a_hub.runtime.threads import Threads

_SECONDS_AFTER_FAILURE = 5.0
_PATIENCE_SECONDS = 10.0


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

    google-auth is imported on the first use: who needs no token does not pay for it. Against an issuer that is silent it may
    take minutes: nobody waits for longer than `patience_seconds`, and what comes later is for who asks then. Whoever waited for
    a fetch that failed, or comes right after it, is told so; as long as the last token lives, it is used on, and nobody waits
    but the one who asked for the next.
    """

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, patience_seconds: float = _PATIENCE_SECONDS
    ) -> None:
        self._clock = clock
        self._patience_seconds = patience_seconds
        self._threads = Threads("tokens")
        self._lock = threading.Lock()
        self._none_until: dict[str | None, float] = {}
        self._fetches: dict[str | None, Future[Any]] = {}
        self._credentials: dict[str | None, Any] = {}
        self._transport: Any = None

    def id_token(self, audience: str) -> str:
        """An OIDC ID token for `audience`."""
        return self._token(audience, lambda transport: _id_token_credentials(transport, audience))

    def access_token(self) -> str:
        """An OAuth access token for Google's APIs."""
        return self._token(None, _default_credentials)

    def _token(self, key: str | None, make: Callable[[Any], Any]) -> str:
        last = self._credentials.get(key)
        if last is None or not last.valid:
            try:
                last = self._next(key, make)
            except NoToken:
                if last is None or not _lives(last):
                    raise
        token: str = last.token
        return token

    def _next(self, key: str | None, make: Callable[[Any], Any]) -> Any:
        """Credentials with a new token; the last ones, where somebody else fetches it and they still live."""
        with self._lock:
            last = self._credentials.get(key)
            if last is not None and last.valid:
                return last
            if self._clock() < self._none_until.get(key, 0.0):
                raise NoToken
            fetch = self._fetches.get(key)
            if fetch is None:
                fetch = self._fetches[key] = self._begun(key, make)
            elif last is not None and _lives(last):
                return last
        try:
            return fetch.result(timeout=self._patience_seconds)
        except TimeoutError:
            self._failed(key)
            raise NoToken from None

    def _begun(self, key: str | None, make: Callable[[Any], Any]) -> Future[Any]:
        fetch: Future[Any] = Future()

        def run() -> None:
            try:
                credentials = self._refreshed(key, make)
            except BaseException as error:
                self._failed(key)
                self._ended(key)
                fetch.set_exception(error)
            else:
                self._credentials[key] = credentials
                self._ended(key)
                fetch.set_result(credentials)

        self._threads.run(run)
        return fetch

    def _failed(self, key: str | None) -> None:
        self._none_until[key] = self._clock() + _SECONDS_AFTER_FAILURE

    def _ended(self, key: str | None) -> None:
        with self._lock:
            del self._fetches[key]

    def _refreshed(self, key: str | None, make: Callable[[Any], Any]) -> Any:
        from google.auth.exceptions import GoogleAuthError

        try:
            if self._transport is None:
                from google.auth.transport.requests import Request

                self._transport = Request()
            credentials = self._credentials.get(key) or make(self._transport)
            credentials.refresh(self._transport)
        except (GoogleAuthError, OSError, ValueError):
            raise NoToken from None
        return credentials


def _lives(credentials: Any) -> bool:
    """Whether the token has not expired yet, though it may be about to."""
    from google.auth.credentials import TokenState

    lives: bool = credentials.token_state is not TokenState.INVALID
    return lives


def _id_token_credentials(transport: Any, audience: str) -> Any:
    from a2a_hub.identity.id_token_credentials import id_token_credentials

    return id_token_credentials(_default_credentials(transport), audience, transport=transport)


def _default_credentials(transport: Any) -> Any:
    import google.auth

    from a2a_hub.identity.id_token_credentials import SCOPE

    credentials, _ = google.auth.default(scopes=[SCOPE], request=transport)
    return credentials
