"""The OAuth client of an authorization, and the probes of its secret and redirect URIs at the provider."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.routing.hub_card import GOOGLE_AUTHORIZATION_URL, GOOGLE_SCOPES, GOOGLE_TOKEN_URL
from hubctl.main import CommandError
from hubctl.project_files import read_text
from hubctl.registration.api import json_exchange
from hubctl.registration.target import Endpoints

CREDENTIALS_PAGE = "https://console.cloud.google.com/apis/credentials"
REDIRECT_URIS = (
    "https://vertexaisearch.cloud.google.com/oauth-redirect",
    "https://vertexaisearch.cloud.google.com/static/oauth/oauth.html",
)
REQUIRED_PARAMETERS: Mapping[str, str] = {"response_type": "code", "access_type": "offline", "prompt": "consent"}
_THROW_AWAY_CODE = "hubctl-doctor-throw-away-code"
_SECONDS, _MAX_BYTES = 20.0, 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """The operator's OAuth client; `redirect_uris` are known where the console's file was given."""

    id: str | None
    secret: str | None
    redirect_uris: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"OAuthClient(id={self.id!r}, secret=***)"


def read_client(*, client_id: str | None, secret_file: Path | None, environment: Mapping[str, str]) -> OAuthClient:
    """Return the client from the options, from the file of the console (JSON) or one that holds the secret alone, and from
    OAUTH_CLIENT_ID and OAUTH_CLIENT_SECRET. Raises CommandError.
    """
    client_id = client_id or environment.get("OAUTH_CLIENT_ID") or None
    if secret_file is None:
        return OAuthClient(id=client_id, secret=environment.get("OAUTH_CLIENT_SECRET") or None)
    text = read_text(secret_file).strip()
    if not text.startswith("{"):
        if not text or not (text.isascii() and text.isprintable()) or " " in text:
            raise _no_client(secret_file)
        return OAuthClient(id=client_id, secret=text)
    try:
        web = json.loads(text)["web"]
        read = OAuthClient(
            id=client_id or str(web["client_id"]),
            secret=str(web["client_secret"]),
            redirect_uris=tuple(map(str, web.get("redirect_uris", ()))),
        )
    except (ValueError, KeyError, TypeError):
        raise _no_client(secret_file) from None
    if client_id and client_id != str(web["client_id"]):
        raise CommandError(f"--client-id is {client_id}, and {secret_file} is of {web['client_id']}")
    return read


def _no_client(file: Path) -> CommandError:
    return CommandError(
        f"{file} is not the file of an OAuth client of type Web, as the console gives it, nor a bare secret"
    )


def server_side_oauth2(client: OAuthClient, *, more_scopes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the authorization's serverSideOauth2. Raises CommandError when the client's id or secret is not known."""
    if client.id is None or client.secret is None:
        raise CommandError(
            "the authorization needs the OAuth client: give --client-id ID, and its secret in OAUTH_CLIENT_SECRET or "
            "--client-secret-file FILE (or use an agent without users' identity: --no-authorization)"
        )
    scopes = list(dict.fromkeys([*GOOGLE_SCOPES, *more_scopes]))
    base = urlsplit(GOOGLE_AUTHORIZATION_URL)
    query = {
        "client_id": client.id,
        "redirect_uri": REDIRECT_URIS[1],
        "scope": " ".join(scopes),
        **dict(parse_qsl(base.query)),
        **REQUIRED_PARAMETERS,
    }
    return {
        "clientId": client.id,
        "clientSecret": client.secret,
        "authorizationUri": base._replace(query=urlencode(query, quote_via=quote)).geturl(),
        "tokenUri": GOOGLE_TOKEN_URL,
        "scopes": scopes,
    }


class Probe(StrEnum):
    """The meaning of an answer."""

    GOOD = "good"
    BAD = "bad"
    UNKNOWN = "unknown"


def probe_secret(http: HttpClient, endpoints: Endpoints, oauth: dict[str, Any], *, secret: str) -> tuple[Probe, str]:
    """Send the token URI a code that nobody issued, and return the meaning and the text of the answer.

    The client is checked before the code: `invalid_grant` means that the secret is good, `invalid_client` that it is stale.
    """
    token_uri = urlsplit(str(oauth.get("tokenUri")))
    if token_uri[:2] != urlsplit(GOOGLE_TOKEN_URL)[:2]:
        return Probe.UNKNOWN, "the token URI is not Google's, and the secret is not sent there"
    address = endpoints.oauth(token_uri.geturl())
    form = {
        "grant_type": "authorization_code",
        "code": _THROW_AWAY_CODE,
        "client_id": str(oauth.get("clientId")),
        "client_secret": secret,
        "redirect_uri": REDIRECT_URIS[1],
    }
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
    try:
        _, value = json_exchange(http, "POST", address, headers=headers, body=urlencode(form).encode())
    except CommandError as problem:
        return Probe.UNKNOWN, str(problem)
    error = str(value.get("error")) if isinstance(value, dict) else "no JSON"
    match error:
        case "invalid_grant" | "redirect_uri_mismatch":
            return Probe.GOOD, error
        case "invalid_client":
            return Probe.BAD, error
        case _:
            return Probe.UNKNOWN, error


def probe_redirect_uri(
    http: HttpClient, endpoints: Endpoints, oauth: dict[str, Any], redirect_uri: str
) -> tuple[Probe, str]:
    """Begin a consent with this redirect URI, as a browser would: Google redirects to the sign-in, or to its error page.

    No document promises these addresses, so any other answer is "unknown".
    """
    parts = urlsplit(str(oauth.get("authorizationUri")))
    query = dict(parse_qsl(parts.query)) | {
        "client_id": str(oauth.get("clientId")),
        "redirect_uri": redirect_uri,
        "response_type": "code",
    }
    url = endpoints.oauth(parts._replace(query=urlencode(query, quote_via=quote)).geturl())
    if parts.scheme != "https":
        return Probe.UNKNOWN, "the authorization URI is not https"
    try:
        answer, _ = fetch(http, "GET", url, headers={"accept": "text/html"}, seconds=_SECONDS, max_bytes=_MAX_BYTES)
    except HttpFailure as failure:
        return Probe.UNKNOWN, failure.detail
    location = str(answer.headers.get("location", ""))
    if "/signin/oauth/error" in location:
        error = _auth_error(location)
        known = next((word for word in ("redirect_uri_mismatch", "invalid_client") if word in error), None)
        return (Probe.BAD, known) if known else (Probe.UNKNOWN, "an error page")
    return (Probe.GOOD, "the sign-in") if "/signin" in location else (Probe.UNKNOWN, f"HTTP {answer.status}")


def _auth_error(location: str) -> str:
    """Return the readable part of the error page's parameter: a base64 text around the error's name."""
    encoded = (parse_qs(urlsplit(location).query).get("authError") or [""])[0]
    try:
        return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode("latin-1")
    except (binascii.Error, ValueError):
        return ""
