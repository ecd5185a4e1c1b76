"""MCP servers behind the hub, without a model: one tool gets the text, and a person confirms what is not read-only."""

import json
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.model import Message, Part, Role, TaskState, TaskStatusUpdateEvent
from a2a_hub.boundaries.boundary import CredentialRequest
from a2a_hub.boundaries.kinds import Public
from a2a_hub.boundaries.sources import CredentialSources
from a2a_hub.diagnosis.report import Outcome
from a2a_hub.http.client import Budget, HttpClient
from a2a_hub.mcp.client import McpClient
from a2a_hub.routing.routes import BreakerLimits, Kind, Route
from a2a_hub.task_store.store import Unavailable
from functions.hub.credentials import AuthorizedHttp
from functions.hub.downstream.interface import AgentRequest, TransportCall
from functions.hub.downstream.mcp_transport import McpTransport
from functions.hub.failure import FailureKind
from tests.fakes.http_server import Exchange
from tests.fakes.hub import TOKEN, Hub, person, route
from tests.fakes.mcp_server import LEAK, McpServer
from tests.fakes.task_client import TaskClient
from tests.fakes.task_instance import until
from tests.integration.conversation_agents import WAYS, turn
from tests.integration.test_doctor import steps

_ERAS = pytest.mark.parametrize("has_sessions", [False, True], ids=["2026-07-28", "2025-11-25"])
_STORED = pytest.mark.parametrize("stored", [False, True])


def mcp_route(server: McpServer, tool: str, **changes: Any) -> Route:
    return route("mcp", f"{server.url}/mcp", kind=Kind.MCP, tool=tool, **{"text_argument": "city"} | changes)


def hub_of(server: McpServer, tool: str, folder: Path | None = None, **changes: Any) -> Hub:
    settings = {"TASK_STORE": f"sqlite:{folder / 'tasks.db'}"} if folder else {}
    return Hub(mcp_route(server, tool, **changes), route("beta", "http://127.0.0.1:9"), settings=settings)


@_ERAS
@WAYS
def test_a_read_only_tool_answers_the_text(way: str, has_sessions: bool) -> None:
    with McpServer(has_sessions=has_sessions) as server:
        assert turn(hub_of(server, "forecast"), way, "mcp 東京")[1] == "Sunny in mcp 東京."
    assert server.calls == [("forecast", {"city": "mcp 東京"})]
    assert not server.sessions
    # The caller's token is for the hub alone.
    assert not any(TOKEN in value for each in server.received for value in each.headers.values())


def test_a_program_gets_the_structured_result() -> None:
    with McpServer() as server:
        answer = hub_of(server, "forecast").send("mcp", version="1.0", modes=["text/plain", "application/json"])
    assert [part.get("text", part.get("data")) for part in answer["parts"]] == ["Sunny in mcp.", {"sky": "sunny"}]


@_ERAS
@_STORED
@pytest.mark.parametrize("way", ["send", "stream"])
def test_another_tool_is_called_once_after_a_clear_yes(
    way: str, stored: bool, has_sessions: bool, tmp_path: Path
) -> None:
    with McpServer(has_sessions=has_sessions) as server:
        hub = hub_of(server, "book", tmp_path if stored else None)
        context_id, asked = turn(hub, way, "mcp Kobe")
        assert asked == (
            "The agent “Agent mcp” wants to use the tool “book”:\n\n    city: mcp Kobe\n\n"
            "1. Allow once\n2. Reject\n\nPlease reply with the number of your choice. “Yes” stands for 1. “No” stands for 2."
        )
        again = turn(hub, way, "yes, but in Osaka", context_id)[1]
        assert again.startswith("Your reply is none of the choices, so nothing was done yet.")
        assert server.calls == []
        assert turn(hub, way, "yes", context_id)[1] == "Booked mcp Kobe."
        assert [(line["tool"], line["allowed"]) for line in hub.log if "tool" in line] == [("book", True)]
        turn(hub, way, "yes", context_id)
    assert server.calls == [("book", {"city": "mcp Kobe"})]


@_STORED
def test_a_rejected_tool_is_not_called(stored: bool, tmp_path: Path) -> None:
    with McpServer() as server:
        hub = hub_of(server, "book", tmp_path if stored else None)
        context_id, _ = turn(hub, "send", "mcpで神戸を予約して")
        assert turn(hub, "send", "いいえ", context_id)[1] == "拒否しました。実行していません。"
    assert server.calls == []


