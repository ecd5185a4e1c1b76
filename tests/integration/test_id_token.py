"""Google ID tokens, checked by google-auth against a certificate endpoint: signature, issuer, audience, caller, expiry."""

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from a2a_hub.identity.authentication import VerifierUnavailable
from a2a_hub.identity.id_token import IdTokenVerifier
from a2a_hub.identity.principal import Principal
from tests.fakes.http_server import Behaviour, HttpServer
from tests.fakes.id_tokens import AUDIENCE, CALLER, Signer, certificates


@pytest.fixture(scope="module")
def signer() -> Signer:
    """Google, as far as these tests go."""
    return Signer()


@pytest.fixture
def endpoint(signer: Signer) -> Iterator[HttpServer]:
    """Yield where the signer's certificate is."""
    with certificates(signer) as server:
        yield server


def verifier(endpoint: HttpServer, **changes: Any) -> IdTokenVerifier:
    """A verifier for AUDIENCE that fetches certificates there."""
    told: dict[str, Any] = {"audiences": frozenset({AUDIENCE}), "certs_url": f"{endpoint.url}/certs"}
    return IdTokenVerifier(**(told | changes))


def test_a_services_token_is_the_service(signer: Signer, endpoint: HttpServer) -> None:
    principal = verifier(endpoint).verify(signer.token())
    assert principal == Principal(subject="google:1098765", email=CALLER)


@pytest.mark.parametrize(
    ("changes", "is_let_in"),
    [
        ({}, True),
        ({"iss": "accounts.google.com"}, True),
        ({"iss": "https://accounts.example.com"}, False),
        ({"iss": None}, False),
        ({"aud": "https://another.example"}, False),
        ({"aud": f"{AUDIENCE}/"}, False),
        ({"aud": None}, False),
        ({"sub": ""}, False),
        ({"sub": None}, False),
        ({"exp": int(time.time()) - 3600}, False),
        ({"iat": int(time.time()) + 3600}, False),
        ({"exp": None}, False),
        ({"header": {"alg": "none"}}, False),
        ({"header": {"alg": "HS256"}}, False),
        ({"header": {"kid": "another"}}, False),
    ],
)
def test_only_a_token_that_fits_is_let_in(
    signer: Signer, endpoint: HttpServer, changes: dict[str, Any], is_let_in: bool
) -> None:
    assert (verifier(endpoint).verify(signer.token(**changes)) is not None) == is_let_in


def test_a_token_that_another_key_signed_is_not_let_in(endpoint: HttpServer) -> None:
    assert verifier(endpoint).verify(Signer().token()) is None


def test_a_token_without_its_signature_is_not_let_in(signer: Signer, endpoint: HttpServer) -> None:
    """Cloud Run passes tokens on like this after it has checked them: anybody could have written one."""
    head = signer.token().rpartition(".")[0]
    for signature in ("SIGNATURE_REMOVED_BY_GOOGLE", "", "AAAA"):
        assert verifier(endpoint).verify(f"{head}.{signature}") is None


def test_a_token_with_changed_claims_is_not_let_in(signer: Signer, endpoint: HttpServer) -> None:
    header, claims, signature = signer.token().split(".")
    changed = json.loads(base64.urlsafe_b64decode(claims + "==")) | {"sub": "somebody else"}
    forged = base64.urlsafe_b64encode(json.dumps(changed).encode()).rstrip(b"=").decode()
    assert verifier(endpoint).verify(f"{header}.{forged}.{signature}") is None


@pytest.mark.parametrize("token", ["", ".", "..", "a.b.c", "e30.e30.e30", "ya29.opaque", "....", "é.é.é"])
def test_what_is_no_jwt_is_not_let_in(endpoint: HttpServer, token: str) -> None:
    assert verifier(endpoint).verify(token) is None


def test_callers_are_limited_to_those_that_are_named(signer: Signer, endpoint: HttpServer) -> None:
    tokens = verifier(endpoint, callers=frozenset({CALLER}))
    assert tokens.verify(signer.token()) is not None
    assert tokens.verify(signer.token(email="somebody@else.example")) is None
    assert tokens.verify(signer.token(email_verified=False)) is None
    assert tokens.verify(signer.token(email=None)) is None


def test_certificates_are_fetched_once(signer: Signer, endpoint: HttpServer) -> None:
    tokens = verifier(endpoint)
    for _ in range(20):
        assert tokens.verify(signer.token()) is not None
    assert len(endpoint.received) == 1


def test_an_opaque_token_costs_no_certificates(endpoint: HttpServer) -> None:
    assert verifier(endpoint).verify("ya29.a0AfH6SMB") is None
    assert endpoint.received == []


def test_certificates_that_cannot_be_had_are_an_outage_and_asked_for_once(signer: Signer) -> None:
    with HttpServer(lambda exchange: exchange.answer(503)) as server:
        tokens = verifier(server)
        for _ in range(5):
            with pytest.raises(VerifierUnavailable):
                tokens.verify(signer.token())
    assert len(server.received) == 1


def test_certificates_are_fetched_again_a_moment_after_an_outage_and_else_in_minutes(signer: Signer) -> None:
    now = 0.0
    with certificates(signer) as server:
        well, server.behave = server.behave, lambda exchange: exchange.answer(503)
        tokens = verifier(server, clock=lambda: now)
        with pytest.raises(VerifierUnavailable):
            tokens.verify(signer.token())
        server.behave = well
        for later, fetched in ((5.0, 2), (600.0, 2), (606.0, 3)):
            now = later
            assert tokens.verify(signer.token()) is not None
            assert len(server.received) == fetched


@pytest.mark.parametrize(
    "outage", [lambda exchange: exchange.answer(503), lambda exchange: exchange.close()], ids=["503", "cut"]
)
def test_in_an_outage_the_last_certificates_are_used_on_for_some_hours(signer: Signer, outage: Behaviour) -> None:
    now = 0.0
    with certificates(signer) as server:
        tokens = verifier(server, clock=lambda: now)
        assert tokens.verify(signer.token()) is not None
        well, server.behave = server.behave, outage
        for later in (600.0, 3600.0, 10_799.0):
            now = later
            assert tokens.verify(signer.token()) is not None
        now = 10_810.0
        with pytest.raises(VerifierUnavailable):
            tokens.verify(signer.token())
        server.behave = well
        now += 5
        assert tokens.verify(signer.token()) is not None


def test_certificates_that_nobody_gives_out_are_an_outage(signer: Signer) -> None:
    with HttpServer(lambda _: None, listens=False) as nobody, pytest.raises(VerifierUnavailable):
        verifier(nobody).verify(signer.token())
