"""The credential for each boundary: what an outgoing request carries, and nothing else.

public: none. iam: an ID token for the route's audience. google_api: an access token. user: the caller's own token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never
from urllib.parse import urlsplit

from a2a_hub.identity.service_tokens import ServiceTokens, TokenUnavailable
from a2a_hub.routing.routes import Boundary, Route
from a2a_hub.settings.reader import LOOPBACK_HOSTS
from functions.hub.failure import DownstreamFailed, Failure, FailureKind

WITHOUT_CREDENTIALS = (
    "deploy the hub with --service-account; on your own machine: gcloud auth application-default login "
    "--impersonate-service-account=HUB_SERVICE_ACCOUNT (a person's own login gives no ID token for an agent)"
)


class Credentials:
    """Headers by boundary. `tokens` is None where the hub has no identity of its own: then only loopback agents are called.

    Where it `spares_loopback`, agents on this machine get no token, since nothing in front of them asks for one.
    """

    def __init__(self, tokens: ServiceTokens | None, *, spares_loopback: bool = False) -> None:
        self._tokens = tokens
        self._spares_loopback = spares_loopback

    def headers(self, route: Route, *, authorization: str | None) -> Mapping[str, str]:
        """The credential for one request on this route. `authorization` is the caller's own header.

        Raises DownstreamFailed.
        """
        match route.boundary:
            case Boundary.PUBLIC:
                return {}
            case Boundary.IAM | Boundary.GOOGLE_API if self._spares_loopback and _on_loopback(route):
                return {}
            case Boundary.IAM:
                if self._tokens is None:
                    return _none_needed(route)
                return _own_token(lambda tokens: tokens.id_token(audience_of(route)), self._tokens)
            case Boundary.GOOGLE_API:
                if self._tokens is None:
                    return _none_needed(route)
                return _own_token(lambda tokens: tokens.access_token(), self._tokens)
            case Boundary.USER:
                if authorization is None:
                    raise DownstreamFailed(
                        Failure(
                            kind=FailureKind.NOT_ALLOWED,
                            fault="no_user_token",
                            cause="the route passes the caller's own token on, and the request carried none",
                            remedy="set PASS_CALLER_TOKEN=true at the gate; bind an authorization in Gemini Enterprise",
                        )
                    )
                return {"authorization": authorization}
            case unknown:
                assert_never(unknown)


def audience_of(route: Route) -> str:
    """The route's audience, else the origin of its URL."""
    if route.audience:
        return route.audience
    parts = urlsplit(route.url)
    return f"{parts.scheme}://{parts.netloc}"


def _own_token(token: Callable[[ServiceTokens], str], tokens: ServiceTokens) -> Mapping[str, str]:
    try:
        return {"authorization": f"Bearer {token(tokens)}"}
    except TokenUnavailable:
        raise DownstreamFailed(
            Failure(
                kind=FailureKind.NOT_ALLOWED,
                fault="no_credentials",
                cause="the hub got no token of its own from Application Default Credentials",
                remedy=WITHOUT_CREDENTIALS,
            )
        ) from None


def _on_loopback(route: Route) -> bool:
    return urlsplit(route.url).hostname in LOOPBACK_HOSTS


def _none_needed(route: Route) -> Mapping[str, str]:
    if _on_loopback(route):
        return {}
    raise DownstreamFailed(
        Failure(
            kind=FailureKind.NOT_ALLOWED,
            fault="no_credentials",
            cause=f"the route's boundary is {route.boundary}, and IAM_CREDENTIALS=none allows loopback agents only",
            remedy="unset IAM_CREDENTIALS, so that Application Default Credentials are used",
        )
    )
