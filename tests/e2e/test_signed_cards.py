"""Signed cards: what the hub signs, the official SDKs verify; what they sign, the hub verifies."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from a2a_hub.a2a import protojson
from a2a_hub.a2a.card_signature import is_signed_by, signer_of
from a2a_hub.a2a.model import Version
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.identity.public_keys import base64url
from a2a_hub.settings.hub import public_card, read
from a2a_hub.settings.reader import Settings
from local.npm import installed
from local.settings import key_pair
from tests.deploy.tools import program
from tests.e2e.hubs import ROOT
from tests.e2e.sdk_environments import python_of

Json = dict[str, Any]
_HERE = Path(__file__).parent
PEM = key_pair().private
SIGNER = signer_of(PEM, key_set_url="https://hub.example.com/.well-known/jwks.json")


@pytest.fixture(scope="module", params=["Python", "JavaScript"])
def sdk(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """A program with the official SDK."""
    if request.param == "Python":
        command = [str(python_of("sdk_1_x")), str(_HERE / "sdk_1_x" / "signatures.py")]
    else:
        modules = installed(program("npm"), ROOT / "bench" / "js")
        command = [program("node"), str(_HERE / "signatures.mjs"), str(modules)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as popen:
        yield popen
        popen.communicate(timeout=30)


def _ask(sdk: subprocess.Popen[str], **asked: Any) -> Json:
    assert sdk.stdin is not None
    assert sdk.stdout is not None
    sdk.stdin.write(json.dumps(asked) + "\n")
    sdk.stdin.flush()
    answer: Json = json.loads(sdk.stdout.readline())
    return answer


def _private_jwk() -> Json:
    key = load_pem_private_key(PEM.encode(), password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return SIGNER.key.jwk | {"d": base64url(key.private_numbers().private_value.to_bytes(32, "big"))}


def test_an_sdk_verifies_the_hubs_card_and_no_other(sdk: subprocess.Popen[str]) -> None:
    card = SIGNER.sign(json.loads(_hub_card()))
    assert card is not None
    other = signer_of(key_pair().private, key_set_url="").key
    for shown, key, valid in (
        (card, SIGNER.key, True),
        (card, other, False),
        (card | {"name": "x"}, SIGNER.key, False),
    ):
        assert _ask(sdk, card=shown, jwk=key.jwk) == {"valid": valid}


def test_the_hub_verifies_what_an_sdk_signs_empty_members_or_not(sdk: subprocess.Popen[str]) -> None:
    card = json.loads(_hub_card())
    card["skills"][0]["examples"] = []
    card["capabilities"]["pushNotifications"] = False
    signed = _ask(sdk, card=card, jwk=_private_jwk(), sign=True)["card"]
    assert is_signed_by(signed, [SIGNER.key])
    assert not is_signed_by(signed | {"description": "x"}, [SIGNER.key])
    assert not is_signed_by(signed, [signer_of(key_pair().private, key_set_url="").key])


def _hub_card() -> bytes:
    """The card of the sample routes for 1.0, with Google's sign-in, in Japanese and English."""
    settings = Settings({"GOOGLE_TOKEN_AUDIENCES": "client", "HUB_PUBLIC_URL": "https://hub.example.com"})
    public = public_card(read(settings, {}, needs_urls=False))
    return protojson.encode(CODECS[Version.V1_0].card(public, protocol_version_v0_3="0.3.0"))
