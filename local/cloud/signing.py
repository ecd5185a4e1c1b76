"""Signs and verifies ID tokens: keys, claims, certificates."""

import base64
import datetime
import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from a2a_hub.http.client import HttpClient, HttpFailure
from hubctl.connection import exchange

ISSUER = "https://accounts.google.com"
LIFETIME_SECONDS = 3600
_KEY_BITS = 2048
_CERTIFICATE_DAYS = 14
_SECONDS = 5.0
_CACHE_SECONDS = 60.0


class SigningKey:
    """An RSA key of this process: made at its start, and gone with it."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS)
        public = self._key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.id = hashlib.sha256(public).hexdigest()[:40]

    def certificate(self, now: datetime.datetime) -> str:
        """Return a self-signed certificate, PEM, that is valid around `now`."""
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "local-cloud")])
        builder = x509.CertificateBuilder(
            issuer_name=name,
            subject_name=name,
            public_key=self._key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now - datetime.timedelta(days=1),
            not_valid_after=now + datetime.timedelta(days=_CERTIFICATE_DAYS),
        )
        certificate = builder.sign(self._key, hashes.SHA256())
        return certificate.public_bytes(serialization.Encoding.PEM).decode()

    def private_pem(self) -> str:
        """Return the private key, as it stands in a service account's key file."""
        return self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode()

    def signed(self, claims: Mapping[str, Any]) -> str:
        """Return a JSON Web Token, RS256 (RFC 7515)."""
        header = {"alg": "RS256", "kid": self.id, "typ": "JWT"}
        text = f"{_segment(header)}.{_segment(claims)}"
        signature = self._key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{text}.{_base64(signature)}"


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


def _segment(value: Mapping[str, Any]) -> str:
    return _base64(json.dumps(value, separators=(",", ":")).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class InvalidToken(Exception):
    """No ID token of Google's, or not for this audience, or not of this hour."""


class Certificates:
    """The keys of every signer at `urls`; fetched when needed, and cached for a while."""

    def __init__(self, urls: Sequence[str], *, http: HttpClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._urls = urls
        self._http = http
        self._clock = clock
        self._lock = threading.Lock()
        self._cached: tuple[float, dict[str, str]] | None = None

    def claims(self, token: str, *, audiences: Sequence[str]) -> Mapping[str, Any]:
        """Return the claims of a valid token. Raises InvalidToken."""
        from google.auth import jwt
        from google.auth.exceptions import GoogleAuthError

        try:
            claims: Mapping[str, Any] = jwt.decode(  # type: ignore[no-untyped-call]
                token, certs=self._certificates(), audience=list(audiences)
            )
        except (GoogleAuthError, ValueError) as error:
            raise InvalidToken from error
        if claims.get("iss") != ISSUER:
            raise InvalidToken
        return claims

    def _certificates(self) -> dict[str, str]:
        with self._lock:
            if self._cached is None or self._clock() >= self._cached[0]:
                found: dict[str, str] = {}
                for url in self._urls:
                    found |= self._fetched(url)
                self._cached = (self._clock() + _CACHE_SECONDS, found)
            return self._cached[1]

    def _fetched(self, url: str) -> dict[str, str]:
        try:
            certificates: dict[str, str] = json.loads(
                exchange(self._http, "GET", url, headers={}, seconds=_SECONDS).body
            )
            return certificates
        except HttpFailure as failure:
            raise InvalidToken from failure
