"""The header by which the gate tells the hub who calls: believed only as the gate wrote it, and for a short time."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.a2a.errors import UNAUTHENTICATED, A2AError
from shared.identity.callers import Callers
from shared.identity.principal import Principal
from shared.identity.signed_principal import HEADER, TOKEN_HEADER, PrincipalSigner
from shared.identity.static_token import StaticTokens, development_clients

KEY = "a-key-that-the-gate-and-the-hub-share"
NOW = 1_800_000_000.0
HANAKO = Principal(
    subject="google:1",
    email="hanako@example.com",
    hosted_domain="example.com",
    routes=frozenset({"docqa", "pm"}),
    operations=frozenset({"SendMessage"}),
)


def signer(*, key: str = KEY, now: float = NOW) -> PrincipalSigner:
    """A signer whose clock stands still."""
    return PrincipalSigner(key, now=lambda: now)


@pytest.mark.parametrize(
    "principal", [HANAKO, Principal(subject="client:ci", client="ci"), Principal(subject="山田")]
)
def test_what_the_gate_signs_is_what_the_hub_reads(principal: Principal) -> None:
    assert signer().verify(signer().sign(principal)) == (principal, False)


def test_no_limit_and_an_empty_limit_stay_apart() -> None:
    for routes in (None, frozenset[str]()):
        principal = Principal(subject="client:ci", routes=routes, operations=routes)
        assert signer().verify(signer().sign(principal)) == (principal, False)


@pytest.mark.parametrize(
    ("later_seconds", "is_believed"),
    [(0, True), (60, True), (89.9, True), (90, False), (3600, False), (-29.9, True), (-31, False)],
)
def test_a_header_is_believed_for_a_minute_and_the_difference_of_two_clocks(
    later_seconds: float, is_believed: bool
) -> None:
    verified = signer(now=NOW + later_seconds).verify(signer().sign(HANAKO))
    assert (verified is not None) == is_believed


def test_another_key_signs_nothing_that_is_believed() -> None:
    assert signer().verify(signer(key="a-key-that-somebody-else-has-made-up").sign(HANAKO)) is None


def test_a_header_that_was_cut_anywhere_is_not_believed() -> None:
    value = signer().sign(HANAKO)
    assert not any(signer().verify(value[:end]) for end in range(len(value)))
    assert not any(signer().verify(value[start:]) for start in range(1, len(value)))


def test_no_changed_character_is_believed() -> None:
    value = signer().sign(HANAKO)
    payload = value.partition(".")[0]
    for place, character in enumerate(value[: len(payload) + 1]):
        changed = value[:place] + ("A" if character != "A" else "B") + value[place + 1 :]
        assert signer().verify(changed) is None


def test_claims_with_the_signature_of_others_are_not_believed() -> None:
    signature = signer().sign(HANAKO).partition(".")[2]
    claims = {"sub": "google:2", "iat": NOW, "exp": NOW + 60}
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    assert signer().verify(f"{payload}.{signature}") is None


@pytest.mark.parametrize(
    "value",
    [
        "",
        ".",
        "..",
        "a.b",
        "e30.",
        ".e30",
        "é.é",
        "a" * 100_000,
        f"{'a' * 9000}.b",
        "\x00.\x00",
        "a.b.c",
        "🙂.🙂",
    ],
)
def test_what_is_no_such_header_is_not_believed(value: str) -> None:
    assert signer().verify(value) is None


@given(st.text(max_size=200))
def test_nothing_that_anybody_writes_is_believed(value: str) -> None:
    assert signer().verify(value) is None


def test_a_token_beside_the_header_counts_only_if_it_was_signed_with_it() -> None:
    value = signer().sign(HANAKO, authorization="Bearer mine")
    assert signer().verify(value, authorization="Bearer mine") == (HANAKO, True)
    assert signer().verify(value, authorization="Bearer another") == (HANAKO, False)
    assert signer().verify(value) == (HANAKO, False)
    assert signer().verify(signer().sign(HANAKO), authorization="Bearer mine") == (HANAKO, False)


def test_the_token_itself_is_not_in_the_header() -> None:
    value = signer().sign(HANAKO, authorization="Bearer my-secret")
    payload = value.partition(".")[0]
    assert b"my-secret" not in base64.urlsafe_b64decode(payload + "==")


def test_a_forged_header_refuses_a_request_that_a_token_would_have_let_in() -> None:
    callers = Callers([StaticTokens(development_clients(["good"]))], signer=signer())
    headers = {"authorization": "Bearer good", HEADER: "forged.header"}
    with pytest.raises(A2AError) as refused:
        callers.identify(headers)
    assert refused.value.kind is UNAUTHENTICATED


def test_who_does_not_believe_a_gate_looks_at_the_token_alone() -> None:
    callers = Callers([StaticTokens(development_clients(["good"]))])
    signed = signer().sign(HANAKO)
    assert callers.identify({"authorization": "Bearer good", HEADER: signed}).principal != HANAKO
    with pytest.raises(A2AError):
        callers.identify({HEADER: signed})


def test_the_callers_token_is_known_only_with_its_own_header() -> None:
    callers = Callers([], signer=signer())
    signed = signer().sign(HANAKO, authorization="Bearer mine")
    assert callers.identify({HEADER: signed, TOKEN_HEADER: "Bearer mine"}).authorization == "Bearer mine"
    assert callers.identify({HEADER: signed, TOKEN_HEADER: "Bearer another"}).authorization is None
    # Behind a gate, Authorization is the gate's own.
    assert callers.identify({HEADER: signed, "authorization": "Bearer of-the-gate"}).authorization is None
