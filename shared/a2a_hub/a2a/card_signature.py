"""Signatures of agent cards (A2A 1.0.1 §8.4): a JWS (RFC 7515, ES256) over the rest of the card in canonical form (RFC 8785).

The official SDKs leave out empty and default members before they sign and verify, which the specification does not say: only
cards without such members are signed here, so that every verifier computes the same bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.identity.public_keys import PublicKey, base64url, base64url_decoded

_SIGNATURES = "signatures"
_COORDINATE_BYTES = 32


class SigningFailed(Exception):
    """The key that signs could not be reached."""


class CardSigner(Struct, frozen=True, kw_only=True):
    """The key that signs cards: a function from bytes to a signature in DER, which raises SigningFailed; its public half, and the
    address of the key set that has it.
    """

    ecdsa: Callable[[bytes], bytes]
    key: PublicKey
    key_set_url: str

    def sign(self, card: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the card with its signature, None for one that verifiers would not agree on. Raises SigningFailed."""
        signed: dict[str, Any] = _without_defaults({name: each for name, each in card.items() if name != _SIGNATURES})
        if not _is_whole(signed):
            return None
        protected = {"alg": "ES256", "typ": "JOSE", "kid": self.key.id, "jku": self.key_set_url}
        header, payload = base64url(msgspec.json.encode(protected)), base64url(canonical(signed))
        signature = _joined(self.ecdsa(f"{header}.{payload}".encode()))
        return signed | {_SIGNATURES: [{"protected": header, "signature": base64url(signature)}]}

    def attempt(self, card: Mapping[str, Any]) -> tuple[dict[str, Any] | None, bool]:
        """Return the signed card, if its own key set verifies it, and False where a later attempt may succeed."""
        try:
            signed = self.sign(card)
        except SigningFailed:
            return None, False
        is_final = signed is None or is_signed_by(signed, [self.key])
        return (signed if is_final else None), is_final


def signer_of(pem: str, *, key_set_url: str) -> CardSigner:
    """Return the signer with this key (P-256, in PEM)."""
    # A function that signs nothing starts sooner without this.
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    numbers: Any = load_pem_private_key(pem.encode(), password=None).public_key()
    point = numbers.public_numbers()
    x, y = (base64url(value.to_bytes(_COORDINATE_BYTES, "big")) for value in (point.x, point.y))
    return CardSigner(ecdsa=partial(_ecdsa, pem), key=PublicKey(x, y), key_set_url=key_set_url)


def is_signed_by(card: Mapping[str, Any], keys: Sequence[PublicKey]) -> bool:
    """Return True if one of these keys signed the card, as the specification says, or as the official SDKs do it."""
    unsigned = {name: value for name, value in card.items() if name != _SIGNATURES}
    forms = (unsigned, _without_empty(unsigned), _without_defaults(unsigned))
    try:
        payloads = {base64url(canonical(form)) for form in forms}
    except (ValueError, RecursionError):
        return False
    listed = card.get(_SIGNATURES)
    for each in listed[:10] if isinstance(listed, list) else ():
        if isinstance(each, dict) and any(_verifies(each, payload, keys) for payload in payloads):
            return True
    return False


def canonical(value: Mapping[str, Any]) -> bytes:
    """Return the bytes of RFC 8785. Raises ValueError for what has none."""
    import rfc8785

    try:
        return bytes(rfc8785.dumps(dict(value)))
    except rfc8785.CanonicalizationError as error:
        raise ValueError(str(error)) from error


def _verifies(signature: Mapping[str, Any], payload: str, keys: Sequence[PublicKey]) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, utils

    protected = signature.get("protected")
    try:
        header = msgspec.json.decode(base64url_decoded(str(protected)))
        value = base64url_decoded(str(signature.get("signature")))
    except ValueError:
        return False
    # An extension of JWS that is critical is one that must be understood (RFC 7515 §4.1.11).
    if not isinstance(header, dict) or header.get("alg") != "ES256" or "crit" in header:
        return False
    r, s = (int.from_bytes(half, "big") for half in (value[:_COORDINATE_BYTES], value[_COORDINATE_BYTES:]))
    for key in keys if len(value) == 2 * _COORDINATE_BYTES else ():
        x, y = (int.from_bytes(base64url_decoded(each), "big") for each in (key.x, key.y))
        public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        try:
            public.verify(
                utils.encode_dss_signature(r, s), f"{protected}.{payload}".encode(), ec.ECDSA(hashes.SHA256())
            )
        except InvalidSignature:
            continue
        return True
    return False


def _ecdsa(pem: str, data: bytes) -> bytes:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    key: Any = load_pem_private_key(pem.encode(), password=None)
    return bytes(key.sign(data, ec.ECDSA(hashes.SHA256())))


def _joined(der: bytes) -> bytes:
    """Return a signature in the form of RFC 7518 §3.4: r and s, 32 bytes each."""
    from cryptography.hazmat.primitives.asymmetric import utils

    r, s = utils.decode_dss_signature(der)
    return r.to_bytes(_COORDINATE_BYTES, "big") + s.to_bytes(_COORDINATE_BYTES, "big")


def _without_defaults(value: Any) -> Any:
    """Return the card without members that are false or empty: absent, they mean the same."""
    if isinstance(value, dict):
        kept = {name: _without_defaults(each) for name, each in value.items()}
        return {name: each for name, each in kept.items() if each not in (False, "", None) and each != []}
    return [_without_defaults(each) for each in value] if isinstance(value, list) else value


def _without_empty(value: Any) -> Any:
    """Return what the official SDKs sign of a card with empty members."""
    if isinstance(value, dict):
        kept = {name: _without_empty(each) for name, each in value.items()}
        return {name: each for name, each in kept.items() if each not in ("", None) and each not in ([], {})}
    if isinstance(value, list):
        return [each for each in map(_without_empty, value) if each not in ("", None) and each not in ([], {})]
    return value


def _is_whole(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(_is_whole(each) for each in value.values())
    return bool(value) and all(map(_is_whole, value)) if isinstance(value, list) else value != ""
