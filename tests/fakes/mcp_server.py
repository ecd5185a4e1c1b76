"""An MCP server over streamable HTTP, of 2026-07-28 or with the sessions of 2025-11-25; its tools note what they did."""

from base64 import b64encode
from collections.abc import Callable
from queue import Queue
from typing import Any

from tests.fakes.http_server import Exchange, HttpServer

Json = dict[str, Any]
LEAK = "Traceback: KeyError in /srv/tools.py"
_CITY = {"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}, "required": ["city"]}
TOOLS: list[Json] = [
    {"name": "forecast", "description": "Forecasts.", "inputSchema": _CITY, "annotations": {"readOnlyHint": True}},
    {"name": "book", "description": "Books a hotel.", "inputSchema": _CITY, "annotations": {"destructiveHint": True}},
    {"name": "fail", "inputSchema": _CITY, "annotations": {"readOnlyHint": True}},
    {"name": 1},
]


def _header_value(text: str) -> str:
    return text if text.isascii() else f"=?base64?{b64encode(text.encode()).decode()}?="


class McpServer(HttpServer):
    """`calls` are the tools that were called with their arguments. `serve_call` answers calls in place of the tools.

    With `has_sessions` it knows nothing newer than 2025-11-25, and answers with streams; `sessions` are the open ones.
    Before each result it asks its client two things, and waits for the `answers`. The list of its tools has two pages, the
    first with `on_first_page` of them. `info` is what it says of itself.
    """

    def __init__(self, *, has_sessions: bool = False, serve_call: Callable[[Exchange], None] | None = None) -> None:
        super().__init__(self._answer)
        self.calls: list[tuple[str, Json]] = []
        self.tools = TOOLS
        self.info: Json = {"name": "forecasts", "version": "1"}
        self.on_first_page = 1
        self.serve_call = serve_call
        self.serve_list: Callable[[Exchange], None] | None = None
        self.sessions: set[str] = set()
        self.answers: Queue[Json] = Queue()
        self._has_sessions = has_sessions

    def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        session = received.headers.get("mcp-session-id", "")
        if received.method == "GET":
            exchange.answer(405)
        elif received.method == "DELETE":
            self.sessions.remove(session)
            exchange.answer(200)
        elif self._has_sessions and (session or received.json["method"] == "initialize"):
            self._serve_session(exchange, session)
        elif self._has_sessions:
            exchange.json({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "No session"}}, 400)
        else:
            self._serve_alone(exchange)

    def _serve_session(self, exchange: Exchange, session: str) -> None:
        body = exchange.received.json
        assert "_meta" not in body.get("params", {})
        if body.get("method") == "initialize":
            self.sessions.add(f"session-{len(self.received)}")
            exchange.head(content_type="text/event-stream", mcp_session_id=f"session-{len(self.received)}")
            version = {"protocolVersion": body["params"]["protocolVersion"]}
            exchange.event({"jsonrpc": "2.0", "id": body["id"], "result": version | {"serverInfo": self.info}})
        elif session not in self.sessions:
            exchange.answer(404)
        elif "method" not in body:
            self.answers.put(body)
            exchange.answer(202)
        elif "id" not in body:
            exchange.answer(202)
        elif body["method"] == "tools/call" and self.serve_call:
            self.serve_call(exchange)
        else:
            exchange.start_stream()
            exchange.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}})
            exchange.event({"jsonrpc": "2.0", "id": "of-the-server", "method": "ping"})
            assert self.answers.get(timeout=20)["result"] == {}
            exchange.event({"jsonrpc": "2.0", "id": body["id"], "method": "elicitation/create", "params": {}})
            assert self.answers.get(timeout=20)["error"]["code"] == -32601
            exchange.event({"jsonrpc": "2.0", "id": body["id"], "result": self._result(body)})

    def _serve_alone(self, exchange: Exchange) -> None:
        received, body = exchange.received, exchange.received.json
        meta = body["params"]["_meta"]
        assert (
            meta["io.modelcontextprotocol/protocolVersion"] == received.headers["mcp-protocol-version"] == "2026-07-28"
        )
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {}
        assert received.headers["mcp-method"] == body["method"]
        if body["method"] == "tools/call":
            assert received.headers["mcp-name"] == _header_value(body["params"]["name"])
            assert ("mcp-param-city" in received.headers) == ("inputSchema" in self.tools[0])
            if self.serve_call:
                self.serve_call(exchange)
                return
        elif self.serve_list:
            self.serve_list(exchange)
            return
        exchange.json({"jsonrpc": "2.0", "id": body["id"], "result": {"resultType": "complete"} | self._result(body)})

    def _result(self, body: Json) -> Json:
        params = body["params"]
        if body["method"] == "server/discover":
            return {"_meta": {"io.modelcontextprotocol/serverInfo": self.info}, "supportedVersions": ["2026-07-28"]}
        if body["method"] == "tools/list":
            # Two pages.
            first = params.get("cursor") is None
            pages = self.tools[: self.on_first_page], self.tools[self.on_first_page :]
            return {"tools": pages[0], "nextCursor": "2"} if first else {"tools": pages[1]}
        name, arguments = params["name"], params["arguments"]
        self.calls.append((name, arguments))
        match name:
            case "forecast":
                text = f"Sunny in {arguments['city']}."
                return {"content": [{"type": "text", "text": text}], "structuredContent": {"sky": "sunny"}}
            case "book":
                return {"content": [{"type": "text", "text": f"Booked {arguments['city']}."}]}
            case _:
                return {"content": [{"type": "text", "text": LEAK}], "isError": True}
