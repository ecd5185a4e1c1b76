"""Accounts behind access tokens and ID tokens, and the IAM policy of a project."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from a2a_hub.http.messages import Request
from local.cloud.program import ApiError
from local.cloud.signing import ISSUER, SigningKey

_MOST_TOKENS = 1000
SEARCH = "discoveryengine.servingConfigs.search"
_DOCUMENTS = "discoveryengine.documents."
_STORES = "discoveryengine.dataStores."
CHECK = "discoveryengine.groundingConfigs.check"
READ = frozenset(
    {SEARCH, CHECK, f"{_STORES}get", f"{_DOCUMENTS}get", f"{_DOCUMENTS}list", "discoveryengine.operations.get"}
)
WRITE = frozenset({f"{_DOCUMENTS}import", f"{_DOCUMENTS}delete"})
VIEWER, ADMIN = "roles/discoveryengine.viewer", "roles/discoveryengine.admin"
PREDICT = "aiplatform.endpoints.predict"
SANITIZE = "modelarmor.templates.useToSanitizeUserPrompt"
ARMOR_USER, ARMOR_ADMIN = "roles/modelarmor.user", "roles/modelarmor.admin"
MODEL_USER, MODEL_ADMIN = "roles/aiplatform.user", "roles/aiplatform.admin"
ROLES: Mapping[str, frozenset[str]] = {
    VIEWER: READ,
    "roles/discoveryengine.editor": READ | WRITE,
    ADMIN: READ | WRITE | {f"{_STORES}create"},
    MODEL_USER: frozenset({PREDICT}),
    MODEL_ADMIN: frozenset({PREDICT}),
    ARMOR_USER: frozenset({SANITIZE}),
    ARMOR_ADMIN: frozenset({SANITIZE}),
}


class UnknownToken(Exception):
    """Nobody gave out this access token, or it has expired."""


class InvalidToken(Exception):
    """No ID token of Google's, or not for this audience, or not of this hour."""


class Accounts:
    """The accounts of one local cloud: access tokens that were given out, and the keys that sign ID tokens. Thread-safe.

    `tokens` are access tokens, with their accounts, that never expire. `operators` administer every service.
    """

    def __init__(self, tokens: Mapping[str, str] | None = None, *, operators: Sequence[str] = ()) -> None:
        self.operators = tuple(map(member, operators))
        self._lock = threading.Lock()
        self._known = dict(tokens or {})
        self._issued: dict[str, tuple[str, float]] = {}
        self._keys: dict[str, bytes] = {}

    def issue(self, token: str, *, email: str, lifetime_seconds: float) -> str:
        """Make `token` valid from now on, and return it."""
        with self._lock:
            self._issued[token] = (email, time.monotonic() + lifetime_seconds)
            while len(self._issued) > _MOST_TOKENS:
                del self._issued[next(iter(self._issued))]
        return token

    def trust(self, key: SigningKey) -> None:
        """Accept ID tokens that `key` signs."""
        with self._lock:
            self._keys[key.id] = key.public_pem

    def claims(self, id_token: str, *, audiences: Sequence[str]) -> Mapping[str, Any]:
        """Return the claims of a valid ID token. Raises InvalidToken."""
        from google.auth import jwt
        from google.auth.exceptions import GoogleAuthError

        with self._lock:
            keys = dict(self._keys)
        try:
            claims: Mapping[str, Any] = jwt.decode(  # type: ignore[no-untyped-call]
                id_token, certs=keys, audience=list(audiences)
            )
        except (GoogleAuthError, ValueError) as error:
            raise InvalidToken from error
        if claims.get("iss") != ISSUER:
            raise InvalidToken
        return claims

    def email(self, request: Request) -> str | None:
        """Return the account of the caller's access token; None for a request without one. Raises UnknownToken."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            return None
        with self._lock:
            email, expires = self._issued.get(token, (self._known.get(token, ""), math.inf))
        if not email or time.monotonic() >= expires:
            raise UnknownToken
        return email

    def caller(self, request: Request, *, service: str) -> str:
        """Return the member that calls `service`. Raises ApiError without a token of anybody's."""
        with suppress(UnknownToken):
            if (email := self.email(request)) is not None:
                return member(email)
        raise ApiError(
            "UNAUTHENTICATED",
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other "
            "valid authentication credential.",
            reason="ACCESS_TOKEN_TYPE_UNSUPPORTED",
            metadata={"service": service},
        )


def member(email: str | None) -> str:
    """Return the name of an account in IAM policies."""
    if email is None:
        return "allUsers"
    return f"serviceAccount:{email}" if email.endswith(".gserviceaccount.com") else f"user:{email}"


class ProjectPolicy:
    """The bindings of one project that concern the APIs here."""

    def __init__(self, bindings: Sequence[Mapping[str, Any]]) -> None:
        self.bindings = tuple(bindings)

    def allows(self, member: str, permission: str) -> bool:
        """Return True if a role of `member` holds `permission`."""
        return any(
            permission in ROLES.get(binding["role"], ()) and member in binding["members"] for binding in self.bindings
        )

    def gives(self, member: str, role: str) -> bool:
        """Return True if `member` has the role."""
        return any(binding["role"] == role and member in binding["members"] for binding in self.bindings)

    def without(self, role: str) -> ProjectPolicy:
        """Return the policy after everybody has lost the role."""
        return ProjectPolicy([each for each in self.bindings if each["role"] != role])

    def resource(self) -> dict[str, Any]:
        """Return the policy as Resource Manager does."""
        return {"version": 1, "etag": "BwYAAAAAAAA=", "bindings": list(self.bindings)}
