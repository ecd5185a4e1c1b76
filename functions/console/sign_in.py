"""Sign-in: Google's authorization code with PKCE (RFC 7636), a token of the hub, or the one-time link of a local run.

The hub decides who may use it: each token is tried there before a session is created.
"""

import hashlib
import secrets
import threading
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qs, urlencode

from a2a_hub.a2a import protojson
from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import A2AError
from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON, Request, Response
from a2a_hub.identity.authentication import is_bearer_token
from a2a_hub.identity.public_keys import base64url
from a2a_hub.identity.service_tokens import id_token_claims
from a2a_hub.runtime.upstream import Upstream
from functions.console.config import Config
from functions.console.pages import redirect, sign_in_page
from functions.console.sessions import Session, Sessions, is_from_page

_CALLBACK = "/sign-in/callback"
_SIGN_IN_SECONDS = 600.0
# Tokens of the hub have no known expiry.
_TOKEN_SECONDS = 8 * 3600.0
_EXCHANGE_SECONDS = 10.0
_MAX_FORM_BYTES = 16_384
_MAX_NAME_CHARACTERS = 200


class Problem(StrEnum):
    """The reasons why a sign-in failed, by the names of the page's texts."""

    EXPIRED = "expired"
    REFUSED = "refused"
    UNAVAILABLE = "unavailable"
    USED = "used"


class SignIn:
    """The pages and steps of signing in and out."""

    def __init__(self, config: Config, *, hub: Upstream, http: HttpClient, sessions: Sessions) -> None:
        self._config = config
        self._hub = hub
        self._http = http
        self._sessions = sessions
        self._lock = threading.Lock()
        self._code = config.one_time_code

    def page(self, request: Request) -> Response:
        """Return the page with the ways to sign in; for who is signed in, only `again`, since the hub refuses their token."""
        session = self._sessions.of(request)
        if session is not None and session.token and request.parameter("again") is None:
            return redirect("/")
        session = session or self._sessions.new(seconds=_SIGN_IN_SECONDS)
        problem = request.parameter("problem")
        ways = {"google": self._config.google is not None, "token": self._config.takes_tokens}
        return sign_in_page(
            csrf=session.csrf,
            ways=[way for way, is_open in ways.items() if is_open],
            problem=problem if problem in tuple(Problem) else None,
            cookie=self._sessions.cookie(session),
        )

    def link(self, request: Request) -> Response:
        """Exchange the code of the printed link for a session, once."""
        code = (request.parameter("code") or "").encode()
        with self._lock:
            is_right = bool(self._code) and secrets.compare_digest(code, self._code.encode())
            self._code = "" if is_right else self._code
        return self._signed_in(self._config.one_time_token) if is_right else _failed(Problem.USED)

    def token(self, request: Request) -> Response:
        """Sign in with the token in the form."""
        form = _form(request)
        session = self._sessions.of(request)
        if not self._config.takes_tokens or session is None or not is_from_page(session, form.get("csrf")):
            return _failed(Problem.EXPIRED)
        return self._signed_in(form.get("token", "").strip())

    def google(self, request: Request) -> Response:
        """Send the browser to Google."""
        session, google = self._sessions.of(request), self._config.google
        if session is None or google is None:
            return _failed(Problem.EXPIRED)
        challenge = base64url(hashlib.sha256(session.verifier.encode()).digest())
        query = {
            "response_type": "code",
            "client_id": google.client_id,
            "redirect_uri": self._config.public_url + _CALLBACK,
            "scope": google.scopes,
            "state": session.csrf,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "prompt": "select_account",
            **({"hd": google.domains[0] if len(google.domains) == 1 else "*"} if google.domains else {}),
        }
        return redirect(f"{google.authorization_url}?{urlencode(query)}")

    def callback(self, request: Request) -> Response:
        """Exchange Google's code for the person's token, and the token for a session."""
        session, code = self._sessions.of(request), request.parameter("code")
        if session is None or self._config.google is None or not is_from_page(session, request.parameter("state")):
            return _failed(Problem.EXPIRED)
        if not code:
            return _failed(Problem.REFUSED)
        try:
            answer = self._exchanged(code, session)
        except HttpFailure:
            return _failed(Problem.UNAVAILABLE)
        token, seconds = answer.get("access_token"), answer.get("expires_in")
        if not isinstance(token, str) or not isinstance(seconds, int | float):
            return _failed(Problem.REFUSED)
        # It came from Google itself, over TLS (OpenID Connect Core §3.1.3.7).
        claims = id_token_claims(f"Bearer {answer.get('id_token')}")
        name = (claims.email or "")[:_MAX_NAME_CHARACTERS] if claims else ""
        return self._signed_in(token, name=name, seconds=seconds)

    def out(self, request: Request) -> Response:
        """End the session in this browser."""
        session = self._sessions.of(request)
        if session is not None and is_from_page(session, _form(request).get("csrf")):
            return redirect("/sign-in", cookie=self._sessions.no_cookie())
        return redirect("/")

    def _exchanged(self, code: str, session: Session) -> dict[str, Any]:
        """Return the answer of Google's token endpoint, {} for a refusal. Raises HttpFailure."""
        google = self._config.google
        assert google is not None, "the caller has checked it"
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": google.client_id,
            "client_secret": google.client_secret,
            "redirect_uri": self._config.public_url + _CALLBACK,
            "code_verifier": session.verifier,
        }
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": JSON}
        body, url = urlencode(form).encode(), google.token_url
        answer, content = fetch(self._http, "POST", url, headers=headers, body=body, seconds=_EXCHANGE_SECONDS)
        try:
            value = protojson.decode(content)
        except A2AError:
            return {}
        return value if answer.status == 200 and isinstance(value, dict) else {}

    def _signed_in(self, token: str, *, name: str = "", seconds: float = _TOKEN_SECONDS) -> Response:
        """Return the console with a session, if the hub accepts the token."""
        if not is_bearer_token(token):
            return _failed(Problem.REFUSED)
        try:
            tried = self._hub.send("GET", "/routes", headers={"authorization": f"Bearer {token}"}, body=b"")
            if tried.status != 200:
                return _failed(Problem.REFUSED if tried.status in (401, 403) else Problem.UNAVAILABLE)
            session = self._sessions.new(token=token, name=name, seconds=seconds)
            return redirect("/", cookie=self._sessions.cookie(session))
        except (A2AError, ValueError):
            return _failed(Problem.UNAVAILABLE)


def _failed(problem: Problem) -> Response:
    return redirect(f"/sign-in?problem={problem}")


def _form(request: Request) -> dict[str, str]:
    fields = parse_qs(read_body(request, _MAX_FORM_BYTES).decode("utf-8", "replace"))
    return {name: values[0] for name, values in fields.items()}
