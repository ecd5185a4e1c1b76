"""Application Default Credentials of every kind, with the unmodified google-auth."""

import contextlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from a2a_hub.identity.default_credentials import DefaultCredentials
from a2a_hub.identity.service_tokens import TokenUnavailable
from tests.fakes.http_server import HttpServer
from tests.fakes.local_cloud import TokenHolder
from tests.fakes.metadata_server import claims_of
from tests.fakes.token_issuers import ACCOUNT, TokenIssuers
from tests.integration.service_tokens import NO_METADATA, ROOT, service_tokens

AUDIENCE = "https://pm.example"
_PATIENCE_SECONDS = 60.0
KINDS: dict[str, Callable[[TokenIssuers], Any]] = {
    "a service account's key": lambda issuers: issuers.service_account_key(),
    "impersonation": lambda issuers: issuers.impersonating(),
    "workload identity": lambda issuers: issuers.federated(),
}


@pytest.fixture
def issuers(tmp_path: Path) -> Iterator[TokenIssuers]:
    with TokenIssuers(tmp_path) as issuers:
        yield issuers


@pytest.mark.parametrize("kind", KINDS)
def test_credentials_of_every_kind_give_an_id_token_for_the_audience(issuers: TokenIssuers, kind: str) -> None:
    environment = NO_METADATA | issuers.environment(KINDS[kind](issuers))
    first, second = (claims_of(token) for token in service_tokens(environment, AUDIENCE, AUDIENCE))
    assert (first["aud"], first["email"]) == (AUDIENCE, ACCOUNT)
    assert second == first


@pytest.mark.parametrize("kind", KINDS)
def test_credentials_that_gcloud_left_behind_do_as_well(issuers: TokenIssuers, kind: str) -> None:
    environment = NO_METADATA | issuers.environment(KINDS[kind](issuers), as_gcloud=True)
    (token,) = service_tokens(environment, AUDIENCE)
    assert claims_of(token)["email"] == ACCOUNT


@pytest.mark.parametrize("kind", KINDS)
def test_credentials_of_every_kind_give_an_access_token(issuers: TokenIssuers, kind: str) -> None:
    environment = NO_METADATA | issuers.environment(KINDS[kind](issuers))
    assert service_tokens(environment, "access") == [f"access-of-{ACCOUNT}"]


def test_a_federated_identity_asks_for_the_accounts_token_itself(issuers: TokenIssuers) -> None:
    service_tokens(NO_METADATA | issuers.environment(issuers.federated()), AUDIENCE)
    assert issuers.asked[-1] == (f"{ACCOUNT}:generateIdToken", "Bearer federated")


def test_a_persons_own_credentials_give_no_id_token(issuers: TokenIssuers) -> None:
    person = {
        "type": "authorized_user",
        "client_id": "c",
        "client_secret": "s",
        "refresh_token": "r",
        "token_uri": f"{issuers.url}/token",
    }
    assert service_tokens(NO_METADATA | issuers.environment(person), AUDIENCE) == [None]
    assert issuers.asked == []


def test_an_issuer_that_cannot_be_reached_leaves_no_token(tmp_path: Path) -> None:
    with TokenIssuers(tmp_path) as issuers:
        environment = NO_METADATA | issuers.environment(issuers.impersonating())
    assert service_tokens(environment, AUDIENCE) == [None]


def test_who_waited_for_a_token_that_was_refused_does_not_ask_again(issuers: TokenIssuers) -> None:
    refusal = b'{"error": "invalid_grant"}'
    with HttpServer(lambda exchange: exchange.answer(400, refusal, content_type="application/json")) as server:
        key = issuers.service_account_key() | {"token_uri": server.url}
        assert service_tokens(NO_METADATA | issuers.environment(key), AUDIENCE, AUDIENCE, AUDIENCE) == [None] * 3
    assert len(server.received) == 1


