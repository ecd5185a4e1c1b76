"""Accounts behind access tokens and ID tokens, and the keys that sign ID tokens."""

import hashlib
import math
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from a2a_hub.http.messages import Request
from local.cloud.policies import member
from local.cloud.program import ApiError

ISSUER = "https://accounts.google.com"
LIFETIME_SECONDS = 3600
_KEY_BITS = 2048
_MAX_TOKENS = 1000


class SigningKey:
    """An RSA key of this process: made at its start, and gone with it."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS)
        self.public_pem = self._key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.id = hashlib.sha256(self.public_pem).hexdigest()[:40]

    def private_pem(self) -> str:
        """Return the private key, as it stands in a service account's key file."""
        return self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode()

    def signed(self, claims: Mapping[str, Any]) -> str:
        """Return a JSON Web Token, RS256 (RFC 7515)."""
        from google.auth import crypt, jwt

        signer = crypt.RSASigner.from_string(self.private_pem(), key_id=self.id)  # type: ignore[no-untyped-call]
        token: bytes = jwt.encode(signer, claims)  # type: ignore[no-untyped-call]
        return token.decode()


def id_token_claims(*, audience: str, email: str, now: float, lifetime_seconds: float) -> dict[str, Any]:
    """Return the claims of the ID token of a service account; with a negative lifetime it expired that long ago."""
    expires = int(now + lifetime_seconds)
    return {
        "aud": audience,
        "azp": unique_id(email),
        "email": email,
        "email_verified": True,
        "exp": expires,
        "iat": expires - max(LIFETIME_SECONDS, int(abs(lifetime_seconds))),
        "iss": ISSUER,
        "sub": unique_id(email),
    }


def unique_id(email: str) -> str:
    """Return the account's 21-digit number; the same for the same email."""
    return str(10**20 + int(hashlib.sha256(email.encode()).hexdigest(), 16) % 10**20)


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
            while len(self._issued) > _MAX_TOKENS:
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
