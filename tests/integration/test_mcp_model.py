"""MCP servers behind the hub, with a model: function calling in a bounded loop, with confirmations."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.gemini.prompt import FunctionCall, FunctionResult, Turn, UserTurn
from a2a_hub.routing.routes import Kind
from tests.fakes.http_server import Exchange
from tests.fakes.hub import Hub, route
from tests.fakes.mcp_server import LEAK, McpServer
from tests.fakes.scripted_model import SIGNATURE, Answer, ScriptedModel, wants
from tests.integration.conversation_agents import turn

MISTAKEN = "There is no such function, or its arguments do not fit it. Nothing was done."


@pytest.fixture
def server() -> Iterator[McpServer]:
    with McpServer() as server:
        yield server


@pytest.fixture(params=["Gemini", "OpenAI"])
def model(request: pytest.FixtureRequest) -> Iterator[ScriptedModel]:
    with ScriptedModel(is_gemini=request.param == "Gemini", error=LEAK) as model:
        yield model


def hub_of(server: McpServer, model: ScriptedModel, *answers: Answer, folder: Path | None = None) -> Hub:
    model.answers = list(answers)
    settings = {"TASK_STORE": f"sqlite:{folder / 'tasks.db'}"} if folder else {}
    mcp = route("mcp", f"{server.url}/mcp", kind=Kind.MCP, timeout_seconds=60.0)
    return Hub(mcp, route("beta", "http://127.0.0.1:9"), settings=settings, model=model.client)


def results(dialogue: list[Turn]) -> list[tuple[str, bool]]:
    return [(turn.text, turn.succeeded) for turn in dialogue if isinstance(turn, FunctionResult)]


@pytest.mark.parametrize("way", ["send", "stream", "query"])
def test_the_model_calls_read_only_tools_and_answers_from_their_results(
    server: McpServer, model: ScriptedModel, way: str
) -> None:
    hub = hub_of(server, model, [wants("forecast", city="Kobe")], [wants("forecast", city="Osaka")], ["Sunny in both."])
    assert turn(hub, way, "mcp: Kobe or Osaka?")[1] == "Sunny in both."
    assert server.calls == [("forecast", {"city": "Kobe"}), ("forecast", {"city": "Osaka"})]
    assert [each["name"] for each in model.declared] == ["forecast", "book", "fail"]
    assert model.declared[0]["parameters"] == {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    }
    signature = SIGNATURE if model.is_gemini else ""
    assert model.dialogues[2] == [
        UserTurn("mcp: Kobe or Osaka?"),
        FunctionCall(name="forecast", arguments={"city": "Kobe"}, signature=signature),
        FunctionResult(name="forecast", text="Sunny in Kobe.", succeeded=True),
        FunctionCall(name="forecast", arguments={"city": "Osaka"}, signature=signature),
        FunctionResult(name="forecast", text="Sunny in Osaka.", succeeded=True),
    ]


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("way", ["send", "stream"])
def test_a_tool_that_is_not_read_only_waits_for_a_yes_and_the_model_goes_on(
    server: McpServer, model: ScriptedModel, way: str, stored: bool, tmp_path: Path
) -> None:
    answers: list[Answer] = [
        [wants("forecast", city="神戸")],
        [wants("book", city="神戸")],
        ["予約しました。"],
    ]
    hub = hub_of(server, model, *answers, folder=tmp_path if stored else None)
    context_id, asked = turn(hub, way, "mcpで晴れなら神戸を予約して")
    assert asked.startswith("エージェント「担当mcp」がツール「book」の使用を求めています：\n\n    city: 神戸\n")
    turn(hub, way, "たぶん", context_id)
    assert [name for name, _ in server.calls] == ["forecast"]
    assert turn(hub, way, "はい", context_id)[1] == "予約しました。"
    assert server.calls[1:] == [("book", {"city": "神戸"})]
    assert results(model.dialogues[-1]) == [("Sunny in 神戸.", True), ("Booked 神戸.", True)]


def test_a_rejected_call_ends_the_turn(server: McpServer, model: ScriptedModel) -> None:
    hub = hub_of(server, model, [wants("book", city="Kobe")])
    context_id, _ = turn(hub, "send", "mcp: book Kobe")
    assert turn(hub, "send", "no", context_id)[1] == "Rejected: this was not done."
    assert (server.calls, len(model.asked)) == ([], 1)


def test_a_tool_that_fails_or_does_not_exist_is_told_to_the_model(server: McpServer, model: ScriptedModel) -> None:
    hub = hub_of(server, model, [wants("fail", city="Kobe")], [wants("delete_all")], ["It did not work."])
    assert turn(hub, "send", "mcp: Kobe?")[1] == "It did not work."
    assert results(model.dialogues[-1]) == [(LEAK, False), (MISTAKEN, False)]


def test_arguments_that_the_server_refuses_are_told_to_the_model(server: McpServer, model: ScriptedModel) -> None:
    def refuse(exchange: Exchange) -> None:
        refused.append(exchange.received.json["params"]["arguments"])
        server.serve_call = None
        exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": LEAK}}, 400)

    refused: list[Any] = []
    server.serve_call = refuse
    hub = hub_of(server, model, [wants("forecast", city="?")], [wants("forecast", city="Kobe")], ["Sunny."])
    assert turn(hub, "send", "mcp: Kobe?")[1] == "Sunny."
    assert refused == [{"city": "?"}]
    assert results(model.dialogues[-1]) == [(MISTAKEN, False), ("Sunny in Kobe.", True)]


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"content": [{"type": "image", "data": "iVBORw==", "mimeType": "image/png"}]}, "[image/png]"),
        (
            {"content": [{"type": "resource", "resource": {"uri": "file:///a", "blob": "AAAA", "mimeType": "a/b"}}]},
            "[a/b]",
        ),
        ({"structuredContent": [1]}, "[\n  1\n]"),
    ],
)
def test_a_result_without_a_text_is_told_to_the_model(
    server: McpServer, model: ScriptedModel, result: dict[str, Any], told: str
) -> None:
    server.serve_call = lambda exchange: exchange.json({"jsonrpc": "2.0", "id": 1, "result": result})
    turn(hub_of(server, model, [wants("forecast", city="Kobe")], ["Here."]), "send", "mcp: Kobe?")
    assert results(model.dialogues[-1]) == [(told, True)]


def test_of_several_calls_at_once_the_first_is_made(server: McpServer, model: ScriptedModel) -> None:
    both = [wants("forecast", city="Kobe"), wants("book", city="Kobe")]
    hub = hub_of(server, model, both, ["Sunny."])
    assert turn(hub, "send", "mcp: Kobe?")[1] == "Sunny."
    assert server.calls == [("forecast", {"city": "Kobe"})]
    assert len(model.dialogues[-1]) == 3


def test_a_call_whose_arguments_are_no_json_is_neither_made_nor_shown(server: McpServer) -> None:
    with ScriptedModel(is_gemini=False) as model:
        hub = hub_of(server, model, [FunctionCall(name="book", arguments=None)], ["It did not work."])
        assert turn(hub, "stream", "mcp: Kobe?")[1] == "It did not work."
        assert server.calls == []


def test_a_model_that_never_answers_is_stopped(server: McpServer, model: ScriptedModel) -> None:
    answer = hub_of(server, model, [wants("forecast", city="Kobe")]).query("mcp: Kobe?")
    assert "could not complete this request" in answer["answer"]
    assert len(server.calls) == 8


def test_a_failure_of_the_model_is_contained_and_opens_no_circuit(server: McpServer, model: ScriptedModel) -> None:
    hub = hub_of(server, model, 403)
    asked = [hub.query("mcp: Kobe?") for _ in range(7)]
    assert {each["error"]["fault"] for each in asked} == {"model_denied"}
    assert "had a problem" in asked[-1]["answer"]
    assert ("add-iam-policy-binding" if model.is_gemini else "ANSWER_MODEL_KEY") in hub.log[-1]["remedy"]
    assert LEAK not in "".join(map(str, [asked, hub.log]))


def test_the_doctor_examines_the_model(server: McpServer, model: ScriptedModel) -> None:
    report = hub_of(server, model, ["ready"]).request("GET", "/doctor").body
    assert isinstance(report, bytes)
    assert b'"subject":"model"' in report


@pytest.mark.parametrize(
    ("name", "declared"),
    [("trips/book.now", "trips_book_now"), ("3d", "_3d"), ("予約", "__"), ("x" * 100, "x" * 64)],
)
def test_a_tool_is_called_whatever_its_name_by_one_that_models_know(
    server: McpServer, model: ScriptedModel, name: str, declared: str
) -> None:
    server.tools = [{"name": name}]
    server.serve_call = lambda exchange: exchange.json({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})
    hub = hub_of(server, model, [wants(declared, city="Kobe")], ["Booked."])
    context_id, asked = turn(hub, "send", "mcp: book Kobe")
    assert f"the tool “{name}”" in asked
    assert turn(hub, "send", "yes", context_id)[1] == "Booked."
    assert server.received[-1].json["params"]["name"] == name
    assert [turn.name for turn in model.dialogues[-1] if isinstance(turn, FunctionCall)] == [declared]
    assert [each["parameters"] for each in model.declared] == [{"type": "object", "properties": {}}]


def test_tools_whose_names_models_do_not_know_are_told_apart(server: McpServer, model: ScriptedModel) -> None:
    names = ["予約", "検索", "", "x" * 99, "x" * 98, "予約"]
    server.tools = [{"name": name, "annotations": {"readOnlyHint": True}} for name in names]
    server.serve_call = lambda exchange: exchange.json({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})
    hub = hub_of(server, model, [wants("___2", city="Kobe")], ["Found."])
    assert turn(hub, "send", "mcp: look for Kobe")[1] == "Found."
    assert [each["name"] for each in model.declared] == ["__", "___2", "_", "x" * 64, f"{'x' * 60}_2"]
    assert server.received[-1].json["params"]["name"] == "検索"
    assert [turn.name for turn in model.dialogues[-1] if isinstance(turn, FunctionCall)] == ["___2"]


@pytest.mark.parametrize(("count", "told"), [(3, False), (101, True), (300, True)])
def test_a_model_knows_that_it_is_not_offered_all_tools(
    server: McpServer, model: ScriptedModel, count: int, told: bool
) -> None:
    server.tools = [{"name": f"tool-{number}"} for number in range(count)]
    turn(hub_of(server, model, ["Nothing."]), "send", "mcp: hello")
    assert [each["name"] for each in model.declared] == [f"tool-{number}" for number in range(min(count, 100))]
    assert ("has more functions, which cannot be called here" in json.dumps(model.asked)) == told


def test_a_tool_with_an_endless_schema_is_not_offered(server: McpServer, model: ScriptedModel) -> None:
    endless = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(1000)}}
    server.tools = [*server.tools, {"name": "endless", "inputSchema": endless}]
    turn(hub_of(server, model, ["Nothing."]), "send", "mcp: hello")
    assert [each["name"] for each in model.declared] == ["forecast", "book", "fail"]
