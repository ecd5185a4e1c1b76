"""The credential for each boundary (design §3): what an outgoing request carries, and nothing else.

public: none. iam: an ID token for the route's audience. google_api: an access token. user: the caller's own token.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from functions.hub.failure import DownstreamFailed, Failure, FailureKind
from shared.routes import Boundary, Route

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Tokens(Protocol):
    """Where the hub's own tokens come from. Raises DownstreamFailed when there is none to be had."""

    def id_token(self, audience: str) -> str:
        """An OIDC ID token for `audience`."""
        ...

    def access_token(self) -> str:
        """An OAuth access token for Google's APIs."""
        ...


class Credentials:
    """Headers by boundary. `tokens` is None where the hub has no identity of its own: then only loopback agents are called."""

    def __init__(self, tokens: Tokens | None) -> None:
        self._tokens = tokens

    def headers(self, route: Route, *, authorization: str | None) -> Mapping[str, str]:
        """The credential for one request on this route. `authorization` is the caller's own header.

        Raises DownstreamFailed.
        """
        match route.boundary:
            case Boundary.PUBLIC:
                return {}
            case Boundary.IAM:
                if self._tokens is None:
                    return _none_needed(route)
                return _bearer(self._tokens.id_token(audience_of(route)))
            case Boundary.GOOGLE_API:
                if self._tokens is None:
                    return _none_needed(route)
                return _bearer(self._tokens.access_token())
            case Boundary.USER:
                if authorization is None:
                    raise DownstreamFailed(
                        Failure(
                            kind=FailureKind.NOT_ALLOWED,
                            fault="no_user_token",
                            cause="the route passes the caller's own token on, and the request carried none",
                            remedy="bind an authorization to the agent in Gemini Enterprise",
                        )
                    )
                return {"authorization": authorization}


def audience_of(route: Route) -> str:
    """The route's audience, else the origin of its URL."""
    if route.audience:
        return route.audience
    parts = urlsplit(route.url)
    return f"{parts.scheme}://{parts.netloc}"


def _bearer(token: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {token}"}


def _none_needed(route: Route) -> Mapping[str, str]:
    if urlsplit(route.url).hostname in _LOOPBACK:
        return {}
    raise DownstreamFailed(
        Failure(
            kind=FailureKind.NOT_ALLOWED,
            fault="no_credentials",
            cause=f"the route's boundary is {route.boundary}, and IAM_CREDENTIALS=none allows loopback agents only",
            remedy="unset IAM_CREDENTIALS, so that Application Default Credentials are used",
        )
    )


class GoogleTokens:
    """Tokens from Application Default Credentials, kept until shortly before they expire; one fetch at a time for each.

    google-auth is imported on the first use: a hub without IAM routes does not pay for it.
    """

    def __init__(self) -> None:
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
        with lock:
            credentials = self._credentials.get(key)
            if credentials is None or not credentials.valid:
                credentials = self._refreshed(key, credentials, make)
            token: str = credentials.token
            return token

    def _refreshed(self, key: str | None, credentials: Any, make: Callable[[Any], Any]) -> Any:
        from google.auth.exceptions import GoogleAuthError

        try:
            if self._transport is None:
                import urllib3
                from google.auth.transport.urllib3 import Request

                self._transport = Request(urllib3.PoolManager())  # type: ignore[no-untyped-call]
            if credentials is None:
                credentials = make(self._transport)
            credentials.refresh(self._transport)
        except GoogleAuthError:
            raise DownstreamFailed(
                Failure(
                    kind=FailureKind.NOT_ALLOWED,
                    fault="no_credentials",
                    cause="the hub got no token of its own from Application Default Credentials",
                    remedy="deploy the hub with --service-account, or run: gcloud auth application-default login",
                )
            ) from None
        self._credentials[key] = credentials
        return credentials


def _id_token_credentials(transport: Any, audience: str) -> Any:
    from google.oauth2 import id_token

    return id_token.fetch_id_token_credentials(audience, request=transport)  # type: ignore[no-untyped-call]


def _default_credentials(transport: Any) -> Any:
    import google.auth

    credentials, _ = google.auth.default(
        scopes=["https://www.googleapis.com/auth/cloud-platform"], request=transport
    )
    return credentials
