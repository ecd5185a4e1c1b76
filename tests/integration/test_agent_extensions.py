"""Agents that use extensions of A2A, or require one (A2A 1.0.1 §4.6): the route says for which the hub asks."""

import json
from collections.abc import Iterator

import pytest

from shared.diagnosis import Outcome
from shared.http.messages import Response
from tests.fakes.agent_server import CARD_PATH, AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.http_server import Behaviour, Exchange, HttpServer
from tests.fakes.hub import Hub, route, text_of
from tests.integration.test_doctor import steps
from tests.unit.cards import good_card

TOOL, OTHER = "https://extensions.example/tool/v1", "urn:example:other"
_HEADERS = {"1.0": "a2a-extensions", "0.3": "x-a2a-extensions"}


@pytest.fixture(params=_HEADERS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def agent(version: str) -> Iterator[AgentServer]:
    """It refuses whoever does not ask for its extension."""

    def behave(exchange: Exchange) -> None:
        asked = exchange.received.headers.get(_HEADERS[version], "").split(",")
        if TOOL in asked:
            server.reply(exchange, [message(text("With tools"))])
        else:
            error = {"code": -32008, "message": "no tools"}
            exchange.json({"jsonrpc": "2.0", "id": exchange.received.json["id"], "error": error})

    with AgentServer(serve_message=behave, version=version) as server:
        yield server


@pytest.mark.parametrize("streaming", [False, True])
def test_an_agent_that_requires_an_extension_is_asked_for_it(
    agent: AgentServer, version: str, streaming: bool
) -> None:
    hub = Hub(route("alpha", agent.url, extensions=(OTHER, TOOL)))
    if streaming:
        assert "With tools" in str(hub.stream("Hello"))
    else:
        assert text_of(hub.send("Hello")) == "With tools"
    (asked,) = agent.asked
    assert asked.headers[_HEADERS[version]] == f"{OTHER},{TOOL}"
    assert not {*_HEADERS.values()} - {_HEADERS[version]} & asked.headers.keys()


def test_where_the_route_does_not_name_it_the_administrator_is_told_to(agent: AgentServer) -> None:
    answer = Hub(route("alpha", agent.url)).query("Hello")
    assert "Your administrator can fix this" in answer["answer"]
    assert answer["error"]["fault"] == "extension_required"
    assert "`extensions` of route alpha" in answer["error"]["remedy"]
    assert not {*_HEADERS.values()} & agent.asked[0].headers.keys()


@pytest.mark.parametrize(("named", "outcome"), [((), Outcome.ERROR), ((TOOL,), Outcome.OK)])
def test_the_doctor_tells_of_an_extension_that_the_card_requires(
    named: tuple[str, ...], outcome: Outcome
) -> None:
    with HttpServer(_declaring(TOOL)) as agent:
        step = steps(route("alpha", agent.url, extensions=named))["card"]
    assert step.outcome == outcome
    assert outcome is Outcome.OK or TOOL in step.message


def test_the_hubs_card_names_those_of_agents_whose_own_words_reach_the_caller() -> None:
    hub = Hub(
        route("alpha", "http://127.0.0.1:1", extensions=(TOOL,), passes_tasks=True),
        route("beta", "http://127.0.0.1:1", extensions=(OTHER,)),
    )
    assert _card(hub, "1.0")["capabilities"]["extensions"] == [{"uri": TOOL}]
    assert _card(hub, "0.3")["capabilities"]["extensions"] == [{"uri": TOOL}]


def test_an_answer_names_the_extension_that_its_caller_asked_for(agent: AgentServer) -> None:
    hub = Hub(route("alpha", agent.url, extensions=(TOOL,), passes_tasks=True))
    assert _answered(hub, f"urn:unknown, {TOOL}").headers["x-a2a-extensions"] == TOOL
    assert "x-a2a-extensions" not in _answered(hub, "urn:unknown").headers


def _declaring(uri: str) -> Behaviour:
    def serve(exchange: Exchange) -> None:
        if exchange.received.path != CARD_PATH:
            exchange.answer(404)
            return
        extensions = [{"uri": uri, "required": True}]
        exchange.json(good_card() | {"capabilities": {"streaming": True, "extensions": extensions}})

    return serve


def _card(hub: Hub, version: str) -> dict[str, dict[str, object]]:
    answer = hub.request("GET", CARD_PATH, token=None, headers={"a2a-version": version})
    assert isinstance(answer.body, bytes)
    declared: dict[str, dict[str, object]] = json.loads(answer.body)
    return declared


def _answered(hub: Hub, extensions: str) -> Response:
    sent = {"kind": "message", "messageId": "1", "role": "user", "parts": [{"kind": "text", "text": "Hello"}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": sent}}
    return hub.request("POST", "/", json.dumps(body).encode(), headers={"x-a2a-extensions": extensions})
