"""Credentials: each boundary gets what it needs, and no agent gets what was meant for another."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from a2a_hub.a2a.client import A2AClient
from a2a_hub.a2a.model import Message, Part, Role
from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Cancellation
from a2a_hub.identity.service_tokens import TokenUnavailable
from a2a_hub.routing.routes import Boundary
from a2a_hub.runtime.ids import new_id
from functions.hub.credentials import Credentials
from functions.hub.downstream.interface import AgentRequest
from functions.hub.downstream.remote_agent import RemoteAgent
from functions.hub.failure import DownstreamFailed
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json, message, task, text
from tests.fakes.http_server import HttpServer
from tests.fakes.hub import TOKEN, Hub, route, text_of
from tests.fakes.local_cloud import TokenHolder
from tests.fakes.metadata_server import MetadataServer, claims_of
from tests.integration.service_tokens import NO_METADATA, service_tokens

ROOT = Path(__file__).resolve().parents[2]
_OTHERS = ("cookie", "x-serverless-authorization", "x-api-key", "x-hub-principal", "x-forwarded-for")


class _Tokens:
    """Tokens that name what they are for."""

    def id_token(self, audience: str) -> str:
        return f"id-token-for-{audience}"

    def access_token(self) -> str:
        return "access-token"


class _NoTokens:
    def id_token(self, _: str) -> str:
        raise TokenUnavailable

    def access_token(self) -> str:
        raise TokenUnavailable


@pytest.mark.parametrize("boundary", [Boundary.PUBLIC, Boundary.IAM, Boundary.GOOGLE_API])
def test_nothing_of_the_callers_credential_reaches_an_agent(boundary: Boundary) -> None:
    with AgentServer(lambda _: [message(text("Hi"))]) as agent:
        hub = Hub(route("alpha", agent.url, boundary=boundary))
        for ask in (hub.send, hub.stream, hub.query):
            ask("Hello")
        hub.request("POST", "/tools/query", b'{"query": "Hi"}', headers=dict.fromkeys(_OTHERS, "secret"))
    assert len(agent.asked) == 4
    for received in agent.received:
        assert not {"authorization", *_OTHERS} & received.headers.keys()
        assert TOKEN.encode() not in received.body


def test_a_user_boundary_gets_exactly_the_callers_header() -> None:
    with AgentServer(lambda _: [message(text("Hi"))]) as agent:
        hub = Hub(route("alpha", agent.url, boundary=Boundary.USER))
        for ask in (hub.send, hub.stream, hub.query):
            ask("Hello")
    assert {received.headers["authorization"] for received in agent.received} == {f"Bearer {TOKEN}"}


def test_without_a_callers_token_a_user_boundary_says_what_is_missing() -> None:
    with AgentServer(lambda _: [message(text("Hi"))]) as agent:
        hub = Hub(route("alpha", agent.url, boundary=Boundary.USER), anonymous=True)
        assert "did not let the hub in" in text_of(hub.send("Hello", token=None))
        assert hub.query("Hello", token=None)["error"]["fault"] == "no_user_token"
    assert agent.received == []


def test_a_card_on_another_host_gets_no_credential() -> None:
    with (
        AgentServer(lambda _: [message(text("Evil"))]) as thief,
        AgentServer(lambda _: [message(text("Hi"))]) as agent,
    ):
        agent.serve_card = thief.serve_card
        hub = Hub(route("alpha", agent.url, boundary=Boundary.USER))
        assert text_of(hub.send("Hello")) == "Hi"
    assert thief.received == []


def test_a_redirect_takes_no_credential_along() -> None:
    with HttpServer(lambda exchange: exchange.answer(200)) as thief, AgentServer() as agent:
        agent.serve_message = lambda exchange: exchange.answer(307, location=thief.url)
        hub = Hub(route("alpha", agent.url, boundary=Boundary.USER))
        assert hub.query("Hello")["error"]["httpStatus"] == 307
    assert thief.connections == 0


def test_a_card_that_is_elsewhere_is_not_fetched_there() -> None:
    with HttpServer(lambda exchange: exchange.answer(200)) as thief, AgentServer() as agent:
        agent.serve_card = lambda exchange: exchange.answer(302, location=thief.url)
        hub = Hub(route("alpha", agent.url, boundary=Boundary.USER))
        assert hub.query("Hello")["error"]["httpStatus"] == 302
    assert thief.connections == 0


def test_no_answer_of_an_agent_changes_the_audience() -> None:
    class Recording(_Tokens):
        def __init__(self) -> None:
            self.audiences: list[str] = []

        def id_token(self, audience: str) -> str:
            self.audiences.append(audience)
            return super().id_token(audience)

    tokens = Recording()
    challenge = 'Bearer realm="https://bank.example", audience="https://bank.example"'
    with AgentServer() as agent:
        agent.serve_message = lambda exchange: exchange.answer(
            401, b'{"audience": "https://bank.example"}', www_authenticate=challenge
        )
        http = HttpClient()
        remote = RemoteAgent(
            route("alpha", agent.url, boundary=Boundary.IAM),
            http=http,
            client=A2AClient(http, new_id=new_id),
            credentials=Credentials(tokens),
        )
        for _ in range(2):
            with pytest.raises(DownstreamFailed, match="401"):
                list(remote.ask(_asking()))
    assert set(tokens.audiences) == {agent.url}


def test_the_time_that_a_token_takes_is_the_routes() -> None:
    now = 0.0

    class Late(_Tokens):
        def id_token(self, audience: str) -> str:
            nonlocal now
            now += 20.0
            return super().id_token(audience)

    with AgentServer() as agent:
        http = HttpClient(clock=lambda: now)
        remote = RemoteAgent(
            route("alpha", agent.url, boundary=Boundary.IAM, timeout_seconds=15.0),
            http=http,
            client=A2AClient(http, new_id=new_id),
            credentials=Credentials(Late()),
        )
        with pytest.raises(DownstreamFailed) as raised:
            list(remote.ask(_asking()))
        assert raised.value.failure.fault == "timeout"
        assert agent.connections == 0


def test_a_task_that_goes_on_is_asked_for_with_the_token_of_the_moment() -> None:
    class Renewed(_Tokens):
        now = "first"

        def id_token(self, _: str) -> str:
            return self.now

    tokens = Renewed()

    def works_until_the_token_has_expired(_: object) -> list[Json]:
        tokens.now = "second"
        return [task("working")]

    with AgentServer(
        works_until_the_token_has_expired, streaming=False, tasks=[task("working"), task("completed")]
    ) as agent:
        http = HttpClient()
        remote = RemoteAgent(
            route("alpha", agent.url, boundary=Boundary.IAM),
            http=http,
            client=A2AClient(http, new_id=new_id),
            credentials=Credentials(tokens),
        )
        assert len(list(remote.ask(_asking()))) == 3
    sent = [received.headers["authorization"] for received in agent.asked]
    assert sent == ["Bearer first", "Bearer second", "Bearer second"]


def test_a_boundary_without_a_credential_fails_type_checking(tmp_path: Path) -> None:
    routes = ROOT / "shared" / "a2a_hub" / "routing" / "routes.py"
    one_more = tmp_path / "routes.py"
    one_more.write_text(
        routes.read_text().replace('    USER = "user"\n', '    USER = "user"\n    VPN = "vpn"\n')
    )
    command = [sys.executable, "-m", "mypy", f"--cache-dir={tmp_path}", "functions/hub/credentials.py"]
    done = subprocess.run(
        [*command, "--shadow-file", str(routes), str(one_more)], cwd=ROOT, capture_output=True, text=True
    )
    assert "Boundary.VPN" in done.stdout
    assert "functions/hub/credentials.py" in done.stdout


def test_each_boundary_gets_its_own_kind_of_token() -> None:
    credentials = Credentials(_Tokens())

    def header(
        boundary: Boundary, url: str = "https://agent.example/a2a", audience: str | None = None
    ) -> str | None:
        agent = route("alpha", url, boundary=boundary, audience=audience)
        return credentials.headers(agent, authorization="Bearer users").get("authorization")

    assert header(Boundary.PUBLIC) is None
    assert header(Boundary.IAM) == "Bearer id-token-for-https://agent.example"
    assert header(Boundary.IAM, audience="custom") == "Bearer id-token-for-custom"
    assert header(Boundary.GOOGLE_API) == "Bearer access-token"
    assert header(Boundary.USER) == "Bearer users"


@pytest.mark.parametrize("boundary", [Boundary.IAM, Boundary.GOOGLE_API])
@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://localhost:1/a", "http://[::1]:80"])
def test_without_an_identity_of_its_own_the_hub_calls_loopback_agents(boundary: Boundary, url: str) -> None:
    assert Credentials(None).headers(route("alpha", url, boundary=boundary), authorization="Bearer x") == {}


@pytest.mark.parametrize("boundary", [Boundary.IAM, Boundary.GOOGLE_API])
@pytest.mark.parametrize(
    "url", ["https://agent.example", "https://127.0.0.1.nip.io", "https://localhost.example"]
)
def test_without_an_identity_of_its_own_the_hub_calls_nobody_else(boundary: Boundary, url: str) -> None:
    with pytest.raises(DownstreamFailed) as raised:
        Credentials(None).headers(route("alpha", url, boundary=boundary), authorization=None)
    assert raised.value.failure.fault == "no_credentials"
    assert "IAM_CREDENTIALS" in (raised.value.failure.remedy or "")


@pytest.mark.parametrize("boundary", [Boundary.IAM, Boundary.GOOGLE_API])
def test_agents_on_this_machine_can_be_spared_while_others_get_their_token(boundary: Boundary) -> None:
    credentials = Credentials(_Tokens(), spares_loopback=True)
    here = route("here", "http://127.0.0.1:8080", boundary=boundary)
    there = route("there", "https://agent.example", boundary=boundary)
    assert credentials.headers(here, authorization="Bearer x") == {}
    assert credentials.headers(there, authorization="Bearer x")["authorization"] != "Bearer x"


def test_a_token_that_is_not_to_be_had_is_the_operators_business() -> None:
    with pytest.raises(DownstreamFailed) as raised:
        Credentials(_NoTokens()).headers(
            route("a", "https://a.example", boundary=Boundary.IAM), authorization=None
        )
    assert "gcloud auth application-default login" in (raised.value.failure.remedy or "")


def test_an_id_token_is_for_the_audience_and_fetched_once_by_all_who_want_it() -> None:
    with MetadataServer() as metadata:
        tokens = service_tokens(metadata.environment, *["https://pm.example"] * 8)
    assert len(set(tokens)) == 1
    assert claims_of(tokens[0])["aud"] == "https://pm.example"
    assert metadata.minted == ["https://pm.example"]


def test_each_audience_has_a_token_of_its_own() -> None:
    audiences = ("https://pm.example", "https://docqa.example", "https://pm.example")
    with MetadataServer() as metadata:
        tokens = service_tokens(metadata.environment, *audiences)
    assert tuple(claims_of(token)["aud"] for token in tokens) == audiences
    assert sorted(metadata.minted) == ["https://docqa.example", "https://pm.example"]


def test_an_access_token_is_fetched_once() -> None:
    with MetadataServer() as metadata:
        assert service_tokens(metadata.environment, *["access"] * 8) == ["access-1"] * 8


def test_a_token_that_is_about_to_expire_is_not_used_again() -> None:
    with (
        MetadataServer(lifetime_seconds=1) as metadata,
        TokenHolder({**os.environ, "PYTHONPATH": str(ROOT), **metadata.environment}) as holder,
    ):
        assert len(set(holder.ask(*["https://pm.example"] * 3))) == 3


def test_without_a_metadata_server_there_is_no_token_and_nobody_waits_for_another_attempt() -> None:
    assert service_tokens(NO_METADATA, *["https://pm.example"] * 8) == [None] * 8


def _asking() -> AgentRequest:
    return AgentRequest(
        message=Message(message_id="m-1", role=Role.USER, parts=(Part(text="Hello"),)),
        streaming=False,
        authorization=None,
        traceparent=None,
        cancellation=Cancellation(),
    )
