"""Signatures of cards: which cards are signed, what is in a signature, and what no key verifies."""

import base64
import json
from typing import Any

import pytest

from a2a_hub.a2a.card_signature import is_signed_by, signer_of
from local.settings import key_pair

_SIGNER = signer_of(key_pair().private, key_set_url="https://hub.example.com/.well-known/jwks.json")
_CARD: dict[str, Any] = {
    "name": "ハブ",
    "version": "1",
    "capabilities": {"streaming": True},
    "skills": [{"id": "a", "tags": ["t"]}],
}


def test_a_signature_names_its_key_and_the_key_set_and_members_that_say_nothing_are_left_out() -> None:
    signed = _SIGNER.sign(_CARD | {"iconUrl": "", "capabilities": {"streaming": True, "pushNotifications": False}})
    assert signed is not None
    (signature,) = signed.pop("signatures")
    assert signed == _CARD
    protected = json.loads(base64.urlsafe_b64decode(signature["protected"] + "=="))
    assert protected == {
        "alg": "ES256",
        "typ": "JOSE",
        "kid": _SIGNER.key.id,
        "jku": "https://hub.example.com/.well-known/jwks.json",
    }


@pytest.mark.parametrize(
    "members", [{"securityRequirements": [{"schemes": {"bearer": {"list": []}}}]}, {"provider": {}}, {"skills": [{}]}]
)
def test_a_card_that_verifiers_read_differently_is_not_signed(members: dict[str, Any]) -> None:
    assert _SIGNER.sign(_CARD | members) is None


@pytest.mark.parametrize(
    "signatures",
    [
        None,
        "x",
        [],
        ["x"],
        [{}],
        [{"protected": 1, "signature": 2}],
        [{"protected": "e30", "signature": "AAAA"}],
        [{"protected": "!", "signature": "!"}],
        [{"protected": "bnVsbA", "signature": "AAAA"}],
        [{"protected": "eyJhbGciOiJub25lIn0", "signature": ""}],
    ],
)
def test_what_is_no_signature_verifies_nothing(signatures: Any) -> None:
    assert not is_signed_by(_CARD | {"signatures": signatures}, [_SIGNER.key])


def test_one_valid_signature_among_others_is_enough_and_no_key_verifies_nothing() -> None:
    signed = _SIGNER.sign(_CARD)
    assert signed is not None
    foreign = {"protected": "e30", "signature": "AAAA"}
    assert is_signed_by(signed | {"signatures": [foreign, *signed["signatures"]]}, [_SIGNER.key])
    assert not is_signed_by(signed, [])