def test_a_tool_that_the_operator_calls_read_only_is_not_asked_about() -> None:
    with McpServer() as server:
        assert turn(hub_of(server, "book", read_only_tools=("book",)), "send", "mcp")[1] == "Booked mcp."


def test_a_yes_does_not_reach_what_waits_in_another_callers_conversation() -> None:
    with McpServer() as server:
        hub = hub_of(server, "book")
        context_id, _ = turn(hub, "send", "mcp Kobe")
        turn(hub, "send", "yes", context_id, token="another-callers-token")
        data = {"kind": "data", "data": {"tool_call_id": "guessed", "selected_option_id": "proceed_once"}}
        again = turn(hub, "send", "", context_id, parts=[data, {"kind": "text", "text": "yes"}])[1]
    assert again.startswith("The agent “Agent mcp” wants to use the tool “book”")
    assert server.calls == []


def test_what_waits_can_be_decided_on_any_instance(tmp_path: Path) -> None:
    with McpServer() as server:
        context_id, _ = turn(hub_of(server, "book", tmp_path), "send", "mcp Kobe")
        assert turn(hub_of(server, "book", tmp_path), "send", "yes", context_id)[1] == "Booked mcp Kobe."


@_STORED
def test_two_messages_that_say_yes_call_the_tool_once(stored: bool, tmp_path: Path) -> None:
    first, second = threading.Event(), threading.Event()

    def wait(exchange: Exchange) -> None:
        calls.append(exchange.received.json["params"]["name"])
        first.set()
        second.wait(10)
        exchange.json({"jsonrpc": "2.0", "id": exchange.received.json["id"], "result": {"content": []}})

    calls: list[str] = []
    with McpServer(serve_call=wait) as server:
        hub = hub_of(server, "book", tmp_path if stored else None)
        other = hub_of(server, "book", tmp_path) if stored else hub
        context_id, _ = turn(hub, "send", "mcp Kobe")
        thread = threading.Thread(target=turn, args=(hub, "send", "yes", context_id))
        thread.start()
        first.wait(10)
        # The call is decided on: the second message is routed, like any other.
        assert "Agent beta" in turn(other, "send", "yes", context_id)[1]
        second.set()
        thread.join()
    assert calls == ["book"]


def test_a_confirmed_call_that_breaks_off_is_not_repeated(tmp_path: Path) -> None:
    calls: list[str] = []

    def cut(exchange: Exchange) -> None:
        calls.append(exchange.received.json["params"]["name"])
        exchange.reset()

    with McpServer(serve_call=cut) as server:
        client = TaskClient(hub_of(server, "book", tmp_path), "1.0 JSONRPC")
        task_id = client.send("mcp Kobe").task_id
        client.send("yes", task_id=task_id, at_once=True)
        assert until(lambda: "could not complete" in client.get(task_id).said)
        assert client.get(task_id).state == "failed"
    assert calls == ["book"]


def test_an_error_of_a_tool_is_contained() -> None:
    with McpServer() as server:
        record = hub_of(server, "fail").query("mcp")
    assert "could not complete this request" in record["answer"]
    assert LEAK not in json.dumps(record)
    assert record["error"]["cause"] == 'mcp: the tool "fail" answered with an error of its own'


def test_japanese_in_the_json_of_a_tool_is_readable() -> None:
    """Python's `json.dumps` writes escapes. What is no JSON, or has none, stays as it is."""
    weather = r'{"city": "\u6771\u4eac \ud83d\ude00", "path": "C:\\u6771", "temp": 21.50, "hidden": "\u202e"}'
    texts = [weather, '{"path": "C:\\users"', "{\n}", '["\\ud83d"]']
    content = [{"type": "text", "text": each} for each in texts]
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": content}}).encode()
    with McpServer(serve_call=lambda exchange: exchange.answer(200, body, content_type="application/json")) as server:
        answer = hub_of(server, "forecast").query("mcp")["answer"]
    assert answer == "\n".join([weather.replace(r"\u6771\u4eac \ud83d\ude00", "東京 😀"), *texts[1:]])


def answering(body: bytes, status: int = 200, **headers: str) -> Any:
    return lambda exchange: exchange.answer(status, body, **{"content_type": "application/json"} | headers)


