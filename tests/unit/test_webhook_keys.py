"""Notifications are signed so that whoever has the published keys can tell."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from a2a_hub.http.messages import Request
from a2a_hub.identity.public_keys import JWKS_PATH, PublicKey, key_set_endpoints, public_keys
from a2a_hub.settings.reader import SettingsError
from functions.tasks.config import Config, read
from functions.tasks.webhooks.notification import Signer
from local.settings import key_pair
from tests.fakes.signatures import TASKS_SETTINGS
from tests.fakes.webhook_signatures import claims_of

NOW = 1_700_000_000.0
BODY = '{"名":1}'.encode()


def _key_set(*pems: str) -> Any:
    (endpoint,) = key_set_endpoints(public_keys("\n".join(pems)))
    response = endpoint.handler(_get())
    assert isinstance(response.body, bytes)
    return json.loads(response.body)


def _get() -> Request:
    return Request(method="GET", path=JWKS_PATH)


def _signed(private: str) -> str:
    signer = Signer(private, issuer="https://hub.example.com", now=lambda: NOW)
    return signer.sign(BODY, audience="https://receiver.example.com/hook", id_="t/p/3", task_id="t")


def _config(**settings: str) -> Config:
    required = {
        **TASKS_SETTINGS,
        "HUB_URL": "http://127.0.0.1:9",
        "IAM_CREDENTIALS": "none",
        "TASK_STORE": "sqlite:unused.sqlite3",
    }
    return read(required | settings)


def test_a_signature_says_whose_it_is_for_whom_when_and_of_what() -> None:
    private, public = key_pair()
    assert claims_of(_signed(private), _key_set(public)) == {
        "iss": "https://hub.example.com",
        "aud": "https://receiver.example.com/hook",
        "iat": NOW,
        "exp": NOW + 300,
        "jti": "t/p/3",
        "taskId": "t",
        "request_body_sha256": hashlib.sha256(BODY).hexdigest(),
    }


def test_a_signature_is_that_of_one_key_and_of_every_byte() -> None:
    (private, public), (_, another) = key_pair(), key_pair()
    token = _signed(private)
    with pytest.raises(StopIteration):
        claims_of(token, _key_set(another))
    header, claims, signature = token.split(".")
    forged = claims[:-2] + ("A" if claims[-2] != "A" else "B") + claims[-1]
    with pytest.raises((InvalidSignature, ValueError)):
        claims_of(f"{header}.{forged}.{signature}", _key_set(public))
    renamed = _key_set(another)
    renamed["keys"][0]["kid"] = _key_set(public)["keys"][0]["kid"]
    with pytest.raises(InvalidSignature):
        claims_of(token, renamed)


def test_many_signatures_all_have_their_full_length() -> None:
    private, public = key_pair()
    key_set = _key_set(public)
    for _ in range(200):
        claims_of(_signed(private), key_set)


def test_a_keys_id_is_its_thumbprint() -> None:
    # RFC 7638 §3.1's way, on RFC 7517 Appendix A.1's key.
    x, y = "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"
    canonical = f'{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}'.encode()
    digest = hashlib.sha256(canonical).digest()
    assert PublicKey(x, y).id.encode() == base64.urlsafe_b64encode(digest).rstrip(b"=")


def test_the_page_has_every_key_once_and_nothing_private() -> None:
    (_, one), (_, two) = key_pair(), key_pair()
    keys = _key_set(one, two, one)["keys"]
    assert len(keys) == 2
    assert all(set(key) == {"kty", "crv", "x", "y", "kid", "alg", "use"} for key in keys)


def test_the_page_has_a_path_of_its_own_and_is_only_read() -> None:
    (endpoint,) = key_set_endpoints(public_keys(key_pair()[1]))
    assert (endpoint.path, endpoint.methods) == (JWKS_PATH, ("GET", "HEAD"))


def test_without_keys_there_is_no_page() -> None:
    assert key_set_endpoints(()) == ()
    assert _config().webhooks.public_keys == ()


def test_the_key_is_given_itself_or_as_a_file_and_is_not_shown(tmp_path: Path) -> None:
    private, public = key_pair()
    file = tmp_path / "key.pem"
    file.write_text(private)
    for value in (private, str(file)):
        webhooks = _config(WEBHOOK_SIGNING_KEY=value).webhooks
        assert webhooks.signing_key.strip() == private.strip()
        assert webhooks.public_keys == public_keys(public)
        assert "PRIVATE" not in repr(webhooks)


def test_while_a_key_is_changed_both_are_published() -> None:
    (private, public), (_, next_one) = key_pair(), key_pair()
    config = _config(WEBHOOK_SIGNING_KEY=private, WEBHOOK_PUBLIC_KEYS=public + next_one)
    assert set(config.webhooks.public_keys) == set(public_keys(public + next_one))


def _pem(key: Any, password: bytes | None = None) -> str:
    encryption = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    pem: bytes = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    return pem.decode()


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("/nowhere/key.pem", id="no file"),
        pytest.param("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", id="no key"),
        pytest.param(key_pair()[1], id="public"),
        pytest.param(_pem(ec.generate_private_key(ec.SECP384R1())), id="another curve"),
        pytest.param(_pem(ec.generate_private_key(ec.SECP256R1()), b"secret"), id="passphrase"),
        pytest.param(_pem(rsa.generate_private_key(65537, 2048)), id="RSA"),
    ],
)
def test_a_wrong_signing_key_stops_the_start(value: str) -> None:
    with pytest.raises(SettingsError, match="WEBHOOK_SIGNING_KEY must be a P-256 private key") as raised:
        _config(WEBHOOK_SIGNING_KEY=value)
    assert "BEGIN" not in str(raised.value)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("key", id="no PEM"),
        pytest.param(key_pair()[0], id="private"),
        pytest.param(key_pair()[1] + "more", id="more"),
        pytest.param(key_pair()[1].replace("MFk", "MFl"), id="broken"),
    ],
)
def test_a_wrong_public_key_stops_the_start(value: str) -> None:
    with pytest.raises(SettingsError, match="WEBHOOK_PUBLIC_KEYS must be PEM blocks"):
        _config(WEBHOOK_PUBLIC_KEYS=value)
