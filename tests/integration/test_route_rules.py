"""Who may use a route: by domain, address and client; what a caller may not use, they neither reach nor see."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.identity.principal import Principal
from a2a_hub.task_store.sqlite import SqliteTaskStore
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.hub import Hub, route, settle, text_of
from tests.fakes.signatures import signed

HANAKO = Principal(subject="google:1", email="hanako@example.com", hosted_domain="example.com")
TARO = Principal(subject="google:2", email="taro@gmail.com")
# An address of the company's form on an account that is not the company's.
PRETENDER = Principal(subject="google:3", email="boss@example.com", hosted_domain="example.org")
NIGHTLY = Principal(subject="client:nightly", client="nightly")
LIMITED = Principal(subject="client:console", client="console", routes=frozenset({"delta"}))
LIMITED_TO_HIDDEN = Principal(subject="client:report", client="report", routes=frozenset({"alpha"}))
NARROW = Principal(subject="client:narrow", client="narrow", operations=frozenset({"SendMessage"}))

# alpha is for a domain, beta for an address, gamma for a client, delta for everybody.
USABLE = [
    (HANAKO, {"alpha", "delta"}),
    (TARO, {"beta", "delta"}),
    (PRETENDER, {"delta"}),
    (NIGHTLY, {"gamma", "delta"}),
    (LIMITED, {"delta"}),
    (LIMITED_TO_HIDDEN, set()),
]


@dataclass(frozen=True)
class House:
    """A hub behind a gate, and the one agent behind all of its routes."""

    hub: Hub
    agent: AgentServer

    def ask(self, principal: Principal, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and body of what the gate passes on for `principal`."""
        data = b"" if body is None else json.dumps(body).encode()
        response = self.hub.request(method, path, data, token=None, headers=signed(principal, method, path, data))
        assert isinstance(response.body, bytes)
        return response.status, json.loads(response.body)


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    """Four routes with a rule each."""
    with AgentServer(lambda _: [message(text("Here you are"))]) as agent:
        hub = Hub(
            route("alpha", agent.url, allow_domains=("example.com",)),
            route("beta", agent.url, allow_emails=("taro@gmail.com",)),
            route("gamma", agent.url, allow_clients=("nightly",)),
            route("delta", agent.url),
            behind_gate=True,
        )
        yield House(hub, agent)


def test_work_for_workers_is_taken_only_of_those_who_may_use_its_route(tmp_path: Path) -> None:
    hub = Hub(
        route("build", "", role="developer", allow_clients=("nightly",)),
        route("other", "http://127.0.0.1:9"),
        behind_gate=True,
        settings={"TASK_STORE": f"sqlite:{tmp_path / 'tasks.db'}"},
    )
    store = SqliteTaskStore(tmp_path / "tasks.db", clock=time.time, new_token=lambda: "token")
    told = {"message": {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "build it"}]}}
    returning = told | {"configuration": {"returnImmediately": True}}
    with AgentServer(lambda _: []) as nobody:
        for principal, due in ((HANAKO, 0), (NIGHTLY, 1)):
            House(hub, nobody).ask(principal, "POST", "/", _rpc("SendMessage", returning))
            settle()
            assert len(store.due(["developer"], limit=9)) == due
    store.close()


def test_an_anonymous_caller_uses_what_everybody_may_use_and_nothing_else() -> None:
    with AgentServer(lambda _: [message(text("Here you are"))]) as agent:
        alpha = route("alpha", agent.url, allow_domains=("example.com",), keywords=("alpha",), priority=9)
        hub = Hub(alpha, route("delta", agent.url), anonymous=True)
        assert "Here you are" not in text_of(hub.send("alpha, please", token=None))
        assert agent.said == []
        assert text_of(hub.send("anything else", token=None)) == "Here you are"
        listed = hub.request("GET", "/routes", token=None)
    assert isinstance(listed.body, bytes)
    assert [each["id"] for each in json.loads(listed.body)["routes"]] == ["delta"]


def _rpc(method: str, params: Any) -> Any:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.mark.parametrize(("principal", "usable"), USABLE)
def test_the_extended_card_shows_what_its_caller_may_use(house: House, principal: Principal, usable: set[str]) -> None:
    cards = [
        house.ask(principal, "GET", "/extendedAgentCard")[1],
        house.ask(principal, "GET", "/v1/card")[1],
        house.ask(principal, "POST", "/", _rpc("agent/getAuthenticatedExtendedCard", {}))[1]["result"],
    ]
    for card in cards:
        assert {skill["id"] for skill in card["skills"]} == usable
    listed = house.ask(principal, "GET", "/routes")[1]["routes"]
    assert {route["id"] for route in listed} == usable


def test_the_public_card_shows_what_is_for_everybody(house: House) -> None:
    response = house.hub.request("GET", "/.well-known/agent-card.json", token=None)
    assert isinstance(response.body, bytes)
    assert [skill["id"] for skill in json.loads(response.body)["skills"]] == ["delta"]


@pytest.mark.parametrize(("principal", "usable"), USABLE)
@pytest.mark.parametrize("wanted", ["alpha", "beta", "gamma", "delta"])
def test_a_question_reaches_an_agent_only_if_its_caller_may_use_the_route(
    house: House, principal: Principal, usable: set[str], wanted: str
) -> None:
    house.agent.received.clear()
    status, answer = house.ask(principal, "POST", "/tools/query", {"query": f"A question for {wanted}"})
    assert status == 200
    assert (answer["route"], answer["error"] is None) == (wanted, wanted in usable)
    assert ("Here you are" in json.dumps(answer)) == (wanted in usable)
    assert bool(house.agent.asked) == (wanted in usable)


@pytest.mark.parametrize(("principal", "usable"), USABLE)
@pytest.mark.parametrize("wanted", ["alpha", "beta", "gamma"])
def test_a_route_that_is_asked_for_by_name_and_not_for_the_caller_looks_as_if_it_did_not_exist(
    house: House, principal: Principal, usable: set[str], wanted: str
) -> None:
    if wanted in usable:
        assert house.ask(principal, "POST", "/tools/query", {"query": "Hi", "route": wanted})[0] == 200
        return
    house.agent.received.clear()
    refused = [
        house.ask(principal, "POST", "/tools/query", {"query": "Hi", "route": name})[1] for name in (wanted, "nothing")
    ]
    for answer in refused:
        answer.pop("requestId")
    assert refused[0] == refused[1]
    assert wanted not in json.dumps(refused[0])
    assert house.agent.received == []


def test_an_operation_that_a_clients_credential_does_not_cover_is_refused(house: House) -> None:
    house.agent.received.clear()
    part = {"kind": "text", "text": "A question for delta"}
    sent = {"kind": "message", "messageId": "1", "role": "user", "parts": [part]}
    status, streamed = house.ask(NARROW, "POST", "/", _rpc("agent/getAuthenticatedExtendedCard", {}))
    assert (status, streamed["error"]["code"]) == (403, -32600)
    assert house.ask(NARROW, "POST", "/tools/query", {"query": "A question for delta"})[0] == 403
    assert house.ask(NARROW, "GET", "/tasks/1")[0] == 403
    assert house.agent.received == []
    assert "Here you are" in json.dumps(house.ask(NARROW, "POST", "/", _rpc("message/send", {"message": sent})))
