"""The log says how each request ended, in six words, and by which id it is the same request in every function."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.declining import Reason, declining
from a2a_hub.a2a.model import SendMessageRequest
from a2a_hub.a2a.reply import Piece, Text
from a2a_hub.agents.function import agent_card, agent_function
from a2a_hub.http.messages import Request, Response, body_of
from a2a_hub.telemetry.log import REQUEST_ID, Log
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json, data, message, status, task, text
from tests.fakes.http_server import HttpServer
from tests.fakes.hub import Hub, route
from tests.integration.gates import echo, gate

AWAY = "http://127.0.0.1:9"
ANSWERS: dict[str, list[Json]] = {
    "answered": [message(text("42"))],
    "unanswered": [message(text("I do not know."), data({"declines": "nothing_known"}))],
    "declined": [task("submitted"), status("rejected", "Not my subject.")],
    "failed": [task("submitted"), status("failed", "Sorry.")],
}


def _ask(hub: Hub, way: str, version: str, what: str = "alpha") -> None:
    if way == "query":
        hub.query(what)
    elif way == "send":
        hub.send(what, version=version)
    else:
        hub.stream(what, version=version)


@pytest.mark.parametrize(("way", "version"), [("send", "0.3"), ("stream", "0.3"), ("stream", "1.0"), ("query", "")])
@pytest.mark.parametrize("outcome", ANSWERS)
def test_a_turn_ends_as_its_agent_ended_it(outcome: str, way: str, version: str) -> None:
    with AgentServer(lambda _: ANSWERS[outcome]) as agent:
        hub = Hub(route("alpha", agent.url))
        _ask(hub, way, version)
    assert hub.log[-1]["outcome"] == outcome


@pytest.mark.parametrize("way", ["send", "stream", "query"])
def test_what_every_agent_declines_is_unanswered(way: str) -> None:
    with AgentServer(lambda _: ANSWERS["unanswered"]) as agent:
        hub = Hub(route("talk", agent.url), route("docs", agent.url, fallbacks=("talk",)))
        _ask(hub, way, "0.3", "How high?")
    assert hub.log[-1]["outcome"] == "unanswered"
    assert [each["route"] for each in hub.log[-1]["declined"]] == ["docs", "talk"]


@pytest.mark.parametrize(
    ("changes", "url", "outcome", "fault"),
    [
        ({}, AWAY, "failed", "unreachable"),
        ({"allow_clients": ("somebody",)}, AWAY, "refused", "not_permitted"),
    ],
)
def test_a_turn_without_an_agent_fails_or_is_refused(changes: Any, url: str, outcome: str, fault: str) -> None:
    hub = Hub(route("alpha", url, **changes))
    hub.send("alpha")
    assert (hub.log[-1]["outcome"], hub.log[-1]["fault"]) == (outcome, fault)


def test_a_request_that_is_none_is_refused() -> None:
    hub = Hub(route("alpha", AWAY))
    hub.request("POST", "/", b"{}")
    hub.request("POST", "/", b"{}", token="wrong")
    hub.request("GET", "/nowhere")
    hub.send("", parts=[{"kind": "text", "text": " "}])
    assert {line["outcome"] for line in hub.log} == {"refused"}
    assert [line["fault"] for line in hub.log[1:]] == ["UNAUTHENTICATED", "METHOD_NOT_FOUND", "no_text"]


def test_a_failed_task_is_an_answer_to_whoever_asks_for_it(tmp_path: Path) -> None:
    with AgentServer(lambda _: ANSWERS["failed"]) as agent:
        hub = Hub(route("alpha", agent.url), settings={"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"})
        task_id = hub.stream("alpha")[0]["id"]
        _, found = hub.post("/", {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": task_id}})
    assert found["result"]["id"] == task_id
    assert [line["outcome"] for line in hub.log] == ["failed", "answered"]


def test_an_agent_of_ours_that_declines_says_so_in_its_own_log() -> None:
    def answer(_request: SendMessageRequest, _call: Call) -> Iterable[Piece]:
        yield declining(Reason.NOTHING_KNOWN, {})
        yield Text("I do not know.")

    lines: list[bytes] = []
    log = Log(lines.append, clock=lambda: 0.0, new_id=lambda: "own-id", function="agent")
    card = agent_card(name="a", description="a", version="1", url="http://a.example", skills=())
    handle = agent_function(lambda request, call: iter(answer(request, call)), card=card, log=log)
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}
    body["params"] = {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "?"}]}}
    headers = {"content-type": "application/json", "a2a-version": "1.0", REQUEST_ID: "id-of-the-hub"}
    handle(Request(method="POST", path="/", headers=headers, read_body=body_of(json.dumps(body).encode())))
    line = json.loads(lines[-1])
    assert (line["outcome"], line["requestId"]) == ("declined", "id-of-the-hub")


def test_one_id_goes_from_the_gate_to_the_hub_and_to_its_agent(tmp_path: Path) -> None:
    with HttpServer(echo) as upstream, gate(upstream.url, tmp_path) as running:
        running.ask(headers={"Authorization": "Bearer token-of-one-caller", "X-Request-Id": "id-of-the-caller"})
        line = json.loads(running.log.read_text().splitlines()[-1])
        (at_hub,) = (received for received in upstream.received if received.method == "POST")
    assert line["requestId"] == at_hub.headers[REQUEST_ID] != "id-of-the-caller"
    with AgentServer(lambda _: ANSWERS["answered"]) as agent:
        _hub_behind_gate(agent.url, line["requestId"])
    assert agent.said[0].headers[REQUEST_ID] == line["requestId"]


def _hub_behind_gate(agent_url: str, request_id: str) -> None:
    hub = Hub(route("alpha", agent_url))
    hub.request("POST", "/tools/query", b'{"query": "alpha"}', headers={REQUEST_ID: request_id})
    assert hub.log[-1]["requestId"] == request_id


@pytest.mark.parametrize("given", ["short", "x" * 65, "with space in it", "new\nline-here", ""])
def test_an_id_of_another_form_is_replaced(given: str) -> None:
    hub = Hub(route("alpha", AWAY))
    hub.request("GET", "/health", headers={REQUEST_ID: given})
    assert hub.log[-1]["requestId"] == "request-1"


def test_a_function_at_the_entrance_takes_no_id_from_outside() -> None:
    lines: list[bytes] = []
    log = Log(lines.append, clock=lambda: 0.0, new_id=lambda: "own-id", function="gate", is_entrance=True)
    log.requests(lambda request, _: Response(body=request.headers[REQUEST_ID].encode()))(
        Request(method="GET", path="/", headers={REQUEST_ID: "id-of-the-caller"})
    )
    assert json.loads(lines[-1])["requestId"] == "own-id"
