"""The gate asks Google whose a token is: once in a while, and never takes an outage for a bad token."""

import contextlib
import http.client
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.google_tokens import AUDIENCE, USER, Google, google
from tests.fakes.http_server import HttpServer
from tests.integration.gates import Gate, gate, principal_at


@pytest.fixture(scope="module")
def stand_in() -> Iterator[Google]:
    """Google's userinfo and tokeninfo."""
    with google() as program:
        yield program


@contextlib.contextmanager
def asking_google(hub: HttpServer, stand_in: Google, folder: Path, **more: str) -> Iterator[Gate]:
    """A gate for users of one OAuth client."""
    told = {
        "HUB_DEV_TOKEN": "",
        "GOOGLE_TOKEN_AUDIENCES": AUDIENCE,
        "GOOGLE_USERINFO_URL": stand_in.userinfo_url,
        "GOOGLE_TOKENINFO_URL": stand_in.tokeninfo_url,
    }
    with gate(hub.url, folder, **(told | more)) as one:
        yield one


def test_a_users_token_is_introspected_once_and_an_outage_is_a_503(
    hub: HttpServer, stand_in: Google, tmp_path: Path
) -> None:
    with asking_google(hub, stand_in, tmp_path) as one:
        headers = {"Authorization": f"Bearer {stand_in.issue('ya29.user')}"}
        before = stand_in.asked()["tokeninfo"]
        assert [one.ask(headers=headers).status for _ in range(20)] == [200] * 20
        assert stand_in.asked()["tokeninfo"] - before == 1
        principal: Any = principal_at(hub.received[0])
        assert (principal.subject, principal.email) == (f"google:{USER['sub']}", USER["email"])
        assert len(hub.received) == 20

        other_app = stand_in.issue("ya29.other-app", aud="other", azp="other")
        for bad in ("ya29.nobody", other_app):
            assert one.ask(headers={"Authorization": f"Bearer {bad}"}).status == 401

        stand_in.answers("tokeninfo", status=503, retry_after=9)
        answer = one.ask(headers={"Authorization": f"Bearer {stand_in.issue('ya29.another')}"})
        assert (answer.status, answer.headers["retry-after"]) == (503, "9")
        assert "www-authenticate" not in answer.headers
        assert one.ask(headers=headers).status == 200
        stand_in.answers("tokeninfo")
        assert len(hub.received) == 21
        logged = one.log.read_text()
        assert "ya29" not in logged


def test_a_thousand_requests_of_one_token_cost_one_introspection(
    hub: HttpServer, stand_in: Google, tmp_path: Path
) -> None:
    with asking_google(hub, stand_in, tmp_path) as one:
        headers = {"Authorization": f"Bearer {stand_in.issue('ya29.busy')}"}
        before = stand_in.asked()

        def ask(_: int) -> list[int]:
            connection = http.client.HTTPConnection("127.0.0.1", one.port, timeout=30)
            statuses = []
            with contextlib.closing(connection):
                for _ in range(250):
                    connection.request("POST", "/", body=b"{}", headers=headers)
                    response = connection.getresponse()
                    response.read()
                    statuses.append(response.status)
            return statuses

        with ThreadPoolExecutor(4) as pool:
            assert [*pool.map(ask, range(4))] == [[200] * 250] * 4
        after = stand_in.asked()
    assert {name: after[name] - before[name] for name in ("tokeninfo", "userinfo")} == {
        "tokeninfo": 1,
        "userinfo": 1,
    }


def test_a_revoked_token_is_out_at_the_gate_when_its_facts_are_old(
    hub: HttpServer, stand_in: Google, tmp_path: Path
) -> None:
    with asking_google(hub, stand_in, tmp_path, IDENTITY_TTL_SECONDS="0") as one:
        headers = {"Authorization": f"Bearer {stand_in.issue('ya29.revoked')}"}
        assert one.ask(headers=headers).status == 200
        stand_in.revoke("ya29.revoked")
        assert one.ask(headers=headers).status == 401
    assert len(hub.received) == 1
