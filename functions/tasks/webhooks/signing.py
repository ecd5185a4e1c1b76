"""Signs notifications: a JWT (RFC 7519) that says whose it is, for whom, and of which body."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from a2a_hub.tasks.webhook_keys import PublicKey, base64url, public_keys

_LIFETIME_SECONDS = 300
_INTEGER_BYTES = 32


class Signer:
    """Signs as `issuer`. `now` is the time of day in seconds since the epoch."""

    def __init__(self, pem: str, *, issuer: str, now: Callable[[], float]) -> None:
        self._key = _private_key(pem)
        self._issuer = issuer
        self._now = now
        public = self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (self.public_key,) = public_keys(public.decode())
        header = {"alg": "ES256", "typ": "JWT", "kid": self.public_key.id}
        self._header = base64url(msgspec.json.encode(header))

    def sign(self, body: bytes, *, audience: str, id_: str, task_id: str) -> str:
        """The token for one attempt to send `body`. Each attempt at the same event has the same `id_`."""
        now = int(self._now())
        claims = {
            "iss": self._issuer,
            "aud": audience,
            "iat": now,
            "exp": now + _LIFETIME_SECONDS,
            "jti": id_,
            "taskId": task_id,
            "request_body_sha256": hashlib.sha256(body).hexdigest(),
        }
        signed = f"{self._header}.{base64url(msgspec.json.encode(claims))}"
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        signature = r.to_bytes(_INTEGER_BYTES) + s.to_bytes(_INTEGER_BYTES)
        return f"{signed}.{base64url(signature)}"


def public_key_of(pem: str) -> PublicKey:
    """The public half of a private key. Raises ValueError unless it is one of P-256, unencrypted."""
    return Signer(pem, issuer="", now=lambda: 0.0).public_key


def _private_key(pem: str) -> ec.EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError) as error:
        raise ValueError("not a private key in PEM") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise ValueError("not a P-256 key")
    return key
