"""Credentials: each boundary gets what it needs, and no agent gets what was meant for another."""

import os
from pathlib import Path

import pytest

from a2a_hub.a2a.model import Message, Part, Role
from a2a_hub.boundaries.boundary import Boundary, Credential, CredentialRequest
from a2a_hub.boundaries.kinds import KINDS, GoogleApi, Iam, Public, User
from a2a_hub.boundaries.sources import CredentialSources, NoCredential
from a2a_hub.http.client import HttpClient
from a2a_hub.identity.service_tokens import TokenUnavailable
from a2a_hub.routing.routes import Route
from functions.hub.downstream.a2a_transport import a2a_agent
from functions.hub.downstream.interface import AgentRequest
from functions.hub.failure import DownstreamFailed
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json, message, task, text
from tests.fakes.http_server import HttpServer
from tests.fakes.hub import TOKEN, Hub, person, route, text_of
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


@pytest.mark.parametrize("boundary", [Public(), Iam(), GoogleApi()])
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
        hub = Hub(route("alpha", agent.url, boundary=User()))
        for ask in (hub.send, hub.stream, hub.query):
            ask("Hello")
    assert {received.headers["authorization"] for received in agent.received} == {f"Bearer {TOKEN}"}


def test_without_a_callers_token_a_user_boundary_says_what_is_missing() -> None:
    with AgentServer(lambda _: [message(text("Hi"))]) as agent:
        hub = Hub(route("alpha", agent.url, boundary=User()), anonymous=True)
        assert "did not let the hub in" in text_of(hub.send("Hello", token=None))
        assert hub.query("Hello", token=None)["error"]["fault"] == "no_user_token"
    assert agent.received == []


def test_a_card_on_another_host_gets_no_credential() -> None:
    with (
        AgentServer(lambda _: [message(text("Evil"))]) as thief,
        AgentServer(lambda _: [message(text("Hi"))]) as agent,
    ):
        agent.serve_card = thief.serve_card
        hub = Hub(route("alpha", agent.url, boundary=User()))
        assert text_of(hub.send("Hello")) == "Hi"
    assert thief.received == []


def test_a_redirect_takes_no_credential_along() -> None:
    with HttpServer(lambda exchange: exchange.answer(200)) as thief, AgentServer() as agent:
        agent.serve_message = lambda exchange: exchange.answer(307, location=thief.url)
        hub = Hub(route("alpha", agent.url, boundary=User()))
        assert hub.query("Hello")["error"]["httpStatus"] == 307
    assert thief.connections == 0


def test_a_card_that_is_elsewhere_is_not_fetched_there() -> None:
    with HttpServer(lambda exchange: exchange.answer(200)) as thief, AgentServer() as agent:
        agent.serve_card = lambda exchange: exchange.answer(302, location=thief.url)
        hub = Hub(route("alpha", agent.url, boundary=User()))
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
        remote = a2a_agent(
            route("alpha", agent.url, boundary=Iam()),
            http=http,
            sources=CredentialSources(tokens=tokens),
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
        remote = a2a_agent(
            route("alpha", agent.url, boundary=Iam(), timeout_seconds=15.0),
            http=http,
            sources=CredentialSources(tokens=Late()),
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
        remote = a2a_agent(
            route("alpha", agent.url, boundary=Iam()),
            http=http,
            sources=CredentialSources(tokens=tokens),
        )
        assert len(list(remote.ask(_asking()))) == 3
    sent = [received.headers["authorization"] for received in agent.asked]
    assert sent == ["Bearer first", "Bearer second", "Bearer second"]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_of_boundary_has_a_credential_and_a_step_of_the_doctor_for_it(
    kind: type[Boundary],
) -> None:
    assert kind.credential is not Boundary.credential
    assert kind.credential_step is not Boundary.credential_step


def test_each_boundary_gets_its_own_kind_of_token() -> None:
    def header(boundary: Boundary) -> str | None:
        sources = CredentialSources(tokens=_Tokens())
        agent = route("alpha", "https://agent.example/a2a", boundary=boundary)
        return _credential(agent, sources, authorization="Bearer users").headers.get("authorization")

    assert header(Public()) is None
    assert header(Iam()) == "Bearer id-token-for-https://agent.example"
    assert header(Iam(audience="custom")) == "Bearer id-token-for-custom"
    assert header(GoogleApi()) == "Bearer access-token"
    assert header(User()) == "Bearer users"


@pytest.mark.parametrize("boundary", [Iam(), GoogleApi()])
@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://localhost:1/a", "http://[::1]:80"])
def test_without_an_identity_of_its_own_the_hub_calls_loopback_agents(boundary: Boundary, url: str) -> None:
    agent = route("alpha", url, boundary=boundary)
    assert _credential(agent, CredentialSources(), authorization="Bearer x") == Credential()


@pytest.mark.parametrize("boundary", [Iam(), GoogleApi()])
@pytest.mark.parametrize("url", ["https://agent.example", "https://127.0.0.1.nip.io", "https://localhost.example"])
def test_without_an_identity_of_its_own_the_hub_calls_nobody_else(boundary: Boundary, url: str) -> None:
    with pytest.raises(NoCredential) as raised:
        _credential(route("alpha", url, boundary=boundary), CredentialSources())
    assert raised.value.fault == "no_credentials"
    assert "IAM_CREDENTIALS" in raised.value.remedy


@pytest.mark.parametrize("boundary", [Iam(), GoogleApi()])
def test_agents_on_this_machine_can_be_spared_while_others_get_their_token(boundary: Boundary) -> None:
    sources = CredentialSources(tokens=_Tokens(), spares_loopback=True)
    here = route("here", "http://127.0.0.1:8080", boundary=boundary)
    there = route("there", "https://agent.example", boundary=boundary)
    assert _credential(here, sources, authorization="Bearer x") == Credential()
    assert _credential(there, sources, authorization="Bearer x").headers["authorization"] != "Bearer x"


def test_a_token_that_is_not_to_be_had_is_the_operators_business() -> None:
    with pytest.raises(NoCredential) as raised:
        _credential(route("a", "https://a.example", boundary=Iam()), CredentialSources(tokens=_NoTokens()))
    assert "gcloud auth application-default login" in raised.value.remedy


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
        assert len(set(service_tokens(metadata.environment, *["access"] * 8))) == 1
    assert metadata.minted == ["access"]


def test_a_token_that_is_about_to_expire_is_not_used_again() -> None:
    with (
        MetadataServer(lifetime_seconds=1) as metadata,
        TokenHolder({**os.environ, "PYTHONPATH": str(ROOT), **metadata.environment}) as holder,
    ):
        assert None not in holder.ask(*["https://pm.example"] * 3)
    assert metadata.minted == ["https://pm.example"] * 3


def test_without_a_metadata_server_there_is_no_token_and_nobody_waits_for_another_attempt() -> None:
    assert service_tokens(NO_METADATA, *["https://pm.example"] * 8) == [None] * 8


def _credential(agent: Route, sources: CredentialSources, authorization: str | None = None) -> Credential:
    request = CredentialRequest(agent=agent, sources=sources, authorization=authorization)
    return agent.boundary.credential(request)


def _asking() -> AgentRequest:
    return AgentRequest(
        call=person(),
        message=Message(message_id="m-1", role=Role.USER, parts=(Part(text="Hello"),)),
        streaming=False,
    )
