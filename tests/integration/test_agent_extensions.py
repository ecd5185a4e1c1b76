"""Agents that use extensions of A2A, or require one (A2A 1.0.1 §4.6): the route says for which the hub asks."""

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from a2a_hub.diagnosis.report import Outcome
from a2a_hub.http.messages import Response
from tests.fakes.agent_server import CARD_PATH, AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, data, message, status, task, text
from tests.fakes.http_server import Behaviour, Exchange, HttpServer
from tests.fakes.hub import Hub, route, text_of
from tests.integration.test_doctor import steps
from tests.unit.cards import good_card

TOOL, OTHER = "https://extensions.example/tool/v1", "urn:example:other"
_ids = itertools.count(1)
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
def test_an_agent_that_requires_an_extension_is_asked_for_it(agent: AgentServer, version: str, streaming: bool) -> None:
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
def test_the_doctor_tells_of_an_extension_that_the_card_requires(named: tuple[str, ...], outcome: Outcome) -> None:
    with HttpServer(_declaring(TOOL)) as agent:
        step = steps(route("alpha", agent.url, extensions=named))["card"]
    assert step.outcome == outcome
    assert outcome is Outcome.OK or TOOL in step.message


def test_the_doctor_tells_of_an_extension_that_the_card_does_not_declare() -> None:
    with HttpServer(_declaring(TOOL)) as agent:
        step = steps(route("alpha", agent.url, extensions=(TOOL, OTHER)))["card"]
    assert step.outcome is Outcome.WARNING
    assert OTHER in step.message
    assert TOOL not in step.message


def test_the_hubs_card_names_those_of_agents_whose_own_words_reach_the_caller() -> None:
    hub = Hub(
        route("alpha", "http://127.0.0.1:1", extensions=(TOOL,), passes_tasks=True),
        route("beta", "http://127.0.0.1:1", extensions=(OTHER,)),
    )
    named = [{"uri": TOOL, "description": "Passed on to and from Agent alpha."}]
    assert _card(hub, "1.0")["capabilities"]["extensions"] == named
    assert _card(hub, "0.3")["capabilities"]["extensions"] == named


def test_an_answer_names_the_extension_that_its_caller_asked_for(agent: AgentServer) -> None:
    hub = Hub(route("alpha", agent.url, extensions=(TOOL,), passes_tasks=True))
    assert _answered(hub, f"urn:unknown, {TOOL}").headers["x-a2a-extensions"] == TOOL
    assert "x-a2a-extensions" not in _answered(hub, "urn:unknown").headers


_SETTINGS = {"workspace": "/w"}
_CALL = {"tool": "write_file", "input": {"lines": [1, 2.5, None, {"x": "世界"}]}}


@pytest.fixture
def tool_agent() -> Iterator[AgentServer]:
    """It asks whether it may use its tool, and then uses it; of both it tells in data and metadata."""

    def say(said: ReceivedMessage) -> list[Json]:
        stage = "SUCCEEDED" if said.task_id else "PENDING"
        told = status("working")
        told["statusUpdate"]["metadata"] = {TOOL: {"kind": "TOOL_CALL_UPDATE"}}
        told["statusUpdate"]["status"]["message"] = message(data(_CALL | {"status": stage}))["message"]
        return [task("submitted"), told, status("completed" if said.task_id else "input-required")]

    with AgentServer(say, version="0.3") as server:
        yield server


def test_a_program_that_speaks_0_3_and_asks_for_the_extension_has_its_data_and_metadata_both_ways(
    tool_agent: AgentServer, tmp_path: Path
) -> None:
    hub = _with_tasks(tool_agent, tmp_path)
    first, *_, told, asked = _streamed(hub, _said("Write it", metadata={TOOL: _SETTINGS}), extensions=TOOL)
    assert told["metadata"] == {TOOL: {"kind": "TOOL_CALL_UPDATE"}}
    assert told["status"]["message"]["parts"] == [{"kind": "data", "data": _CALL | {"status": "PENDING"}}]
    assert (asked["status"]["state"], asked["final"]) == ("input-required", True)
    confirmation = {"tool_call_id": "1", "selected_option_id": "proceed_once"}
    answer = _said() | {"parts": [{"kind": "data", "data": confirmation}], "taskId": first["id"]}
    *_, told, done = _streamed(hub, answer, extensions=TOOL)
    assert told["status"]["message"]["parts"] == [{"kind": "data", "data": _CALL | {"status": "SUCCEEDED"}}]
    assert (done["taskId"], done["status"]["state"]) == (first["id"], "completed")
    settings, confirmed = [each.json["params"]["message"] for each in tool_agent.asked]
    assert settings["metadata"] == {TOOL: _SETTINGS}
    assert confirmed["parts"] == [{"kind": "data", "data": confirmation}]


@pytest.mark.parametrize(
    "marks",
    [
        {"metadata": {TOOL: _SETTINGS}},
        {"extensions": [TOOL]},
        {"parts": [{"kind": "data", "data": {"x": 1}}]},
    ],
    ids=str,
)
def test_who_uses_the_extension_in_the_message_is_a_program_though_it_names_no_modes(
    tool_agent: AgentServer, tmp_path: Path, marks: Json
) -> None:
    hub = _with_tasks(tool_agent, tmp_path)
    for extensions, modes, reads_data in (
        (TOOL, (), True),
        # A message that names the extension activates it. A mode that is named is all that is accepted.
        ("", (), "parts" not in marks),
        (TOOL, ("text/plain",), False),
    ):
        events = _streamed(hub, _said("Write it") | marks, extensions=extensions, modes=modes)
        assert ("TOOL_CALL_UPDATE" in json.dumps(events)) is reads_data


@pytest.mark.parametrize(
    ("extensions", "modes"), [(TOOL, []), (OTHER, ["application/json"]), ("", ["application/json"])]
)
def test_who_does_not_accept_data_or_does_not_ask_for_the_extension_reads_texts(
    tool_agent: AgentServer, tmp_path: Path, extensions: str, modes: list[str]
) -> None:
    hub = _with_tasks(tool_agent, tmp_path)
    events = _streamed(hub, _said("Write it"), extensions=extensions, modes=modes)
    assert TOOL not in json.dumps(events)
    assert "needs more information" in events[-1]["status"]["message"]["parts"][0]["text"]


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
    return _asked(hub, "message/send", {"message": _said("Hello")}, extensions=extensions)


def _with_tasks(agent: AgentServer, folder: Path) -> Hub:
    settings = {"TASK_STORE": f"sqlite:{folder / 'tasks.db'}"}
    return Hub(route("alpha", agent.url, extensions=(TOOL,), passes_tasks=True), settings=settings)


def _streamed(
    hub: Hub, sent: Json, *, extensions: str, modes: Sequence[str] = ("text/plain", "application/json")
) -> list[Json]:
    params = {"message": sent, "configuration": {"acceptedOutputModes": list(modes)}}
    body = _asked(hub, "message/stream", params, extensions=extensions).body
    assert isinstance(body, Iterator), body
    return [json.loads(chunk.removeprefix(b"data: "))["result"] for chunk in body if not chunk.startswith(b":")]


def _said(text: str | None = None, **fields: object) -> Json:
    parts = [{"kind": "text", "text": text}] if text else []
    return {"kind": "message", "messageId": str(next(_ids)), "role": "user", "parts": parts} | fields


def _asked(hub: Hub, method: str, params: Json, *, extensions: str) -> Response:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    return hub.request("POST", "/", body, headers={"x-a2a-extensions": extensions})
