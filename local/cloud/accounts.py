"""Accounts behind access tokens, as tokeninfo describes them, and the IAM policy of a project."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from a2a_hub.http.client import HttpClient, HttpFailure
from a2a_hub.http.messages import Request, Response
from hubctl.connection import exchange
from local.cloud.program import json_body, json_response

TOKEN_INFO = "/tokeninfo"  # noqa: S105 - a path
_MOST_TOKENS = 1000
SEARCH = "discoveryengine.servingConfigs.search"
_DOCUMENTS = "discoveryengine.documents."
READ = frozenset({SEARCH, f"{_DOCUMENTS}get", f"{_DOCUMENTS}list", "discoveryengine.operations.get"})
WRITE = frozenset({f"{_DOCUMENTS}import", f"{_DOCUMENTS}delete"})
VIEWER, ADMIN = "roles/discoveryengine.viewer", "roles/discoveryengine.admin"
ROLES: Mapping[str, frozenset[str]] = {
    VIEWER: READ,
    "roles/discoveryengine.editor": READ | WRITE,
    ADMIN: READ | WRITE,
}


class UnknownToken(Exception):
    """Nobody gave out this access token, or it has expired."""


class IssuedTokens:
    """The access tokens that one stand-in gave out. Thread-safe."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens: dict[str, tuple[str, float]] = {}

    def add(self, token: str, *, email: str, lifetime_seconds: float) -> str:
        """Make `token` valid from now on, and return it."""
        with self._lock:
            self._tokens[token] = (email, self._clock() + lifetime_seconds)
            while len(self._tokens) > _MOST_TOKENS:
                del self._tokens[next(iter(self._tokens))]
        return token

    def handle(self, request: Request) -> Response | None:
        """Answer a request for tokeninfo; None for any other request."""
        if request.path != TOKEN_INFO:
            return None
        with self._lock:
            email, expires = self._tokens.get(request.parameter("access_token") or "", ("", 0.0))
        left = int(expires - self._clock())
        if left <= 0:
            return json_response({"error": "invalid_token", "error_description": "Invalid Value"}, status=400)
        return json_response({"email": email, "email_verified": "true", "expires_in": str(left)})


class Accounts:
    """Tells the account of a request. `issuers` are the addresses of stand-ins that give out tokens; `known` are tokens
    whose account needs no question. Thread-safe.
    """

    def __init__(
        self,
        issuers: Sequence[str],
        *,
        http: HttpClient,
        known: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuers = issuers
        self._http = http
        self._clock = clock
        self._lock = threading.Lock()
        self._cache = {token: (email, float("inf")) for token, email in (known or {}).items()}

    def email(self, request: Request) -> str | None:
        """Return the account of the caller; None for a request without a token. Raises UnknownToken."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return None
        token = token.strip()
        with self._lock:
            email, expires = self._cache.get(token, ("", 0.0))
        if self._clock() < expires:
            return email
        for issuer in self._issuers:
            info = self._token_info(issuer, token)
            if info:
                with self._lock:
                    self._cache[token] = (info["email"], self._clock() + float(info["expires_in"]))
                return info["email"]
        raise UnknownToken

    def _token_info(self, issuer: str, token: str) -> dict[str, str] | None:
        url = f"{issuer}{TOKEN_INFO}?access_token={quote(token, safe='')}"
        try:
            answer = exchange(self._http, "GET", url, headers={}, seconds=5.0)
            info: dict[str, str] = json.loads(answer.body)
        except HttpFailure:
            return None
        return info if answer.status == 200 else None


def member(email: str | None) -> str:
    """Return the name of an account in IAM policies."""
    if email is None:
        return "allUsers"
    return f"serviceAccount:{email}" if email.endswith(".gserviceaccount.com") else f"user:{email}"


class ProjectPolicy:
    """The bindings of one project that concern Discovery Engine."""

    def __init__(self, bindings: Sequence[Mapping[str, Any]]) -> None:
        self.bindings = tuple(bindings)

    def allows(self, member: str, permission: str) -> bool:
        """Return True if a role of `member` holds `permission`."""
        return any(
            permission in ROLES.get(binding["role"], ()) and member in binding["members"] for binding in self.bindings
        )

    def administers(self, member: str) -> bool:
        """Return True if `member` may change the policy itself."""
        return any(binding["role"] == ADMIN and member in binding["members"] for binding in self.bindings)

    def without_viewers(self) -> ProjectPolicy:
        """Return the policy after everybody but the administrators has lost the search."""
        return ProjectPolicy([each for each in self.bindings if each["role"] != VIEWER])

    def resource(self) -> dict[str, Any]:
        """Return the policy as Resource Manager does."""
        return {"version": 1, "etag": "BwYAAAAAAAA=", "bindings": list(self.bindings)}


def submitted_policy(request: Request) -> ProjectPolicy | None:
    """Return the policy of a `setIamPolicy` request; None for any other request."""
    if request.method == "POST" and request.path.endswith(":setIamPolicy"):
        return ProjectPolicy(json_body(request)["policy"].get("bindings", ()))
    return None


def enablement(request: Request) -> Response:
    """Return Service Usage's answer to `services enable`: an operation that is done."""
    service = {"name": request.path.removeprefix("/v1/").partition(":")[0], "state": "ENABLED"}
    answer = {
        "@type": "type.googleapis.com/google.api.serviceusage.v1.EnableServiceResponse",
        "service": service,
    }
    return json_response({"name": "operations/acf.enabled", "done": True, "response": answer})