FAULTS = {
    "401": (answering(b"", 401), FailureKind.NOT_ALLOWED, ClientFault.UNAUTHENTICATED),
    "500": (answering(LEAK.encode(), 500), FailureKind.BROKEN, ClientFault.SERVER_ERROR),
    "a redirect": (
        answering(b"", 307, location="http://127.0.0.1:9/"),
        FailureKind.BROKEN,
        ClientFault.UNEXPECTED_STATUS,
    ),
    "no JSON": (answering(b"<p>", content_type="text/html"), FailureKind.BROKEN, ClientFault.NOT_JSON),
    "broken JSON": (answering(b"{"), FailureKind.BROKEN, ClientFault.NOT_JSON),
    "no result": (answering(b'{"jsonrpc":"2.0","id":1,"result":[]}'), FailureKind.BROKEN, ClientFault.NOT_A2A),
    "an error": (
        answering(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Traceback"}}', 400),
        FailureKind.FAILED,
        ClientFault.REFUSED,
    ),
    "a question of the server's": (
        answering(b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required"}}'),
        FailureKind.FAILED,
        ClientFault.REFUSED,
    ),
    "too much": (answering(b"[" + b" " * 5000), FailureKind.TOO_LARGE, ClientFault.TOO_LARGE),
    "half a stream": (answering(b"data: {}\n\n", content_type="text/event-stream"), FailureKind.CUT, ClientFault.CUT),
    "silence": (lambda exchange: exchange.wait_until_left(), FailureKind.SLOW, ClientFault.TIMEOUT),
}


@pytest.mark.parametrize(("serve", "kind", "fault"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_the_server_is_contained(serve: Any, kind: FailureKind, fault: ClientFault) -> None:
    with McpServer(serve_call=serve) as server:
        record = hub_of(server, "forecast", timeout_seconds=2.0, max_response_bytes=4000).query("mcp")
    assert (record["error"]["kind"], record["error"]["fault"]) == (kind, fault)
    assert "Traceback" not in json.dumps(record)


@_STORED
@WAYS
def test_the_time_limit_of_the_route_holds_for_stored_and_streamed_turns(
    way: str, stored: bool, tmp_path: Path
) -> None:
    def late(exchange: Exchange) -> None:
        time.sleep(2.0)
        answering(b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}')(exchange)

    with McpServer(serve_call=late) as server:
        hub = hub_of(server, "forecast", tmp_path if stored else None, timeout_seconds=1.0)
        assert "did not answer in time" in turn(hub, way, "mcp")[1]


def test_the_circuit_opens_for_a_server_that_keeps_failing() -> None:
    with McpServer(serve_call=answering(b"", 500)) as server:
        hub = hub_of(server, "forecast", breaker=BreakerLimits(failures=2))
        asked = [hub.query("mcp")["error"]["fault"] for _ in range(3)]
    assert asked == ["server_error", "server_error", "circuit_open"]


def test_a_tool_that_the_server_does_not_have_is_named_to_the_operator() -> None:
    with McpServer() as server:
        hub = hub_of(server, "missing")
        hub.query("mcp")
    assert 'the server has no tool "missing"' in hub.log[-1]["cause"]
    assert hub.log[-1]["remedy"].endswith('that the server has the tool "missing"')


@_ERAS
def test_the_doctor_lists_the_tools(has_sessions: bool) -> None:
    with McpServer(has_sessions=has_sessions) as server:
        last = steps(mcp_route(server, "forecast"))["tools"]
        missing = steps(mcp_route(server, "missing"))["tools"]
    version = "2025-11-25" if has_sessions else "2026-07-28"
    assert (last.outcome, last.message) == (Outcome.OK, f"MCP {version}: forecast, book, fail")
    assert (missing.outcome, missing.fix) == (
        Outcome.ERROR,
        "set `tool` of route mcp in routes.toml to one that it has",
    )


def many_tools(server: McpServer) -> None:
    """250 tools before the known ones, on two pages."""
    server.tools = [*({**server.tools[0], "name": f"tool-{number}"} for number in range(250)), *server.tools]
    server.on_first_page = 220


def test_of_the_tools_of_a_server_the_first_200_are_listed_for_a_model() -> None:
    http = HttpClient()
    budget = Budget.within(10, now=http.clock(), max_bytes=1 << 20)
    with McpServer() as server, closing(McpClient(http, server.url, budget=budget)) as client:
        many_tools(server)
        assert (len(client.tools(mcp_route(server, "").tool)), client.has_more) == (200, True)


def test_pages_of_large_tools_are_listed_until_they_are_too_much_together() -> None:
    http = HttpClient()
    budget = Budget.within(10, now=http.clock(), max_bytes=4 << 20)
    with McpServer() as server, closing(McpClient(http, server.url, budget=budget)) as client:
        large = {"name": "large", "inputSchema": {"type": "object", "properties": {"n" * 3_000_000: {}}}}
        server.serve_list = lambda exchange: exchange.json(
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": [large], "nextCursor": "more"}}
        )
        assert (len(client.tools()), client.has_more) == (3, True)


@_ERAS
def test_a_named_tool_is_found_behind_hundreds_of_others(has_sessions: bool) -> None:
    with McpServer(has_sessions=has_sessions) as server:
        many_tools(server)
        assert turn(hub_of(server, "forecast"), "send", "mcp Kobe")[1] == "Sunny in mcp Kobe."
        found = steps(mcp_route(server, "forecast"))["tools"]
    assert found.outcome is Outcome.OK
    assert found.message.endswith("tool-48, tool-49, …")


def test_the_doctor_names_the_tools_that_no_model_is_offered() -> None:
    with McpServer() as server:
        many_tools(server)
        found = steps(mcp_route(server, "", text_argument=""))["tools"]
        server.serve_list = lambda exchange: exchange.json(
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": server.tools[:21], "nextCursor": "more"}}
        )
        endless = steps(mcp_route(server, "", text_argument=""))["tools"]
    assert found.outcome is Outcome.WARNING
    assert found.message.startswith("of 253 tools of the server, a model is offered 100; left out: tool-100, tool-101")
    assert endless.message.startswith("of > 2000 tools of the server, a model is offered")


def test_an_empty_cursor_ends_the_list() -> None:
    with McpServer() as server:
        server.serve_list = lambda exchange: exchange.json(
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": server.tools, "nextCursor": ""}}
        )
        found = steps(mcp_route(server, "forecast"))["tools"]
    assert found.message == "MCP 2026-07-28: forecast, book, fail"


def test_a_route_without_a_tool_says_what_is_missing() -> None:
    with McpServer() as server:
        hub = hub_of(server, "", text_argument="")
        assert "cannot be reached" in hub.query("mcp")["answer"]
    assert "set tool and text_argument of route mcp" in hub.log[-1]["remedy"]


class Instance:
    """An instance of the hub, with what the conversation has in its state."""

    def __init__(self, server: McpServer, state: dict[str, Any], store: Any = None) -> None:
        self._agent = mcp_route(server, "book")
        self._transport = McpTransport(self._agent, store=store)
        self._state = state

    def ask(self, part: Part, task_id: str | None = None, **more: Any) -> TaskStatusUpdateEvent:
        """The last event of a turn."""
        message = Message(message_id="m", role=Role.USER, parts=(part,), context_id="c", task_id=task_id)
        request = AgentRequest(call=person(), message=message, state=self._state, streaming=False, **more)
        http = AuthorizedHttp(HttpClient(), Public(), CredentialRequest(agent=self._agent, sources=CredentialSources()))
        budget = Budget.within(5.0, now=http.clock(), max_bytes=1 << 20)
        *_, last = self._transport.ask(
            request, TransportCall(http=http, headers={}, budget=budget, stream_budget=budget)
        )
        assert isinstance(last, TaskStatusUpdateEvent)
        return last

    def waiting(self) -> tuple[Part, str]:
        """A yes to a call that waits, and its task."""
        asked = self.ask(Part(text="Kobe"))
        assert asked.status.message is not None
        call: Any = asked.status.message.parts[0].data
        return Part(data={"tool_call_id": call["tool_call_id"], "selected_option_id": "proceed_once"}), asked.task_id


def test_a_confirmed_call_of_an_instance_that_died_is_not_repeated() -> None:
    with McpServer() as server:
        state: dict[str, Any] = {}
        yes, task_id = Instance(server, state).waiting()
        ended = Instance(server, state).ask(yes, task_id, running_task_id=task_id)
    assert (ended.status.state, server.calls) == (TaskState.FAILED, [])


def test_a_yes_calls_nothing_while_nobody_knows_whether_another_did() -> None:
    class Away:
        def claim_quota(self, *_: Any, **__: Any) -> int:
            raise Unavailable

    with McpServer() as server:
        instance = Instance(server, {}, store=Away())
        yes, task_id = instance.waiting()
        with pytest.raises(ClientError, match="does not answer"):
            instance.ask(yes, task_id)
    assert server.calls == []
    assert server.calls == []
