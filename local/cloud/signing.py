"""Signs ID tokens: keys and claims."""

import hashlib
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

ISSUER = "https://accounts.google.com"
LIFETIME_SECONDS = 3600
_KEY_BITS = 2048


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
