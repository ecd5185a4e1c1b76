"""`hubctl add`: the draft of a route from a card or a tool list, its check against the table, and the try."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.boundaries.kinds import Iam
from a2a_hub.http.client import HttpClient
from a2a_hub.routing.parser import load
from a2a_hub.routing.routes import Route
from hubctl.commands.add import tried
from hubctl.main import main
from hubctl.route_draft import agent_from_card
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.hub import route
from tests.fakes.mcp_server import McpServer
from tests.unit.route_tables import DEFAULT, route_text

CARD: dict[str, Any] = {
    "name": "Travel desk",
    "description": "Books trains and hotels.",
    "version": "1.0.0",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [
        {
            "id": "trains",
            "name": "Book trains",
            "description": "Books.",
            "tags": ["train ticket", "travel", "general", "新幹線"],
            "examples": ["Book a train ticket to Osaka", "What is the WBS of my trip?"],
        }
    ],
}


@pytest.fixture
def routes(tmp_path: Path) -> Path:
    file = tmp_path / "routes.toml"
    file.write_text(route_text("pm", 'keywords = ["WBS", "Travel"]', priority=1) + DEFAULT)
    return file


def add(*arguments: object, environment: Mapping[str, str] | None = None) -> tuple[int, list[str], Route]:
    """The exit status, the notes, and the drafted route."""
    out = io.StringIO()
    status = main(["add", *map(str, arguments)], environment=environment or {}, out=out)
    notes = [line.removeprefix("# ") for line in out.getvalue().splitlines() if line.startswith("# ")]
    table = load(out.getvalue() + DEFAULT, variables={})
    return status, notes, table.routes[0]


def agent(card: dict[str, Any] | None = None, *, status: int = 200) -> HttpServer:
    """An agent of A2A 1.0 that answers every message, or refuses it, and knows no task."""

    def behave(exchange: Exchange) -> None:
        received = exchange.received
        if received.method == "GET" and received.path == "/.well-known/agent-card.json":
            interfaces = [{"url": server.url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]
            exchange.json((card or CARD) | {"supportedInterfaces": interfaces})
        elif received.method == "GET":
            exchange.answer(404)
        elif status != 200:
            exchange.answer(status)
        elif received.json["method"] in ("GetTask", "tasks/get"):
            exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "no"}})
        else:
            parts = received.json["params"]["message"]["parts"]
            answer = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": f"You said: {parts[0]['text']}"}]}
            exchange.json({"jsonrpc": "2.0", "id": received.json["id"], "result": {"message": answer}})

    server = HttpServer(behave)
    return server


def test_a_card_becomes_a_route_in_both_languages_without_the_keywords_of_others(routes: Path) -> None:
    with agent() as server:
        status, notes, added = add(f"{server.url}/.well-known/agent-card.json", "--routes", routes)
    assert status == 0
    assert (added.id, added.name, added.url, added.boundary.kind) == (
        "travel-desk",
        "Travel desk",
        server.url,
        "public",
    )
    assert added.description == "Books trains and hotels."
    assert added.description_ja == "「Travel desk」が担当します。Books trains and hotels."
    assert added.keywords == ("train ticket", "新幹線", "Book trains")
    assert added.priority == 2
    clash, _, stray, tried = notes
    assert clash.startswith("clash: 'travel' is left out: it goes to 'pm'")
    assert stray.startswith("the example 'What is the WBS of my trip?' goes to 'pm'")
    assert tried == "tried: the agent accepts requests, A2A 1.0 over JSONRPC"
    assert [each.json["method"] for each in server.received if each.method == "POST"] == ["GetTask"]


def test_tags_that_a_framework_gives_every_agent_are_no_keywords(routes: Path) -> None:
    """As the cards of ADK's `to_a2a`."""
    skills = [{"id": "a", "name": "custom", "description": "Books.", "tags": ["custom_agent", "llm", "loop_workflow"]}]
    with agent(CARD | {"name": "Hotel desk", "skills": skills}) as server:
        _, _, found = add(server.url, "--routes", routes)
    assert found.keywords == ("Hotel desk",)


def test_what_lets_everybody_in_needs_no_credential(routes: Path) -> None:
    schemes = {"one": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}}
    needed = [{"schemes": {"one": {"list": []}}}, {"schemes": {}}]
    with agent(CARD | {"securitySchemes": schemes, "securityRequirements": needed}) as server:
        status, _, found = add(server.url, "--routes", routes)
    assert (status, found.boundary.kind) == (0, "public")


