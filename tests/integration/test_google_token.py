"""Google's opaque access tokens, over HTTP against the stand-in: who is let in, who is not, and what an outage looks like."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from a2a_hub.a2a.errors import UNAVAILABLE, A2AError
from a2a_hub.http.client import HttpClient
from a2a_hub.identity.authentication import VerifierUnavailable, verify_bearer_token
from a2a_hub.identity.introspection import AccessTokenVerifier
from a2a_hub.identity.principal import Principal
from tests.fakes.google_tokens import AUDIENCE, USER, Google, google
from tests.fakes.http_server import Exchange, HttpServer

OTHER_APP = "9876-other.apps.googleusercontent.com"
HANAKO = Principal(subject="google:110248495921238986420", email="hanako@example.com", hosted_domain="example.com")
_numbers = itertools.count(1)


class Clock:
    """Real time, and what a test adds to it."""

    def __init__(self) -> None:
        self.added_seconds = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.added_seconds

    def now(self) -> float:
        return time.time() + self.added_seconds


@pytest.fixture(scope="module")
def program() -> Iterator[Google]:
    """The stand-in, for all tests of this file."""
    with google() as running:
        yield running


@pytest.fixture
def stand_in(program: Google) -> Iterator[Google]:
    """The stand-in, in its usual mood."""
    yield program
    for endpoint in ("userinfo", "tokeninfo"):
        program.answers(endpoint)


@pytest.fixture
def token() -> str:
    """A token that no other test uses."""
    return f"ya29.token-{next(_numbers)}"


def verifier(
    stand_in: Google,
    *,
    audiences: tuple[str, ...] = (AUDIENCE,),
    domains: tuple[str, ...] = (),
    clock: Clock | None = None,
    **changes: Any,
) -> AccessTokenVerifier:
    """A verifier that asks the stand-in."""
    clock = clock or Clock()
    told: dict[str, Any] = {
        "now": clock.now,
        "userinfo_url": stand_in.userinfo_url,
        "tokeninfo_url": stand_in.tokeninfo_url,
    }
    return AccessTokenVerifier(
        audiences=frozenset(audiences),
        domains=frozenset(domains),
        http=HttpClient(clock=clock.monotonic),
        **(told | changes),
    )


def test_a_users_token_is_the_user(stand_in: Google, token: str) -> None:
    assert verifier(stand_in).verify(stand_in.issue(token)) == HANAKO


@pytest.mark.parametrize(
    ("claims", "audiences", "domains", "is_let_in"),
    [
        ({}, (AUDIENCE,), (), True),
        ({}, (OTHER_APP, AUDIENCE), (), True),
        ({"azp": OTHER_APP}, (AUDIENCE,), (), True),
        ({"aud": OTHER_APP}, (AUDIENCE,), (), False),
        ({"aud": OTHER_APP, "azp": OTHER_APP}, (AUDIENCE,), (), False),
        ({"aud": None, "azp": None}, (AUDIENCE,), (), False),
        ({"aud": "", "azp": ""}, (AUDIENCE,), (), False),
        ({}, (AUDIENCE,), ("example.com",), True),
        ({}, (AUDIENCE,), ("example.org", "example.com"), True),
        ({}, (AUDIENCE,), ("example.org",), False),
        ({"hd": None}, (AUDIENCE,), ("example.com",), False),
        ({"hd": None, "email": "hanako@example.com"}, (AUDIENCE,), ("example.com",), False),
        ({"hd": None}, (AUDIENCE,), (), True),
        ({"email_verified": False}, (AUDIENCE,), (), False),
        ({"email_verified": None}, (AUDIENCE,), (), False),
        ({"email_verified": "false"}, (AUDIENCE,), (), False),
        ({"sub": ""}, (AUDIENCE,), (), False),
        ({"sub": None}, (AUDIENCE,), (), False),
        ({"expires_in": -1}, (AUDIENCE,), (), False),
    ],
)
def test_only_a_token_that_fits_the_rules_is_let_in(
    stand_in: Google,
    token: str,
    claims: dict[str, Any],
    audiences: tuple[str, ...],
    domains: tuple[str, ...],
    is_let_in: bool,
) -> None:
    stand_in.issue(token, **claims)
    principal = verifier(stand_in, audiences=audiences, domains=domains).verify(token)
    assert (principal is not None) == is_let_in


def test_an_empty_allow_list_rejects_everybody_and_asks_nobody(stand_in: Google, token: str) -> None:
    before = stand_in.asked()
    assert verifier(stand_in, audiences=()).verify(stand_in.issue(token)) is None
    assert stand_in.asked() == before


def test_a_token_that_only_userinfo_knows_is_not_let_in(token: str) -> None:
    """userinfo says whose a token is whatever application it was made for."""

    def behave(exchange: Exchange) -> None:
        if exchange.received.path == "/userinfo":
            exchange.json(USER)
        else:
            exchange.json({"error": "invalid_token"}, 400)

    with HttpServer(behave) as server:
        tokens = _at(server)
        assert tokens.verify(token) is None


def test_userinfo_of_somebody_else_than_tokeninfo_names_is_not_let_in(token: str) -> None:
    def behave(exchange: Exchange) -> None:
        if exchange.received.path == "/userinfo":
            exchange.json(USER | {"sub": "another"})
        else:
            exchange.json({"aud": AUDIENCE, "sub": USER["sub"], "exp": str(int(time.time()) + 60)})

    with HttpServer(behave) as server:
        assert _at(server).verify(token) is None


def test_the_token_goes_into_a_header_and_never_into_a_url(token: str) -> None:
    with HttpServer(lambda exchange: exchange.json({"error": "invalid_token"}, 400)) as server:
        _at(server).verify(token)
    assert [received.headers["authorization"] for received in server.received] == [f"Bearer {token}"]
    assert not any(token in received.path for received in server.received)


def test_a_revoked_token_is_out_within_the_ttl(stand_in: Google, token: str) -> None:
    clock = Clock()
    tokens = verifier(stand_in, clock=clock, ttl_seconds=60.0)
    stand_in.issue(token)
    assert tokens.verify(token) == HANAKO
    stand_in.revoke(token)
    clock.added_seconds = 59.0
    assert tokens.verify(token) == HANAKO
    clock.added_seconds = 60.0
    assert tokens.verify(token) is None


def test_a_token_that_expires_before_the_ttl_is_out_when_it_expires(stand_in: Google, token: str) -> None:
    clock = Clock()
    tokens = verifier(stand_in, clock=clock)
    stand_in.issue(token, expires_in=30)
    assert tokens.verify(token) == HANAKO
    clock.added_seconds = 30.0
    assert tokens.verify(token) is None


def test_rules_are_applied_to_facts_from_the_cache_too(stand_in: Google, token: str) -> None:
    time_of_day = Clock()
    # The cache's clock stands still while the time of day runs on: only the rule can say no.
    tokens = verifier(stand_in, now=time_of_day.now)
    stand_in.issue(token, expires_in=100)
    assert tokens.verify(token) == HANAKO
    before = stand_in.asked()
    time_of_day.added_seconds = 101.0
    assert tokens.verify(token) is None
    assert stand_in.asked() == before


def test_a_thousand_requests_of_one_token_cost_one_introspection_for_each_ttl(stand_in: Google, token: str) -> None:
    clock = Clock()
    tokens = verifier(stand_in, clock=clock, ttl_seconds=60.0)
    stand_in.issue(token)
    before = stand_in.asked()
    for number in range(1000):
        clock.added_seconds = 61.0 if number >= 500 else 0.0
        assert tokens.verify(token) == HANAKO
    after = stand_in.asked()
    assert {name: after[name] - before[name] for name in ("tokeninfo", "userinfo")} == {
        "tokeninfo": 2,
        "userinfo": 2,
    }


def test_an_invalid_token_is_not_asked_about_again_at_once(stand_in: Google, token: str) -> None:
    clock = Clock()
    tokens = verifier(stand_in, clock=clock)
    before = stand_in.asked()
    assert [tokens.verify(token) for _ in range(100)] == [None] * 100
    assert stand_in.asked()["tokeninfo"] - before["tokeninfo"] == 1
    stand_in.issue(token)
    clock.added_seconds = 10.0
    assert tokens.verify(token) == HANAKO


def test_those_who_bring_one_token_at_once_wait_for_one_introspection(stand_in: Google, token: str) -> None:
    stand_in.issue(token)
    stand_in.answers("tokeninfo", latency_seconds=0.2)
    tokens = verifier(stand_in)
    before = stand_in.asked()
    ready = threading.Barrier(16)

    def verify(_: int) -> Principal | None:
        ready.wait()
        return tokens.verify(token)

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(verify, range(16))) == [HANAKO] * 16
    assert stand_in.asked()["tokeninfo"] - before["tokeninfo"] == 1


@pytest.mark.parametrize("endpoint", ["tokeninfo", "userinfo"])
@pytest.mark.parametrize("status", [403, 404, 408, 429, 500, 502, 503])
def test_an_outage_never_looks_like_a_bad_token(stand_in: Google, token: str, endpoint: str, status: int) -> None:
    tokens = verifier(stand_in)
    stand_in.issue(token)
    stand_in.answers(endpoint, status=status, retry_after=7)
    with pytest.raises(A2AError) as refused:
        verify_bearer_token(f"Bearer {token}", [tokens])
    assert refused.value.kind is UNAVAILABLE
    assert refused.value.kind.http_status == 503
    assert refused.value.headers == {"retry-after": "7"}
    assert token not in refused.value.message
    stand_in.answers(endpoint)
    assert tokens.verify(token) == HANAKO


@pytest.mark.parametrize(
    "behave",
    [
        lambda exchange: exchange.reset(),
        lambda exchange: exchange.answer(200, b"<html>", content_type="text/html"),
        lambda exchange: exchange.answer(200, b"[]"),
        lambda exchange: exchange.answer(200, b"null"),
        lambda exchange: exchange.answer(200, b"x" * 100_000),
        lambda exchange: exchange.answer(302, location="https://login.example"),
        lambda exchange: exchange.send(b"not HTTP\r\n\r\n"),
        lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"),
    ],
    ids=["reset", "html", "list", "null", "too large", "redirect", "no HTTP", "cut"],
)
def test_what_is_no_answer_is_an_outage(behave: Callable[[Exchange], None], token: str) -> None:
    with HttpServer(behave) as server, pytest.raises(VerifierUnavailable) as unavailable:
        _at(server).verify(token)
    assert 1 <= unavailable.value.retry_after_seconds <= 300


def test_nobody_there_is_an_outage(token: str) -> None:
    with HttpServer(lambda _: None, listens=False) as nobody, pytest.raises(VerifierUnavailable):
        _at(nobody).verify(token)


def test_an_outage_does_not_take_away_what_is_known(stand_in: Google, token: str) -> None:
    tokens = verifier(stand_in)
    stand_in.issue(token)
    assert tokens.verify(token) == HANAKO
    stand_in.answers("tokeninfo", status=503)
    assert tokens.verify(token) == HANAKO


def _at(server: HttpServer) -> AccessTokenVerifier:
    return AccessTokenVerifier(
        audiences=frozenset({AUDIENCE}),
        http=HttpClient(),
        now=time.time,
        userinfo_url=f"{server.url}/userinfo",
        tokeninfo_url=f"{server.url}/tokeninfo",
    )
