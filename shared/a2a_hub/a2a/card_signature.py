"""Signatures of agent cards (A2A 1.0.1 §8.4): a JWS (RFC 7515, ES256) over the rest of the card in canonical form (RFC 8785).

The official SDKs leave out empty and default members before they sign and verify, which the specification does not say: only
cards without such members are signed here, so that every verifier computes the same bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.identity.public_keys import PublicKey, base64url

_SIGNATURES = "signatures"


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
        # A function that signs nothing starts sooner without this, as below.
        from a2a_hub.identity import es256

        signed: dict[str, Any] = _without_defaults({name: each for name, each in card.items() if name != _SIGNATURES})
        if not _is_whole(signed):
            return None
        protected = {"alg": "ES256", "typ": "JOSE", "kid": self.key.id, "jku": self.key_set_url}
        header, payload = base64url(msgspec.json.encode(protected)), base64url(canonical(signed))
        signature = es256.jose_signature(self.ecdsa(f"{header}.{payload}".encode()))
        return signed | {_SIGNATURES: [{"protected": header, "signature": signature}]}

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
    from a2a_hub.identity import es256

    key = es256.private_key(pem)
    return CardSigner(ecdsa=partial(es256.sign, key), key=es256.public_half(key), key_set_url=key_set_url)


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
    from a2a_hub.identity import es256

    protected = str(signature.get("protected"))
    try:
        es256.key_id(protected)
        return any(
            es256.verifies(es256.verifying_key(key), f"{protected}.{payload}", str(signature.get("signature")))
            for key in keys
        )
    except ValueError:
        return False


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