def test_the_operator_hears_of_subjects_that_are_too_many(routes: Path) -> None:
    skills = [{"id": "a", "name": "b", "description": "Books.", "tags": [f"subject{number}" for number in range(31)]}]
    with agent(CARD | {"skills": skills}) as server:
        _, notes, found = add(server.url, "--routes", routes)
    assert len(found.keywords) == 30
    assert "left out, with 30 keywords before it: 'subject30'" in notes


def test_the_operator_hears_how_files_reach_programs(routes: Path) -> None:
    with agent(CARD | {"defaultOutputModes": ["text/plain", "image/png"]}) as server:
        _, notes, _ = add(server.url, "--routes", routes)
    assert "with passes_tasks = true, programs also get its files and data (image/png)" in notes


def test_the_agent_is_asked_only_if_the_operator_says_what(routes: Path) -> None:
    with agent() as server:
        _, notes, _ = add(server.url, "--routes", routes, "--ask", "hello")
    assert notes[-1] == "tried: A2A 1.0 over JSONRPC: You said: hello"


def test_a_route_that_is_written_is_part_of_the_table(routes: Path) -> None:
    before = routes.read_text()
    with agent() as server:
        add(server.url, "--routes", routes)
        assert routes.read_text() == before
        add(server.url, "--routes", routes, "--write")
        out = io.StringIO()
        status = main(["add", server.url, "--routes", str(routes), "--write"], environment={}, out=out)
    assert routes.read_text().startswith(before)
    # Its keywords belong to the first one: the second has none, and is not written.
    assert status == 1
    assert "# route 'travel-desk-2' has no rule: add keywords or patterns" in out.getvalue()
    assert list(load(routes.read_text(), variables={}).by_id) == ["pm", "other", "travel-desk"]


