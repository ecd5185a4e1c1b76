"""Asks the OAuth provider what Gemini Enterprise keeps to itself: is the secret good, are the redirect URIs registered?"""

from __future__ import annotations

import base64
import binascii
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from a2a_hub.routing.hub_card import GOOGLE_TOKEN_URL
from hubctl.main import CommandError
from hubctl.registration.api import exchange
from hubctl.registration.oauth import REDIRECT_URIS
from hubctl.registration.target import Endpoints

_THROW_AWAY_CODE = "hubctl-doctor-throw-away-code"
_SECONDS = 20.0


class Probe(StrEnum):
    """What an answer means."""

    GOOD = "good"
    BAD = "bad"
    UNKNOWN = "unknown"


def probe_secret(
    http: HttpClient, endpoints: Endpoints, oauth: dict[str, Any], *, secret: str
) -> tuple[Probe, str]:
    """Sends the token URI a code that nobody issued: the client is checked before the code, so `invalid_grant` means that the
    secret is good, `invalid_client` that it is stale. Also gives what was answered.
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
        _, value = exchange(http, "POST", address, headers=headers, body=urlencode(form).encode())
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
    """Begins a consent with this redirect URI, as a browser would: Google sends on to the sign-in, or to its error page.

    No document promises these addresses, so whatever else comes is "unknown".
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
    budget = Budget(
        deadline=http.clock() + _SECONDS, connect_seconds=10, idle_seconds=_SECONDS, max_bytes=1 << 20
    )
    try:
        answer = http.request("GET", url, headers={"accept": "text/html"}, body=None, budget=budget)
        location = str(answer.headers.get("location", ""))
        answer.close()
    except HttpFailure as failure:
        return Probe.UNKNOWN, failure.detail
    if "/signin/oauth/error" in location:
        error = _auth_error(location)
        known = next((word for word in ("redirect_uri_mismatch", "invalid_client") if word in error), None)
        return (Probe.BAD, known) if known else (Probe.UNKNOWN, "an error page")
    return (Probe.GOOD, "the sign-in") if "/signin" in location else (Probe.UNKNOWN, f"HTTP {answer.status}")


def _auth_error(location: str) -> str:
    """The readable part of the error page's parameter: a base64 text around the error's name."""
    encoded = (parse_qs(urlsplit(location).query).get("authError") or [""])[0]
    try:
        return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode("latin-1")
    except (binascii.Error, ValueError):
        return ""
