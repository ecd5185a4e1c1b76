"""The header by which a function tells another who calls: believed only as its signer wrote it, and for a short time."""

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import UNAUTHENTICATED, UNAVAILABLE, A2AError
from a2a_hub.http.messages import Request, body_of
from a2a_hub.identity.authentication import CALLER_AUTHORIZATION_HEADER, PRINCIPAL_HEADER, Authenticator
from a2a_hub.identity.principal import HUB_FUNCTION, TASKS_FUNCTION, Principal, StaticTokenVerifier, development_clients
from a2a_hub.identity.public_keys import base64url, public_keys
from a2a_hub.identity.signed_principal import PrincipalSigner, PrincipalVerifier
from functions.hub.config import read as read_settings
from local.settings import KeyPair, key_pair
from tests.fakes.signatures import HUB_SETTINGS, KEYS

GATE, TASKS, STRANGER = KEYS["gate"], KEYS["tasks"], key_pair()
NOW = 1_800_000_000.0
BODY = b'{"text":"Hello"}'
HANAKO = Principal(
    subject="google:1",
    email="hanako@example.com",
    hosted_domain="example.com",
    routes=frozenset({"docqa", "pm"}),
    operations=frozenset({"SendMessage"}),
)
SIGNATURE_CHARACTERS = 86


def signed(
    principal: Principal = HANAKO,
    key: KeyPair = GATE,
    *,
    method: str = "POST",
    path: str = "/",
    authorization: str | None = None,
    audience: str = "hub",
) -> str:
    """The header of a request."""
    signer = PrincipalSigner(key.private, now=lambda: NOW, audience=audience)
    return signer.sign(principal, method=method, path=path, body=BODY, authorization=authorization)


def verifier(*gate: KeyPair, now: float = NOW) -> PrincipalVerifier:
    """The hub's, whose clock stands still."""
    keys = {
        "gate": public_keys("".join(pair.public for pair in gate or (GATE,))),
        "tasks": public_keys(TASKS.public),
        "hub": public_keys(KEYS["hub"].public),
    }
    return PrincipalVerifier(keys, now=lambda: now, audience="hub")


def believed(
    value: str,
    *gate: KeyPair,
    now: float = NOW,
    method: str = "POST",
    path: str = "/",
    query: dict[str, list[str]] | None = None,
) -> Principal | None:
    """Whom the hub takes the caller of a request for."""
    received = Request(method=method, path=path, query=query or {}, headers={PRINCIPAL_HEADER: value})
    try:
        return verifier(*gate, now=now).verify(received).principal
    except A2AError:
        return None


def request(body: bytes = BODY, /, **headers: str) -> Request:
    """A request to `/`; underscores in names are hyphens."""
    named = {name.replace("_", "-"): headers[name] for name in headers}
    return Request(method="POST", path="/", headers=named, read_body=body_of(body))


def claims_of(value: str) -> dict[str, Any]:
    payload = value.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=="))
    return claims


def encoded(value: Any) -> str:
    return base64url(json.dumps(value).encode())


@pytest.mark.parametrize(
    "principal",
    [HANAKO, Principal(subject="client:ci", client="ci", operator=True), Principal(subject="山田")],
)
def test_what_the_gate_signs_is_what_the_hub_reads(principal: Principal) -> None:
    assert believed(signed(principal)) == principal


def test_no_limit_and_an_empty_limit_stay_apart() -> None:
    for routes in (None, frozenset[str]()):
        principal = Principal(subject="client:ci", routes=routes, operations=routes)
        assert believed(signed(principal)) == principal


@pytest.mark.parametrize(
    ("later_seconds", "is_believed"),
    [(0, True), (60, True), (89.9, True), (90, False), (3600, False), (-29.9, True), (-31, False)],
)
def test_a_header_is_believed_for_a_minute_and_the_difference_of_two_clocks(
    later_seconds: float, is_believed: bool
) -> None:
    assert (believed(signed(), now=NOW + later_seconds) is not None) == is_believed


def test_another_key_signs_nothing_that_is_believed() -> None:
    assert believed(signed(key=STRANGER)) is None


def test_while_a_key_is_changed_both_are_believed() -> None:
    for key in (GATE, STRANGER):
        assert believed(signed(key=key), GATE, STRANGER) == HANAKO
    assert believed(signed(key=key_pair()), GATE, STRANGER) is None


def test_two_keys_are_one_setting_of_two_blocks() -> None:
    settings = {**HUB_SETTINGS, "GATE_PUBLIC_KEYS": STRANGER.public + GATE.public}
    assert read_settings(settings).identity.trusted_keys["gate"] == public_keys(STRANGER.public + GATE.public)