@pytest.mark.parametrize(
    ("scheme", "kind"),
    [
        ({"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}, "api_key"),
        (
            {
                "oauth2SecurityScheme": {
                    "flows": {"clientCredentials": {"tokenUrl": "https://id.example.com/token", "scopes": {}}}
                }
            },
            "oauth_client_credentials",
        ),
    ],
)
def test_the_boundary_is_that_of_the_cards_security(routes: Path, scheme: dict[str, Any], kind: str) -> None:
    card = CARD | {"securitySchemes": {"one": scheme}, "securityRequirements": [{"schemes": {"one": {"list": []}}}]}
    with agent(card) as server:
        status, notes, added = add(server.url, "--routes", routes)
        assert (status, added.boundary.kind) == (1, kind)
        assert "not tried: the hub has no variable AGENT_TRAVEL_DESK_KEY" in notes[-1]
        if kind == "api_key":
            assert add(server.url, "--routes", routes, environment={"AGENT_TRAVEL_DESK_KEY": "the-key"})[0] == 0
            assert server.received[-1].headers["x-key"] == "the-key"


@pytest.mark.parametrize("name", ["OpenAI API", "MCP model", "HCS operator"])
def test_an_agent_gets_no_key_of_the_operators_by_its_name(routes: Path, name: str) -> None:
    schemes = {"one": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}}
    card = CARD | {"name": name, "securitySchemes": schemes, "securityRequirements": [{"schemes": {"one": {}}}]}
    variable = f"{name.upper().replace(' ', '_')}_KEY"
    with agent(card) as server:
        status, notes, _ = add(server.url, "--routes", routes, environment={variable: "the-operators-key"})
        assert (status, notes[-1].split(";")[0]) == (1, f"not tried: the hub has no variable AGENT_{variable}")
        assert not any("the-operators-key" in str(each.headers) for each in server.received)


def test_the_operator_hears_that_the_header_of_a_token_is_its_key(routes: Path) -> None:
    with agent() as server:
        _, notes, added = add(server.url, "--routes", routes, "--token", "t")
    assert added.boundary.kind == "api_key"
    assert 'the key is the whole header: write "Bearer " before a token' in notes


@pytest.mark.parametrize("status", [200, 403])
def test_the_missing_grant_is_a_command(status: int) -> None:
    with agent(status=status) as server:
        pm = route("pm", server.url, boundary=Iam())
        card = json.dumps(CARD | {"url": server.url, "protocolVersion": "0.3.0"}).encode()
        seen, is_well = tried(pm, card, None, {"authorization": "Bearer mine"}, {}, HttpClient())
    assert is_well == (status == 200)
    assert seen[-1].endswith(
        "gcloud run services add-iam-policy-binding pm --member=serviceAccount:HUB_SERVICE_ACCOUNT --role=roles/run.invoker"
    )
    assert server.received[-1].headers["authorization"] == "Bearer mine"


def test_an_agent_that_needs_a_token_is_behind_iam_on_cloud_run_alone() -> None:
    body = json.dumps(CARD | {"url": "https://x.example", "protocolVersion": "0.3.0"}).encode()
    on_cloud_run = agent_from_card("https://pm-123456789.asia-northeast1.run.app", body, needs_token=True)
    elsewhere = agent_from_card("https://pm.example.com", body, needs_token=True)
    assert on_cloud_run.lines == ['boundary = "iam"']
    assert elsewhere.lines[0] == 'boundary = "api_key"'


def test_a_tool_list_becomes_a_route(routes: Path) -> None:
    with McpServer() as server:
        server.tools = [each for each in server.tools if each["name"] != "fail"]
        status, notes, added = add(f"{server.url}/mcp", "--routes", routes, "--id", "weather")
    assert (status, added.kind, added.tool, added.text_argument) == (0, "mcp", "forecast", "city")
    assert (added.name, added.name_ja) == ("forecasts", "forecasts")
    assert added.description == "Uses these tools: forecast, book."
    assert added.description_ja == "次のツールを使います：forecast、book。"
    assert added.keywords == ("forecast", "book")
    assert notes[-1] == "tried: 2 tools over MCP 2026-07-28"
    assert server.calls == []


def test_a_server_is_named_as_it_names_itself_in_a_session(routes: Path) -> None:
    with McpServer(has_sessions=True) as server:
        server.info = {"name": "w-1", "title": "Weather desk", "description": "Forecasts for cities."}
        _, _, added = add(f"{server.url}/mcp", "--routes", routes)
    assert (added.id, added.name, added.description) == ("weather-desk", "Weather desk", "Forecasts for cities.")
    assert not server.sessions


def test_a_server_that_knows_no_discovery_is_named_in_a_session(routes: Path) -> None:
    """As chuk-mcp-server 0.26 and supergateway 4.0 answer: lists to everybody, the name in a session only."""

    def behave(exchange: Exchange) -> None:
        if exchange.received.method == "GET":
            exchange.answer(404)
            return
        body = exchange.received.json
        match body["method"]:
            case "tools/list":
                exchange.json({"jsonrpc": "2.0", "id": body["id"], "result": {"tools": [{"name": "forecast"}]}})
            case "initialize":
                about = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "Weather desk"}}
                exchange.json({"jsonrpc": "2.0", "id": body["id"], "result": about})
            case "notifications/initialized":
                exchange.answer(202)
            case _:
                error = {"code": -32601, "message": "Method not found"}
                exchange.json({"jsonrpc": "2.0", "id": body["id"], "error": error})

    with HttpServer(behave) as server:
        _, notes, added = add(f"{server.url}/mcp", "--routes", routes)
    assert (added.name, notes[-1]) == ("Weather desk", "tried: 1 tools over MCP 2026-07-28")


def test_names_of_tools_that_are_everyday_words_are_no_keywords(tmp_path: Path) -> None:
    file = tmp_path / "routes.toml"
    file.write_text(route_text("general", "default = true"))
    with McpServer() as server:
        server.tools = [{"name": name} for name in ("write_file", "two", "sql_query_plan")]
        _, notes, added = add(f"{server.url}/mcp", "--routes", file)
    assert added.keywords == ("sql query plan",)
    assert any(note.startswith("too general: 'two' is left out: 5 of the questions have it, as ") for note in notes)


def test_a_card_that_lacks_what_callers_do_not_need_becomes_a_route(routes: Path) -> None:
    """As those of agentlings 0.19 and hayhooks 2.1."""
    skills = [{"id": "chatty", "name": "Chatty pipeline", "description": "Chats."}]
    card = {name: value for name, value in CARD.items() if name != "defaultInputModes"} | {"skills": skills}
    with agent(card) as server:
        status, notes, added = add(server.url, "--routes", routes)
    assert (status, added.keywords) == (0, ("Chatty pipeline",))
    assert notes[0].startswith("its card is incomplete: ")


