"""The OAuth client of an authorization: its values, and the authorization that is written from them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from a2a_hub.routing.hub_card import GOOGLE_AUTHORIZATION_URL, GOOGLE_SCOPES, GOOGLE_TOKEN_URL
from hubctl.main import CommandError
from hubctl.project_files import read_text

CREDENTIALS_PAGE = "https://console.cloud.google.com/apis/credentials"
REDIRECT_URIS = (
    "https://vertexaisearch.cloud.google.com/oauth-redirect",
    "https://vertexaisearch.cloud.google.com/static/oauth/oauth.html",
)
REQUIRED_PARAMETERS: Mapping[str, str] = {
    "response_type": "code",
    "access_type": "offline",
    "prompt": "consent",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """What the operator says of the OAuth client; `redirect_uris` are known where the console's file was given."""

    id: str | None
    secret: str | None
    redirect_uris: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"OAuthClient(id={self.id!r}, secret=***)"


def read_client(
    *, client_id: str | None, secret_file: Path | None, environment: Mapping[str, str]
) -> OAuthClient:
    """The client from the options, from the file that the console gives (JSON) or one that holds the secret alone, and from
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
    """The authorization's serverSideOauth2. Raises CommandError when the client's id or secret is not known."""
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