@pytest.mark.parametrize("function", ["hub", "tasks"])
@pytest.mark.parametrize(
    "principal",
    [
        HANAKO,
        Principal(subject="client:ci", client="ci", operator=True),
        Principal(subject="function:gate"),
        Principal(subject=TASKS_FUNCTION, operator=True),
        Principal(subject=TASKS_FUNCTION, email="hanako@example.com", hosted_domain="example.com"),
    ],
    ids=["person", "client", "gate", "operator", "address"],
)
def test_a_function_other_than_the_gate_names_nobody_but_itself(function: str, principal: Principal) -> None:
    own = Principal(subject=f"function:{function}")
    assert believed(signed(own, KEYS[function])) == own
    assert believed(signed(principal, KEYS[function])) is None


@pytest.mark.parametrize("subject", [HUB_FUNCTION, TASKS_FUNCTION])
def test_the_gate_does_not_speak_as_another_function_nor_one_of_these_as_the_other(subject: str) -> None:
    for function in KEYS.keys() - {subject.removeprefix("function:")}:
        assert believed(signed(Principal(subject=subject), KEYS[function])) is None


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/tools/query"), ("GET", "/"), ("POST", "/ "), ("POST", ""), ("POST /", "")]
)
def test_a_header_of_one_request_lets_no_other_in(method: str, path: str) -> None:
    assert believed(signed(), method=method, path=path) is None


def test_a_header_is_for_one_query_in_any_order_and_spelling() -> None:
    value = signed(method="GET", path="/tasks?status=a%20b&pageSize=2&empty=")
    query = {"pageSize": ["2"], "empty": [""], "status": ["a b"]}
    assert believed(value, method="GET", path="/tasks", query=query) == HANAKO
    for changed in ({}, query | {"pageSize": ["3"]}, query | {"contextId": ["1"]}, query | {"pageSize": ["2", "2"]}):
        assert believed(value, method="GET", path="/tasks", query=changed) is None
    assert believed(value, method="GET", path="/tasks?status=a%20b&pageSize=2&empty=") is None


def test_a_header_for_one_function_lets_nobody_into_another() -> None:
    assert believed(signed(audience="tasks")) is None


def test_a_header_that_was_cut_anywhere_is_not_believed() -> None:
    value = signed()
    assert not any(believed(value[:end]) for end in range(len(value)))
    assert not any(believed(value[start:]) for start in range(1, len(value)))


def test_no_changed_character_is_believed() -> None:
    value = signed()
    for place, character in enumerate(value[: -SIGNATURE_CHARACTERS + 1]):
        changed = value[:place] + ("A" if character != "A" else "B") + value[place + 1 :]
        assert believed(changed) is None


def test_claims_with_the_signature_of_others_are_not_believed() -> None:
    header, _, signature = signed().split(".")
    assert (
        believed(f"{header}.{encoded(claims_of(signed()) | {'principal': {'subject': 'google:2'}})}.{signature}")
        is None
    )


def test_the_public_key_as_a_shared_secret_signs_nothing() -> None:
    # RFC 8725 §2.1: the algorithm is not the token's to choose.
    (key,) = public_keys(GATE.public)
    payload = signed().split(".")[1]
    for algorithm in ("HS256", "none", "ES256"):
        protected = f"{encoded({'alg': algorithm, 'kid': key.id})}.{payload}"
        signature = base64url(hmac.digest(GATE.public.encode(), protected.encode(), "sha256"))
        assert believed(f"{protected}.{signature}") is None
        assert believed(f"{protected}.") is None


@pytest.mark.parametrize(
    "value",
    [
        "",
        ".",
        "..",
        "a.b",
        "e30.e30.e30",
        "é.é.é",
        "a" * 100_000,
        f"{'a' * 9000}.b.c",
        "\x00.\x00.\x00",
        "W10.e30.AA",
        "WyJhbGciXQ.e30.AA",
        "eyJhbGciOiJFUzI1NiIsImtpZCI6e319.e30.AA",
        "🙂.🙂.🙂",
        "\ud800.a.b",
    ],
)
def test_what_is_no_such_header_is_not_believed(value: str) -> None:
    assert believed(value) is None


@given(st.text(max_size=200))
def test_nothing_that_anybody_writes_is_believed(value: str) -> None:
    assert believed(value) is None


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=9), st.lists, max_leaves=5))
def test_no_header_of_a_signature_that_anybody_writes_is_believed(value: Any) -> None:
    for header in (value, {"alg": value}, {"alg": "ES256", "kid": value}, {"alg": "ES256", "crit": value}):
        assert believed(f"{encoded(header)}.e30.AA") is None


