"""MCP servers behind the hub, with a model: function calling in a bounded loop, with confirmations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.routing.routes import Kind
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.hub import Hub, route
from tests.fakes.mcp_server import LEAK, McpServer
from tests.fakes.vertex import gemini
from tests.integration.conversation_agents import turn

SIGNATURE = "c2lnbmF0dXJl"
Answer = list[dict[str, Any]] | int


def wants(function: str, **arguments: Any) -> dict[str, Any]:
    return {"functionCall": {"name": function, "args": arguments}, "thoughtSignature": SIGNATURE}


class Model(HttpServer):
    """A Gemini that says one of `answers` after the other; `asked` are the requests."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.answers: list[Answer] = []
        self.asked: list[Any] = []

    def _answer(self, exchange: Exchange) -> None:
        self.asked.append(exchange.received.json)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, int):
            exchange.json({"error": {"code": answer, "status": "PERMISSION_DENIED", "message": LEAK}}, answer)
            return
        exchange.start_stream()
        content = {"role": "model", "parts": answer}
        exchange.event({"candidates": [{"content": content, "finishReason": "STOP"}]})


@pytest.fixture
def server() -> Iterator[McpServer]:
    with McpServer() as server:
        yield server


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as model:
        yield model


def hub_of(server: McpServer, model: Model, *answers: Answer, folder: Path | None = None) -> Hub:
    model.answers = list(answers)
    settings = {"TASK_STORE": f"sqlite:{folder / 'tasks.db'}"} if folder else {}
    mcp = route("mcp", f"{server.url}/mcp", kind=Kind.MCP, timeout_seconds=60.0)
    return Hub(mcp, route("beta", "http://127.0.0.1:9"), settings=settings, gemini=gemini(model.url))


def results(request: Any) -> list[Any]:
    """The results of functions in a dialogue that the model got."""
    parts = [part for content in request["contents"] for part in content["parts"]]
    return [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]


@pytest.mark.parametrize("way", ["send", "stream", "query"])
def test_the_model_calls_read_only_tools_and_answers_from_their_results(
    server: McpServer, model: Model, way: str
) -> None:
    hub = hub_of(
        server, model, [wants("forecast", city="Kobe")], [wants("forecast", city="Osaka")], [{"text": "Sunny in both."}]
    )
    assert turn(hub, way, "mcp: Kobe or Osaka?")[1] == "Sunny in both."
    assert server.calls == [("forecast", {"city": "Kobe"}), ("forecast", {"city": "Osaka"})]
    declared = model.asked[0]["tools"][0]["functionDeclarations"]
    assert [each["name"] for each in declared] == ["forecast", "book", "fail"]
    # ProtoJSON reads the field's own name as well.
    assert declared[0]["parameters_json_schema"] == {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    }
    assert results(model.asked[2]) == [{"output": "Sunny in Kobe."}, {"output": "Sunny in Osaka."}]
    assert model.asked[2]["contents"][1]["parts"][0]["thoughtSignature"] == SIGNATURE


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("way", ["send", "stream"])
def test_a_tool_that_is_not_read_only_waits_for_a_yes_and_the_model_goes_on(
    server: McpServer, model: Model, way: str, stored: bool, tmp_path: Path
) -> None:
    answers: list[Answer] = [
        [wants("forecast", city="神戸")],
        [wants("book", city="神戸")],
        [{"text": "予約しました。"}],
    ]
    hub = hub_of(server, model, *answers, folder=tmp_path if stored else None)
    context_id, asked = turn(hub, way, "mcpで晴れなら神戸を予約して")
    assert asked.startswith("エージェント「担当mcp」がツール「book」の使用を求めています:\n\n    city: 神戸\n")
    turn(hub, way, "たぶん", context_id)
    assert [name for name, _ in server.calls] == ["forecast"]
    assert turn(hub, way, "はい", context_id)[1] == "予約しました。"
    assert server.calls[1:] == [("book", {"city": "神戸"})]
    assert results(model.asked[-1]) == [{"output": "Sunny in 神戸."}, {"output": "Booked 神戸."}]


def test_a_rejected_call_ends_the_turn(server: McpServer, model: Model) -> None:
    hub = hub_of(server, model, [wants("book", city="Kobe")])
    context_id, _ = turn(hub, "send", "mcp: book Kobe")
    assert turn(hub, "send", "no", context_id)[1] == "Rejected: this was not done."
    assert (server.calls, len(model.asked)) == ([], 1)


def test_a_tool_that_fails_or_does_not_exist_is_told_to_the_model(server: McpServer, model: Model) -> None:
    hub = hub_of(server, model, [wants("fail", city="Kobe")], [wants("delete_all")], [{"text": "It did not work."}])
    assert turn(hub, "send", "mcp: Kobe?")[1] == "It did not work."
    assert results(model.asked[-1]) == [{"error": LEAK}, {"error": "There is no such function. Nothing was done."}]


def test_a_model_that_never_answers_is_stopped(server: McpServer, model: Model) -> None:
    answer = hub_of(server, model, [wants("forecast", city="Kobe")]).query("mcp: Kobe?")
    assert "could not complete this request" in answer["answer"]
    assert len(server.calls) == 8


def test_a_failure_of_the_model_is_contained_and_opens_no_circuit(server: McpServer, model: Model) -> None:
    hub = hub_of(server, model, 403)
    asked = [hub.query("mcp: Kobe?") for _ in range(7)]
    assert {each["error"]["fault"] for each in asked} == {"model_denied"}
    assert "had a problem" in asked[-1]["answer"]
    assert "add-iam-policy-binding" in hub.log[-1]["remedy"]
    assert LEAK not in "".join(map(str, [asked, hub.log]))


def test_the_doctor_examines_the_model(server: McpServer, model: Model) -> None:
    report = hub_of(server, model, [{"text": "ready"}]).request("GET", "/doctor").body
    assert isinstance(report, bytes)
    assert b'"subject":"model"' in report


def test_a_tool_with_an_odd_name_or_an_endless_schema_is_not_offered(server: McpServer, model: Model) -> None:
    endless = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(1000)}}
    server.tools = [*server.tools, {"name": "odd name", "inputSchema": {}}, {"name": "endless", "inputSchema": endless}]
    turn(hub_of(server, model, [{"text": "Nothing."}]), "send", "mcp: hello")
    declared = model.asked[0]["tools"][0]["functionDeclarations"]
    assert [each["name"] for each in declared] == ["forecast", "book", "fail"]
