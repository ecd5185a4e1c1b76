"""Cards that Cloud KMS signs: through a stand-in of KMS and of the metadata server on one port."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from a2a_hub.a2a.card_signature import SigningFailed, is_signed_by
from a2a_hub.identity.public_keys import public_keys
from a2a_hub.settings.hub import _card_signer
from a2a_hub.settings.reader import Settings, SettingsError
from local.settings import key_pair
from tests.fakes.http_server import Exchange, HttpServer

NAME = "projects/p/locations/l/keyRings/r/cryptoKeys/c/cryptoKeyVersions/1"
PAIR = key_pair()
CARD: dict[str, Any] = {"name": "ハブ", "skills": [{"id": "a"}]}


class Kms:
    """Signs digests with the key for who has the metadata server's token; `status` other than 200 refuses."""

    status = 200

    def answer(self, exchange: Exchange) -> None:
        received = exchange.received
        if received.path.startswith("/computeMetadata/"):
            assert received.headers["metadata-flavor"] == "Google"
            return exchange.json({"access_token": "ya29.own", "expires_in": 3599, "token_type": "Bearer"})
        assert (received.method, received.path) == ("POST", f"/v1/{NAME}:asymmetricSign")
        assert received.headers["authorization"] == "Bearer ya29.own"
        digest = base64.b64decode(received.json["digest"]["sha256"])
        key: Any = load_pem_private_key(PAIR.private.encode(), password=None)
        signature = key.sign(digest, ec.ECDSA(utils.Prehashed(hashes.SHA256())))
        return exchange.json({"name": NAME, "signature": base64.b64encode(signature).decode()}, self.status)


@pytest.fixture
def kms() -> Iterator[tuple[Kms, dict[str, str]]]:
    stand_in = Kms()
    with HttpServer(stand_in.answer) as server:
        host = f"127.0.0.1:{server.port}"
        yield stand_in, {"CARD_SIGNING_KEY": NAME, "KMS_ENDPOINT": f"http://{host}", "GCE_METADATA_HOST": host}


def test_a_card_is_signed_with_a_key_that_never_leaves_kms(kms: tuple[Kms, dict[str, str]]) -> None:
    stand_in, environ = kms
    keys = public_keys(PAIR.public)
    signer = _card_signer(Settings(environ), "https://hub.example.com", keys)
    assert signer is not None
    signed = signer.sign(CARD)
    assert signed is not None
    assert is_signed_by(signed, keys)
    assert not is_signed_by(signed, public_keys(key_pair().public))
    stand_in.status = 403
    with pytest.raises(SigningFailed):
        signer.sign(CARD)


def test_the_public_half_has_to_be_given(kms: tuple[Kms, dict[str, str]]) -> None:
    settings = Settings(kms[1])
    assert _card_signer(settings, "https://hub.example.com", ()) is None
    with pytest.raises(SettingsError, match="CARD_PUBLIC_KEYS must begin"):
        settings.check()
