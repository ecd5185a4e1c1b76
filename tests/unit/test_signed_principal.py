"""The header by which the gate tells the hub who calls: believed only as the gate wrote it, and for a short time."""

import base64
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_hub.a2a.errors import UNAUTHENTICATED, UNAVAILABLE, A2AError
from a2a_hub.http.messages import Request
from a2a_hub.identity.authentication import Authenticator
from a2a_hub.identity.principal import Principal
from a2a_hub.identity.signed_principal import HEADER, TOKEN_HEADER, PrincipalSigner, SignatureExpired
from a2a_hub.identity.static_clients import StaticTokenVerifier, development_clients
from functions.hub.config import read as read_settings

KEY = "a-key-that-the-gate-and-the-hub-share"
OTHER_KEY = "a-key-that-somebody-else-has-made-up"
NOW = 1_800_000_000.0
HANAKO = Principal(
    subject="google:1",
    email="hanako@example.com",
    hosted_domain="example.com",
    routes=frozenset({"docqa", "pm"}),
    operations=frozenset({"SendMessage"}),
)


def signer(*keys: str, now: float = NOW, audience: str = "hub") -> PrincipalSigner:
    """A signer whose clock stands still."""
    return PrincipalSigner(keys or [KEY], now=lambda: now, audience=audience)


def signed(principal: Principal = HANAKO, *keys: str, authorization: str | None = None) -> str:
    """The header of a request to `/`."""
    return signer(*keys).sign(principal, method="POST", path="/", authorization=authorization)


def believed(value: str, *keys: str, now: float = NOW, method: str = "POST", path: str = "/") -> Principal | None:
    """Whom the hub takes the caller of a request for."""
    try:
        verified = signer(*keys, now=now).verify(value, method=method, path=path)
    except SignatureExpired:
        return None
    return verified[0] if verified else None


def request(**headers: str) -> Request:
    """A request to `/`; underscores in names are hyphens."""
    return Request(method="POST", path="/", headers={name.replace("_", "-"): headers[name] for name in headers})


@pytest.mark.parametrize("principal", [HANAKO, Principal(subject="client:ci", client="ci"), Principal(subject="山田")])
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
    assert believed(signed(HANAKO, OTHER_KEY)) is None


def test_while_a_key_is_changed_both_are_believed_and_the_first_one_signs() -> None:
    assert believed(signed(HANAKO, OTHER_KEY, KEY), OTHER_KEY) == HANAKO
    assert believed(signed(HANAKO, OTHER_KEY, KEY), KEY) is None
    for signs in (KEY, OTHER_KEY):
        assert believed(signed(HANAKO, signs), KEY, OTHER_KEY) == HANAKO
    assert believed(signed(HANAKO, "a-third-key"), KEY, OTHER_KEY) is None


def test_two_keys_are_one_setting_with_a_comma() -> None:
    setting = read_settings({"GATE_SIGNING_KEY": f"{OTHER_KEY}, {KEY}"}).identity.signer()
    assert setting is not None
    value = setting.sign(HANAKO, method="POST", path="/")
    assert PrincipalSigner([OTHER_KEY], now=time.time).verify(value, method="POST", path="/")
    older = PrincipalSigner([KEY], now=time.time).sign(HANAKO, method="POST", path="/")
    assert setting.verify(older, method="POST", path="/")


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/tools/query"), ("GET", "/"), ("POST", "/ "), ("POST", ""), ("POST /", "")]
)
def test_a_header_of_one_request_lets_no_other_in(method: str, path: str) -> None:
    assert believed(signed(), method=method, path=path) is None


def test_a_header_for_one_function_lets_nobody_into_another() -> None:
    value = signer(audience="tasks").sign(HANAKO, method="POST", path="/")
    assert believed(value) is None


def test_a_header_that_was_cut_anywhere_is_not_believed() -> None:
    value = signed()
    assert not any(believed(value[:end]) for end in range(len(value)))
    assert not any(believed(value[start:]) for start in range(1, len(value)))


def test_no_changed_character_is_believed() -> None:
    value = signed()
    payload = value.partition(".")[0]
    for place, character in enumerate(value[: len(payload) + 1]):
        changed = value[:place] + ("A" if character != "A" else "B") + value[place + 1 :]
        assert believed(changed) is None


def test_claims_with_the_signature_of_others_are_not_believed() -> None:
    signature = signed().partition(".")[2]
    claims = {"aud": "hub", "request": "POST /", "sub": "google:2", "iat": NOW, "exp": NOW + 60}
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    assert believed(f"{payload}.{signature}") is None


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
    assert believed(value) is None


@given(st.text(max_size=200))
def test_nothing_that_anybody_writes_is_believed(value: str) -> None:
    assert believed(value) is None


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
    value = signed(authorization=signed_with)
    verified = signer().verify(value, method="POST", path="/", authorization=beside)
    assert verified == (HANAKO, is_the_callers)


def test_the_token_itself_is_not_in_the_header() -> None:
    payload = signed(authorization="Bearer my-secret").partition(".")[0]
    assert b"my-secret" not in base64.urlsafe_b64decode(payload + "==")


def test_a_forged_header_refuses_a_request_that_a_token_would_have_let_in() -> None:
    authenticator = Authenticator([StaticTokenVerifier(development_clients(["good"]))], signer=signer())
    for forged in ("forged.header", signed(HANAKO, OTHER_KEY), signer().sign(HANAKO, method="GET", path="/")):
        with pytest.raises(A2AError) as refused:
            authenticator.authenticate(request(authorization="Bearer good", x_hub_principal=forged))
        assert refused.value.kind is UNAUTHENTICATED


@pytest.mark.parametrize("later_seconds", [90, -31])
def test_a_header_that_waited_or_was_made_by_another_clock_is_an_outage_and_no_bad_token(
    later_seconds: float,
) -> None:
    authenticator = Authenticator([], signer=signer(now=NOW + later_seconds))
    with pytest.raises(A2AError) as refused:
        authenticator.authenticate(request(x_hub_principal=signed()))
    assert refused.value.kind is UNAVAILABLE
    assert "retry-after" in refused.value.headers
    for forged in (signed(HANAKO, OTHER_KEY), signer().sign(HANAKO, method="GET", path="/")):
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
    authenticator = Authenticator([], signer=signer())
    value = signed(authorization="Bearer mine")

    def known(**headers: str) -> str | None:
        return authenticator.authenticate(request(x_hub_principal=value, **headers)).authorization

    assert known(x_hub_caller_authorization="Bearer mine") == "Bearer mine"
    assert known(x_hub_caller_authorization="Bearer another") is None
    # Behind a gate, Authorization is the gate's own.
    assert known(authorization="Bearer of-the-gate") is None


def test_the_names_of_the_headers_are_those_of_the_protocol_between_gate_and_hub() -> None:
    assert (HEADER, TOKEN_HEADER) == ("x-hub-principal", "x-hub-caller-authorization")
