"""ES256, ECDSA on P-256 with SHA-256, as JSON Web Signatures have it (RFC 7515; RFC 7518 §3.4).

Its import loads `cryptography`, which a function that neither signs nor verifies does not need.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from a2a_hub.identity.public_keys import PublicKey, base64url, base64url_decoded

_ALGORITHM = ec.ECDSA(SHA256())
_COORDINATE_BYTES = 32
_HEADER = msgspec.json.Decoder(dict[str, Any])


def private_key(pem: str) -> ec.EllipticCurvePrivateKey:
    """Return a P-256 key. Raises ValueError for any other key, and for one with a passphrase."""
    # Takes as long as the rest of this module, and only signers need it.
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except TypeError as error:
        raise ValueError("it has a passphrase") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise ValueError("not a P-256 key")
    return key


def public_half(key: ec.EllipticCurvePrivateKey) -> PublicKey:
    """Return the public half of a private key."""
    point = key.public_key().public_numbers()
    return PublicKey(*(base64url(each.to_bytes(_COORDINATE_BYTES, "big")) for each in (point.x, point.y)))


def verifying_key(key: PublicKey) -> ec.EllipticCurvePublicKey:
    """Return the key for `verifies`. Raises ValueError for a point that is not on the curve."""
    x, y = (int.from_bytes(base64url_decoded(each), "big") for each in (key.x, key.y))
    return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()


def sign(key: ec.EllipticCurvePrivateKey, data: bytes) -> bytes:
    """Return the signature in DER."""
    return key.sign(data, _ALGORITHM)


def jose_signature(der: bytes) -> str:
    """Return a signature as JWS writes it: r and s, 32 bytes each, in base64url."""
    r, s = decode_dss_signature(der)
    return base64url(r.to_bytes(_COORDINATE_BYTES, "big") + s.to_bytes(_COORDINATE_BYTES, "big"))


def compact(key: ec.EllipticCurvePrivateKey, protected: Mapping[str, str], payload: bytes) -> str:
    """Return the compact JWS (RFC 7515 §7.1) of a payload; `protected` names the key."""
    signed = f"{base64url(msgspec.json.encode({'alg': 'ES256', **protected}))}.{base64url(payload)}"
    return f"{signed}.{jose_signature(sign(key, signed.encode()))}"


def key_id(protected: str) -> str:
    """Return the key that a protected header names, "" if it names none.

    Raises ValueError for one that is no header of ES256, or has an extension that must be understood (RFC 7515 §4.1.11).
    """
    header = _HEADER.decode(base64url_decoded(protected))
    if header.get("alg") != "ES256" or "crit" in header:
        raise ValueError("no header of ES256")
    return str(header.get("kid", ""))


def verifies(key: ec.EllipticCurvePublicKey, signed: str, signature: str) -> bool:
    """Return True if the key made the signature of `signed`, a protected header and a payload. Raises ValueError for a signature
    that is no base64url.
    """
    value = base64url_decoded(signature)
    if len(value) != 2 * _COORDINATE_BYTES:
        return False
    r, s = (int.from_bytes(half, "big") for half in (value[:_COORDINATE_BYTES], value[_COORDINATE_BYTES:]))
    try:
        key.verify(encode_dss_signature(r, s), signed.encode(), _ALGORITHM)
    except InvalidSignature:
        return False
    return True
