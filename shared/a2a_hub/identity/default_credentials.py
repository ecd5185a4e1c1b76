"""Service tokens from Application Default Credentials."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from a2a_hub.identity.service_tokens import TokenUnavailable
from a2a_hub.runtime.threads import Threads

_SECONDS_AFTER_FAILURE = 5.0
_MAX_WAIT_SECONDS = 10.0


class DefaultCredentials:
    """Tokens from Application Default Credentials, cached until shortly before they expire; at most one fetch each at a time.

    google-auth is loaded on first use. It may take minutes against a silent issuer: callers wait for at most `max_wait_seconds`,
    and a late token serves the next caller. A failure is shared by all waiting callers, and by those of the next few seconds.
    While the last token is valid it stays in use, and only the caller that fetches the next one waits.
    """

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, max_wait_seconds: float = _MAX_WAIT_SECONDS
    ) -> None:
        self._clock = clock
        self._max_wait_seconds = max_wait_seconds
        self._threads = Threads("tokens")
        self._lock = threading.Lock()
        self._failed_until: dict[str | None, float] = {}
        self._fetches: dict[str | None, Future[Any]] = {}
        self._credentials: dict[str | None, Any] = {}
        self._transport: Any = None

    def id_token(self, audience: str) -> str:
        """Return an OIDC ID token for `audience`."""
        return self._token(audience)

    def access_token(self) -> str:
        """Return an OAuth access token for Google's APIs."""
        return self._token(None)

    def _token(self, audience: str | None) -> str:
        last = self._credentials.get(audience)
        if last is None or not last.valid:
            try:
                last = self._next(audience)
            except TokenUnavailable:
                if last is None or _has_expired(last):
                    raise
        token: str = last.token
        return token

    def _next(self, audience: str | None) -> Any:
        """Return credentials with a new token; the last ones while they are valid and another caller fetches the new ones."""
        with self._lock:
            last = self._credentials.get(audience)
            if last is not None and last.valid:
                return last
            if self._clock() < self._failed_until.get(audience, 0.0):
                raise TokenUnavailable
            fetch = self._fetches.get(audience)
            if fetch is None:
                fetch = self._fetches[audience] = Future()
                self._threads.run(partial(self._fetch, audience, fetch))
            elif last is not None and not _has_expired(last):
                return last
        try:
            return fetch.result(timeout=self._max_wait_seconds)
        except TimeoutError:
            self._failed(audience)
            raise TokenUnavailable from None

    def _fetch(self, audience: str | None, fetch: Future[Any]) -> None:
        try:
            credentials = self._refreshed(audience)
        except BaseException as error:
            self._failed(audience)
            self._ended(audience)
            fetch.set_exception(error)
        else:
            self._credentials[audience] = credentials
            self._ended(audience)
            fetch.set_result(credentials)

    def _failed(self, audience: str | None) -> None:
        self._failed_until[audience] = self._clock() + _SECONDS_AFTER_FAILURE

    def _ended(self, audience: str | None) -> None:
        with self._lock:
            del self._fetches[audience]

    def _refreshed(self, audience: str | None) -> Any:
        from a2a_hub.identity import google_auth

        try:
            if self._transport is None:
                self._transport = google_auth.new_transport()
            credentials = self._credentials.get(audience)
            if credentials is None:
                credentials = google_auth.default_credentials(self._transport, audience=audience)
            credentials.refresh(self._transport)
        except (google_auth.GoogleAuthError, OSError, ValueError):
            raise TokenUnavailable from None
        return credentials


def _has_expired(credentials: Any) -> bool:
    from a2a_hub.identity import google_auth

    return google_auth.has_expired(credentials)
