"""ID tokens as Google signs them, with a key of the test's own, and the endpoint that publishes its certificate."""

import base64
import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.fakes.http_server import Exchange, HttpServer

AUDIENCE = "https://hub.example"
CALLER = "worker@project.iam.gserviceaccount.com"
KEY_ID = "key-1"


class Signer:
    """A key pair; `certificate` is what its owner publishes."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(name, name, self._key.public_key(), 1)
        builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        certificate = builder.sign(self._key, hashes.SHA256())
        self.certificate = certificate.public_bytes(serialization.Encoding.PEM).decode()

    def token(self, *, header: dict[str, Any] | None = None, **changes: Any) -> str:
        """An ID token of CALLER for AUDIENCE, with changes; None leaves a claim out."""
        now = int(time.time())
        claims = {
            "iss": "https://accounts.google.com",
            "aud": AUDIENCE,
            "sub": "1098765",
            "email": CALLER,
            "email_verified": True,
            "iat": now - 10,
            "exp": now + 3600,
        } | changes
        claims = {name: value for name, value in claims.items() if value is not None}
        signed = f"{_part({'alg': 'RS256', 'typ': 'JWT', 'kid': KEY_ID} | (header or {}))}.{_part(claims)}"
        signature = self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{signed}.{_base64(signature)}"


def certificates(signer: Signer) -> HttpServer:
    """Serves the signer's certificate, as Google's /oauth2/v1/certs does."""

    def behave(exchange: Exchange) -> None:
        exchange.json({KEY_ID: signer.certificate})

    return HttpServer(behave)


def _part(value: object) -> str:
    return _base64(json.dumps(value).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