@pytest.mark.parametrize(
    ("signed_with", "beside", "is_the_callers"),
    [
        ("Bearer mine", "Bearer mine", True),
        ("Bearer mine", "Bearer another", False),
        ("Bearer mine", None, False),
        (None, "Bearer mine", False),
    ],
)
def test_a_token_beside_the_header_counts_only_if_it_was_signed_with_it(
    signed_with: str | None, beside: str | None, is_the_callers: bool
) -> None:
    headers = {"x_hub_caller_authorization": beside} if beside else {}
    found = verifier().verify(request(x_hub_principal=signed(authorization=signed_with), **headers))
    assert (found.principal, found.authorization) == (HANAKO, beside if is_the_callers else None)


def test_neither_the_token_nor_the_text_is_in_the_header() -> None:
    claims = json.dumps(claims_of(signed(authorization="Bearer my-secret")))
    assert "my-secret" not in claims
    assert "Hello" not in claims
    assert hashlib.sha256(BODY).hexdigest() in claims


def test_a_forged_header_refuses_a_request_that_a_token_would_have_let_in() -> None:
    tokens = [StaticTokenVerifier(development_clients(["good"]))]
    authenticator = Authenticator(tokens, header_verifier=verifier())
    for forged in ("forged.header", signed(key=STRANGER), signed(method="GET"), signed(key=TASKS)):
        with pytest.raises(A2AError) as refused:
            authenticator.authenticate(request(authorization="Bearer good", x_hub_principal=forged))
        assert refused.value.kind is UNAUTHENTICATED


def test_a_header_does_not_fit_another_body() -> None:
    authenticator = Authenticator([], header_verifier=verifier())
    whole = request(x_hub_principal=signed())
    assert authenticator.authenticate(whole).principal == HANAKO
    assert read_body(whole, 1000) == BODY
    for body in (b"", BODY + b" ", BODY.replace(b"Hello", b"Other")):
        other = request(body, x_hub_principal=signed())
        authenticator.authenticate(other)
        with pytest.raises(A2AError) as refused:
            read_body(other, 1000)
        assert refused.value.kind is UNAUTHENTICATED


def test_a_body_without_a_signature_is_read_as_it_is() -> None:
    authenticator = Authenticator([StaticTokenVerifier(development_clients(["good"]))], header_verifier=verifier())
    plain = request(authorization="Bearer good")
    authenticator.authenticate(plain)
    assert read_body(plain, 1000) == BODY


@pytest.mark.parametrize("later_seconds", [90, -31])
def test_a_header_that_waited_or_was_made_by_another_clock_is_an_outage_and_no_bad_token(
    later_seconds: float,
) -> None:
    authenticator = Authenticator([], header_verifier=verifier(now=NOW + later_seconds))
    with pytest.raises(A2AError) as refused:
        authenticator.authenticate(request(x_hub_principal=signed()))
    assert refused.value.kind is UNAVAILABLE
    assert "retry-after" in refused.value.headers
    for forged in (signed(key=STRANGER), signed(method="GET")):
        with pytest.raises(A2AError) as refused:
            authenticator.authenticate(request(x_hub_principal=forged))
        assert refused.value.kind is UNAUTHENTICATED


def test_who_does_not_believe_a_gate_looks_at_the_token_alone() -> None:
    authenticator = Authenticator([StaticTokenVerifier(development_clients(["good"]))])
    told = authenticator.authenticate(request(authorization="Bearer good", x_hub_principal=signed()))
    assert told.principal != HANAKO
    with pytest.raises(A2AError):
        authenticator.authenticate(request(x_hub_principal=signed()))


def test_the_callers_token_is_known_only_with_its_own_header() -> None:
    authenticator = Authenticator([], header_verifier=verifier())
    value = signed(authorization="Bearer mine")

    def known(**headers: str) -> str | None:
        return authenticator.authenticate(request(x_hub_principal=value, **headers)).authorization

    assert known(x_hub_caller_authorization="Bearer mine") == "Bearer mine"
    assert known(x_hub_caller_authorization="Bearer another") is None
    # Behind a gate, Authorization is the gate's own.
    assert known(authorization="Bearer of-the-gate") is None


def test_the_names_of_the_headers_are_those_of_the_protocol_between_gate_and_hub() -> None:
    assert (PRINCIPAL_HEADER, CALLER_AUTHORIZATION_HEADER) == ("x-hub-principal", "x-hub-caller-authorization")
