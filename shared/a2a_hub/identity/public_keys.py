"""Public keys as settings (PEM), as JWK, and as the page (JWK Set, RFC 7517) that verifies the hub's notifications and cards.

They are of ECDSA on P-256, "ES256".
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from a2a_hub.http.dispatch import Public
from a2a_hub.http.messages import JSON, Response

_PEM = r"-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----"
# The prefix of every SubjectPublicKeyInfo of an uncompressed P-256 point (RFC 5480).
_SPKI = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200" + "04")
_COORDINATE_BYTES = 32
EXPECTED = "must be PEM blocks of P-256 public keys, as `openssl ec -pubout` writes them"

JWKS_PATH = "/.well-known/jwks.json"
_MAX_AGE_SECONDS = 300


class PublicKey(Struct, frozen=True):
    """A point of P-256, its coordinates in base64url."""

    x: str
    y: str

    @property
    def jwk(self) -> dict[str, str]:
        """The members of the key (RFC 7518 §6.2.1)."""
        return {"crv": "P-256", "kty": "EC", "x": self.x, "y": self.y}

    @property
    def id(self) -> str:
        """The key's thumbprint (RFC 7638)."""
        return base64url(hashlib.sha256(msgspec.json.encode(self.jwk)).digest())


def public_keys(pem: str) -> tuple[PublicKey, ...]:
    """Return the keys of one or more PEM blocks. Raise ValueError for anything else."""
    blocks = re.findall(_PEM, pem)
    if not blocks or re.sub(_PEM, "", pem).strip():
        raise ValueError("no PEM blocks of public keys")
    return tuple(_key(block) for block in blocks)


def base64url(data: bytes) -> str:
    """Return base64url without padding (JOSE)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def base64url_decoded(text: str) -> bytes:
    """Return the bytes of base64url without padding. Raises ValueError."""
    if not text.isascii():
        raise ValueError("no base64url")
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _key(block: str) -> PublicKey:
    try:
        der = base64.b64decode("".join(block.split()), validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error
    point = der.removeprefix(_SPKI)
    if not der.startswith(_SPKI) or len(point) != 2 * _COORDINATE_BYTES:
        raise ValueError("not a P-256 key")
    return PublicKey(base64url(point[:_COORDINATE_BYTES]), base64url(point[_COORDINATE_BYTES:]))


def key_set_endpoints(keys: Iterable[PublicKey]) -> tuple[Public, ...]:
    """Return the row of the key set, which is for everybody, in a function's table of endpoints; none without keys."""
    members = {key.id: key.jwk | {"kid": key.id, "alg": "ES256", "use": "sig"} for key in keys}
    page = Response(
        headers={"content-type": JSON, "cache-control": f"public, max-age={_MAX_AGE_SECONDS}"},
        body=msgspec.json.encode({"keys": [*members.values()]}),
    )
    return (Public(JWKS_PATH, lambda _: page, exact=True),) if members else ()