def test_a_token_is_used_to_its_end_while_no_other_is_to_be_had(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        with TokenIssuers(tmp_path, lifetime_seconds=60) as issuers:
            told = NO_METADATA | issuers.environment(issuers.service_account_key())
            holder = stack.enter_context(TokenHolder({**os.environ, "PYTHONPATH": str(ROOT), **told}))
            holder.ask(AUDIENCE)
            (last,) = holder.ask(AUDIENCE)
        assert len(issuers.asked) == 2
        assert holder.ask(AUDIENCE, AUDIENCE) == [last, last]
    assert claims_of(last)["aud"] == AUDIENCE


def test_a_token_that_has_ended_is_none_although_no_other_is_to_be_had(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        with TokenIssuers(tmp_path, lifetime_seconds=-60) as issuers:
            told = NO_METADATA | issuers.environment(issuers.service_account_key())
            holder = stack.enter_context(TokenHolder({**os.environ, "PYTHONPATH": str(ROOT), **told}))
            (ended,) = holder.ask(AUDIENCE)
        assert claims_of(ended)["aud"] == AUDIENCE
        assert holder.ask(AUDIENCE) == ["no token"]


def test_while_one_asks_for_the_next_token_the_others_use_the_one_that_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answers = Event(), Event()

    class Hesitating(TokenIssuers):
        """Gives out the first token at once."""

        def answer(self, path: str, authorization: str, body: bytes) -> dict[str, Any]:
            if self.asked:
                asked.set()
                answers.wait(_PATIENCE_SECONDS)
            return super().answer(path, authorization, body)

    with Hesitating(tmp_path, lifetime_seconds=60) as issuers, ThreadPoolExecutor() as threads:
        for name, value in (NO_METADATA | issuers.environment(issuers.service_account_key())).items():
            monkeypatch.setenv(name, value)
        tokens = DefaultCredentials()
        first = tokens.id_token(AUDIENCE)
        try:
            asking = threads.submit(tokens.id_token, AUDIENCE)
            assert asked.wait(_PATIENCE_SECONDS)
            others = [threads.submit(tokens.id_token, AUDIENCE) for _ in range(3)]
            assert [each.result(_PATIENCE_SECONDS / 2) for each in others] == [first] * 3
            assert not asking.done()
        finally:
            answers.set()
        assert claims_of(asking.result(_PATIENCE_SECONDS))["aud"] == AUDIENCE
    assert len(issuers.asked) == 2


def test_an_issuer_that_is_silent_is_not_waited_for_and_what_it_says_late_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, answered = Event(), Event()
    now = 0.0

    class Silent(TokenIssuers):
        """Gives out nothing until it is let."""

        def answer(self, path: str, authorization: str, body: bytes) -> dict[str, Any]:
            answers.wait(_PATIENCE_SECONDS)
            answered.set()
            return super().answer(path, authorization, body)

    with Silent(tmp_path) as issuers, ThreadPoolExecutor() as threads:
        for name, value in (NO_METADATA | issuers.environment(issuers.service_account_key())).items():
            monkeypatch.setenv(name, value)
        tokens = DefaultCredentials(clock=lambda: now, max_wait_seconds=0.05)
        try:
            asking = [threads.submit(tokens.id_token, AUDIENCE) for _ in range(3)]
            assert all(isinstance(each.exception(_PATIENCE_SECONDS / 2), TokenUnavailable) for each in asking)
            assert not answered.is_set()
            with pytest.raises(TokenUnavailable):
                tokens.id_token(AUDIENCE)
        finally:
            answers.set()
        now += 10.0
        assert answered.wait(_PATIENCE_SECONDS)
        while (token := _token(tokens)) is None:
            now += 10.0
    assert claims_of(token)["aud"] == AUDIENCE
    assert len(issuers.asked) == 1


def _token(tokens: DefaultCredentials) -> str | None:
    try:
        return tokens.id_token(AUDIENCE)
    except TokenUnavailable:
        return None
