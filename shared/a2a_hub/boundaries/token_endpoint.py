"""Access tokens by the client credentials grant of OAuth 2.0 (RFC 6749 §4.4)."""

import base64
from typing import Any
from urllib.parse import quote_plus, urlencode

import msgspec

from a2a_hub.boundaries.sources import (
    ClientAuthentication,
    NoCredential,
    OAuthClient,
    SecretReference,
    Source,
    fetch_shared,
)
from a2a_hub.http.client import Http, HttpFailure, fetch
from a2a_hub.http.messages import JSON
from a2a_hub.runtime.shared_fetch import MAX_WAIT_SECONDS, Fetched, SharedFetch

_FORM = "application/x-www-form-urlencoded"
_SECONDS = 10.0
# The lifetime of a token whose answer names none (§5.1 leaves it to the documentation).
_UNNAMED_LIFETIME_SECONDS = 300.0
_SECONDS_BEFORE_EXPIRY = 60.0
# §5.2: only these words of a token endpoint are passed on.
_ERRORS = {
    "invalid_request": "compare the route's keys with what the authorization server's documentation asks for",
    "invalid_client": "check client_id, client_secret and token_endpoint_auth_method",
    "invalid_grant": "let the authorization server give this client the client credentials grant",
    "unauthorized_client": "let the authorization server give this client the client credentials grant",
    "unsupported_grant_type": "check token_url: this server has no client credentials grant",
    "invalid_scope": "check scopes",
}


class TokenEndpoints:
    """A `Source` of access tokens: one request for all that wait, kept until shortly before the token expires."""

    def __init__(
        self, http: Http, secrets: Source[SecretReference], *, max_wait_seconds: float = MAX_WAIT_SECONDS
    ) -> None:
        self._http = http
        self._secrets = secrets
        self._fetched = SharedFetch(
            self._fetch, clock=http.clock, name="access token", max_wait_seconds=max_wait_seconds
        )

    def value(self, client: OAuthClient, *, rejected: str | None = None) -> str:
        """See `Source.value`."""
        return fetch_shared(self._fetched, client, "access token", rejected=rejected)

    def _fetch(self, client: OAuthClient) -> Fetched:
        secret = self._secrets.value(client.secret)
        status, value = self._request(client, secret)
        if status == 401 or value.get("error") == "invalid_client":
            # The secret may have been replaced since it was read.
            replaced = self._secrets.value(client.secret, rejected=secret)
            if replaced != secret:
                status, value = self._request(client, replaced)
        token, kind = value.get("access_token"), value.get("token_type")
        if status != 200:
            raise _refusal(status, value, client)
        if not isinstance(token, str) or not token or not (token.isascii() and token.isprintable()):
            raise _failed("no_access_token", "its answer holds no access token", client)
        if not isinstance(kind, str) or kind.lower() != "bearer":
            raise _failed("no_access_token", "its token is no bearer token", client)
        lifetime = _lifetime(value.get("expires_in"))
        now = self._http.clock()
        return Fetched(token, now + lifetime - min(_SECONDS_BEFORE_EXPIRY, lifetime / 5), now + lifetime)

    def _request(self, client: OAuthClient, secret: str) -> tuple[int, dict[str, Any]]:
        form = {"grant_type": "client_credentials"}
        headers = {"content-type": _FORM, "accept": JSON}
        if client.scopes:
            form["scope"] = " ".join(client.scopes)
        if client.audience:
            form["audience"] = client.audience
        if client.authentication is ClientAuthentication.BASIC:
            # §2.3.1: both are form-encoded first.
            pair = f"{quote_plus(client.client_id)}:{quote_plus(secret)}"
            headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": client.client_id, "client_secret": secret}
        body = urlencode(form).encode()
        try:
            answer, content = fetch(self._http, "POST", client.token_url, headers=headers, body=body, seconds=_SECONDS)
        except HttpFailure as failure:
            raise _failed(f"token_endpoint_{failure.fault.value}", failure.detail, client) from None
        try:
            value = msgspec.json.decode(content)
        except (ValueError, RecursionError):
            value = None
        return answer.status, value if isinstance(value, dict) else {}


def _refusal(status: int, value: dict[str, Any], client: OAuthClient) -> NoCredential:
    code = value.get("error")
    if isinstance(code, str) and code in _ERRORS:
        cause = f"the token endpoint refused client {client.client_id}: {code}"
        return NoCredential(f"token_endpoint_{code}", cause, f"{_ERRORS[code]} of the route in routes.toml")
    return _failed("token_endpoint_error", f"it answered HTTP {status}", client)


def _failed(fault: str, detail: str, client: OAuthClient) -> NoCredential:
    cause = f"the token endpoint gave client {client.client_id} no token: {detail}"
    return NoCredential(fault, cause, "check token_url of the route in routes.toml, and whether that server works")


def _lifetime(value: Any) -> float:
    """Return the seconds of `expires_in`; some servers write a string."""
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return _UNNAMED_LIFETIME_SECONDS
    return seconds if 0 < seconds < 1e9 else _UNNAMED_LIFETIME_SECONDS