def test_a_card_elsewhere_names_the_address_and_the_version(routes: Path) -> None:
    """As Mastra's, at /api/.well-known/travel/agent-card.json."""

    def behave(exchange: Exchange) -> None:
        received = exchange.received
        if received.path == "/api/.well-known/travel/agent-card.json":
            exchange.json(CARD | {"url": f"{server.url}/api/a2a/travel", "protocolVersion": "0.3.0"})
        elif received.method == "POST" and received.path == "/api/a2a/travel":
            exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "no"}})
        else:
            exchange.answer(404)

    server = HttpServer(behave)
    with server:
        status, _, added = add(f"{server.url}/api/.well-known/travel/agent-card.json", "--routes", routes)
    assert (status, added.url) == (0, f"{server.url}/api/a2a/travel")
    assert (added.protocol_version, added.binding) == ("0.3", "JSONRPC")


def test_the_address_of_a_server_keeps_its_last_slash(routes: Path) -> None:
    def behave(exchange: Exchange) -> None:
        received = exchange.received
        if received.path != "/mcp/":
            exchange.answer(307 if received.path == "/mcp" else 404, location="/mcp/")
            return
        tools = [{"name": "forecast"}]
        exchange.json({"jsonrpc": "2.0", "id": received.json["id"], "result": {"tools": tools}})

    with HttpServer(behave) as server:
        status, _, added = add(f"{server.url}/mcp/", "--routes", routes)
    assert (status, added.url) == (0, f"{server.url}/mcp/")


def test_a_server_with_several_tools_for_a_text_needs_a_choice(routes: Path) -> None:
    with McpServer() as server:
        _, notes, added = add(f"{server.url}/mcp", "--routes", routes)
    assert added.tool == ""
    assert any(
        note.startswith("set MCP_MODEL of the hub, or the tool") and note.endswith(": forecast (city), fail (city)")
        for note in notes
    )


def test_a_server_is_found_at_its_usual_path(routes: Path) -> None:
    def behave(exchange: Exchange) -> None:
        if exchange.received.path != "/mcp" or exchange.received.method != "POST":
            exchange.answer(404)
            return
        exchange.json(
            {"jsonrpc": "2.0", "id": exchange.received.json["id"], "result": {"tools": [{"name": "forecast"}]}}
        )

    with HttpServer(behave) as server:
        status, _, added = add(f"{server.url}/", "--routes", routes)
    assert (status, added.url) == (0, f"{server.url}/mcp")


def test_the_only_tool_for_a_text_gets_it_although_its_server_gives_no_hints(routes: Path) -> None:
    with McpServer() as server:
        server.tools = [each for each in server.tools if each["name"] == "book"]
        _, notes, added = add(f"{server.url}/mcp", "--routes", routes)
    assert (added.tool, added.text_argument, added.read_only_tools) == ("book", "city", ())
    assert "people confirm each call of 'book': read_only_tools omits that if it changes nothing" in notes


def test_what_is_neither_an_agent_nor_a_server_is_refused(routes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with HttpServer(lambda exchange: exchange.answer(401)) as server:
        assert main(["add", server.url, "--routes", str(routes)], environment={}, out=io.StringIO()) == 2
    assert "if it is private, give a --token that it accepts" in capsys.readouterr().err


def test_a_hostile_card_writes_nothing_but_its_texts(routes: Path) -> None:
    evil = 'x"\n[[routes]]\nid = "evil"\n\x1b[2J\u202e'
    card = json.loads(json.dumps(CARD)) | {"name": evil, "description": evil}
    card["skills"][0] |= {"tags": [evil, "ok tag"], "examples": [evil]}
    with agent(card) as server:
        _, _, added = add(server.url, "--routes", routes, "--write")
    assert list(load(routes.read_text(), variables={}).by_id) == ["pm", "other", added.id]
    assert "\x1b" not in routes.read_text()
    assert "\u202e" not in routes.read_text()


def test_a_card_in_both_languages_is_taken_apart(routes: Path) -> None:
    with agent(CARD | {"name": "Travel / 出張", "description": "Books. / 手配します。"}) as server:
        _, notes, added = add(server.url, "--routes", routes)
    assert (added.id, added.name, added.name_ja) == ("travel", "Travel", "出張")
    assert (added.description, added.description_ja) == ("Books.", "手配します。")
    assert not any("translate" in note for note in notes)
