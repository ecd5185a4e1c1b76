"""What a receiver does with a signature, by the specifications alone: RFC 7515, RFC 7517, RFC 7518 §3.4."""

import base64
import json
from typing import Any, cast

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature


def claims_of(token: str, key_set: Any) -> dict[str, Any]:
    """The claims of a token that a key of the set has signed. Raises InvalidSignature, or StopIteration without the key."""
    signed, _, signature = token.rpartition(".")
    header, claims = (json.loads(_decoded(part)) for part in signed.split("."))
    assert header["alg"] == "ES256"
    key = next(key for key in key_set["keys"] if key["kid"] == header["kid"])
    x, y = (int.from_bytes(_decoded(key[name])) for name in "xy")
    raw = _decoded(signature)
    assert len(raw) == 64
    ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key().verify(
        encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:])),
        signed.encode(),
        ec.ECDSA(hashes.SHA256()),
    )
    return cast("dict[str, Any]", claims)


def _decoded(text: str) -> bytes:
    assert "=" not in text
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
