"""The public keys that verify the hub's notifications (JWK, RFC 7517): ECDSA on P-256, "ES256"."""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from a2a_hub.http.dispatch import Public
from a2a_hub.http.messages import JSON, Request, Response
from a2a_hub.settings.reader import Settings

JWKS_PATH = "/.well-known/jwks.json"
_PEM = re.compile(r"-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----")
# The prefix of every SubjectPublicKeyInfo of an uncompressed P-256 point (RFC 5480).
_SPKI = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200" + "04")
_COORDINATE_BYTES = 32
_MAX_AGE_SECONDS = 300


class PublicKey(Struct, frozen=True):
    """A point of P-256, its coordinates in base64url."""

    x: str
    y: str

    @property
    def id(self) -> str:
        """The key's thumbprint (RFC 7638)."""
        members = {"crv": "P-256", "kty": "EC", "x": self.x, "y": self.y}
        return base64url(hashlib.sha256(msgspec.json.encode(members)).digest())


def public_keys(pem: str) -> tuple[PublicKey, ...]:
    """Return the keys of one or more PEM blocks. Raise ValueError for anything else."""
    blocks = _PEM.findall(pem)
    if not blocks or _PEM.sub("", pem).strip():
        raise ValueError("no PEM blocks of public keys")
    return tuple(_key(block) for block in blocks)


def read(settings: Settings) -> tuple[PublicKey, ...]:
    """Read the keys of WEBHOOK_PUBLIC_KEYS; there are none if it is unset."""
    pem = settings.optional("WEBHOOK_PUBLIC_KEYS")
    try:
        return public_keys(pem) if pem else ()
    except ValueError:
        settings.problem(
            "WEBHOOK_PUBLIC_KEYS",
            "must be PEM blocks of P-256 public keys, as `openssl ec -pubout` writes them",
        )
        return ()


class KeySetPage:
    """The key set, for everybody; without keys there is no page."""

    def __init__(self, keys: Iterable[PublicKey]) -> None:
        ids = {key.id: key for key in keys}
        self._body = msgspec.json.encode(
            {
                "keys": [
                    {
                        "kty": "EC",
                        "crv": "P-256",
                        "x": key.x,
                        "y": key.y,
                        "kid": id_,
                        "alg": "ES256",
                        "use": "sig",
                    }
                    for id_, key in ids.items()
                ]
            }
        )
        self._exists = bool(ids)

    @property
    def endpoints(self) -> tuple[Public, ...]:
        """The page's row in a function's table of endpoints; none without keys."""
        return (Public(JWKS_PATH, self.serve, exact=True),) if self._exists else ()

    def serve(self, _: Request) -> Response:
        """Return the key set."""
        headers = {"content-type": JSON, "cache-control": f"public, max-age={_MAX_AGE_SECONDS}"}
        return Response(headers=headers, body=self._body)


def base64url(data: bytes) -> str:
    """Return base64url without padding (JOSE)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _key(block: str) -> PublicKey:
    try:
        der = base64.b64decode("".join(block.split()), validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error
    point = der.removeprefix(_SPKI)
    if not der.startswith(_SPKI) or len(point) != 2 * _COORDINATE_BYTES:
        raise ValueError("not a P-256 key")
    return PublicKey(base64url(point[:_COORDINATE_BYTES]), base64url(point[_COORDINATE_BYTES:]))
