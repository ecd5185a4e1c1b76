"""The tools of an MCP server over streamable HTTP: listed, and called (specification 2026-07-28).

A request stands by itself. A server of an older version refuses it, and is asked for a session (specification 2025-11-25).
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from itertools import chain, islice
from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.a2a import protojson
from a2a_hub.a2a.client import Endpoint, as_client_error, check, decode_json, read_json, read_result, stream_data
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.errors import METHOD_NOT_FOUND
from a2a_hub.a2a.model import Binding, Part, Version
from a2a_hub.http.client import Budget, ClientResponse, Http
from a2a_hub.http.messages import EVENT_STREAM, JSON, Cancellation
from a2a_hub.runtime.ids import new_id
from a2a_hub.runtime.version import VERSION as HUB_VERSION

VERSION = "2026-07-28"
"""The version of requests that stand by themselves."""
_VERSIONS_WITH_SESSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
_CLIENT = {"name": "a2a-hub", "version": HUB_VERSION}
_META = "io.modelcontextprotocol/"
_META_OF_REQUEST = {f"{_META}protocolVersion": VERSION, f"{_META}clientInfo": _CLIENT, f"{_META}clientCapabilities": {}}
# How a server may refuse a request of a version that it does not know.
_REFUSALS = frozenset(
    {
        ClientFault.WRONG_VERSION,
        ClientFault.REFUSED,
        ClientFault.UNEXPECTED_STATUS,
        ClientFault.NOT_FOUND,
        ClientFault.NOT_JSON,
    }
)
_MAX_PAGES = 100
_MAX_TOOLS = 200
MAX_TOOLS = 2000
"""The maximum number of tools that are listed of a server."""
# Of all pages together, where each may be as large as an answer.
_MAX_LISTED_BYTES = 8 << 20
_MAX_OFFERED = 100
_MAX_SCHEMA_BYTES = 10_000
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_HEADER_VALUE = re.compile(r"(?!=\?)[!-~](?:[ -~]*[!-~])?")
# Of a character beyond 16 bits both halves.
_JSON_ESCAPE = r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)"


class Tool(Struct, frozen=True, kw_only=True, rename="camel"):
    """A tool, whose arguments have the JSON schema `input_schema`."""

    name: str
    title: str | None = None
    description: str | None = None
    input_schema: dict[str, Any] = {}
    annotations: dict[str, Any] | None = None

    @property
    def is_read_only(self) -> bool:
        """True if the server says that the tool changes nothing."""
        return self.annotations is not None and self.annotations.get("readOnlyHint") is True


# msgspec analyses a type at its first use, and crashes if two threads do that at once.
msgspec.json.Decoder(Tool)


def offered(tools: Iterable[Tool]) -> list[Tool]:
    """Return the tools that a model is offered: the first ones, without those whose arguments have a large schema."""
    fitting = (tool for tool in tools if len(msgspec.json.encode(tool.input_schema)) <= _MAX_SCHEMA_BYTES)
    return list({tool.name: tool for tool in islice(fitting, _MAX_OFFERED)}.values())


class ServerInfo(Struct, frozen=True, kw_only=True):
    """A server as it describes itself, if it does."""

    name: str = ""
    title: str = ""
    description: str = ""


class ToolResult(Struct, frozen=True, kw_only=True):
    """The result of a call: texts, files and data; of a failed one, the server's error text."""

    parts: tuple[Part, ...]
    has_failed: bool


class McpClient:
    """The requests of one turn to one server. Each method raises ClientError."""

    def __init__(
        self,
        http: Http,
        url: str,
        *,
        budget: Budget,
        headers: Mapping[str, str] | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        self._http = http
        self._endpoint = Endpoint(url=url, version=Version.V1_0, binding=Binding.JSONRPC, streaming=False)
        self._budget = budget
        self._headers = {**(headers or {}), "accept": f"{JSON}, {EVENT_STREAM}"}
        self._cancellation = cancellation
        self._session_id: str | None = None
        self.version = VERSION
        """The version that the server speaks, known once its tools are listed."""
        self.has_more = False
        """True if the server has more tools than were listed."""
        self._server: Any = None

    def tools(self, name: str = "", *, limit: int = _MAX_TOOLS) -> tuple[Tool, ...]:
        """Return the tools of the server, of many the first ones; unreadable ones are left out.

        With a `name`, they are listed until the tool of this name is among them, however many there are.
        """
        limit = MAX_TOOLS if name else limit
        try:
            return self._tools(name, limit)
        except ClientError as refusal:
            if refusal.fault not in _REFUSALS:
                raise
            try:
                self._initialize()
            except ClientError as error:
                raise refusal if error.fault in _REFUSALS else error from None
        return self._tools(name, limit)

    def server(self) -> ServerInfo:
        """Return what the server says of itself, after its tools were listed."""
        if self._server is None and self.version == VERSION:
            with suppress(ClientError):
                self._result("server/discover", {})
        if self._server is None:
            # Some servers list their tools without a session, but introduce themselves in one only.
            with suppress(ClientError):
                self._initialize()
        try:
            return msgspec.convert(self._server or {}, ServerInfo)
        except msgspec.ValidationError:
            return ServerInfo()

    def call(self, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:
        """Call the tool, once."""
        headers = {"mcp-name": _header_value(tool.name), **dict(_mirrored(tool.input_schema, arguments))}
        result = self._result("tools/call", {"name": tool.name, "arguments": dict(arguments)}, headers)
        if result.get("resultType", "complete") != "complete":
            raise ClientError(ClientFault.REFUSED, "the tool asks for what the hub does not offer to servers")
        blocks = result.get("content")
        parts = [part for block in (blocks if isinstance(blocks, list) else ()) if (part := _part(block)) is not None]
        if (data := result.get("structuredContent")) is not None:
            parts.append(Part(data=data, media_type=JSON))
        return ToolResult(parts=tuple(parts), has_failed=result.get("isError") is True)

    def close(self) -> None:
        """End the session, if there is one."""
        session_id, self._session_id = self._session_id, None
        if session_id is not None:
            with suppress(ClientError), as_client_error():
                self._request("DELETE", None, {"mcp-session-id": session_id}).close()

    def _tools(self, name: str, limit: int) -> tuple[Tool, ...]:
        tools: list[Tool] = []
        listed_bytes = 0
        params: dict[str, Any] = {}
        for _ in range(_MAX_PAGES):
            result = self._result("tools/list", params)
            listed = result.get("tools")
            for each in listed if isinstance(listed, list) else ():
                with suppress(msgspec.ValidationError):
                    tools.append(msgspec.convert(each, Tool))
                    listed_bytes += len(msgspec.json.encode(tools[-1]))
            params = {"cursor": result.get("nextCursor")}
            # Some servers end the list with an empty cursor.
            self.has_more = isinstance(params["cursor"], str) and params["cursor"] != ""
            is_full = len(tools) >= limit or listed_bytes > _MAX_LISTED_BYTES
            if not self.has_more or is_full or (name and any(tool.name == name for tool in tools)):
                break
        if not name and len(tools) > limit:
            self.has_more = True
            del tools[limit:]
        return tuple(tools)

    def _initialize(self) -> None:
        self.version = _VERSIONS_WITH_SESSIONS[0]
        result = self._result(
            "initialize", {"protocolVersion": self.version, "capabilities": {}, "clientInfo": _CLIENT}
        )
        self.version = str(result.get("protocolVersion"))
        if self.version not in _VERSIONS_WITH_SESSIONS:
            raise ClientError(ClientFault.WRONG_VERSION, "the server speaks a version of MCP that the hub does not")
        with as_client_error():
            self._post({"jsonrpc": "2.0", "method": "notifications/initialized"}).close()

    def _result(self, method: str, params: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Any:
        """Return the result, an object."""
        if self.version == VERSION:
            params = {**params, "_meta": _META_OF_REQUEST}
        body = {"jsonrpc": "2.0", "id": new_id(), "method": method, "params": params}
        with as_client_error(), closing(self._post(body, headers)) as answer:
            if method == "initialize":
                self._session_id = answer.headers.get("mcp-session-id")
            is_stream = answer.media_type == EVENT_STREAM
            response = self._streamed(answer, body["id"]) if is_stream else read_json(answer)
            result = read_result(self._endpoint, response)
        if not isinstance(result, dict):
            raise ClientError(ClientFault.NOT_A2A, "the answer is no result of MCP")
        match result:
            case {"serverInfo": dict(about)} | {"_meta": {"io.modelcontextprotocol/serverInfo": dict(about)}}:
                self._server = about
        return result

    def _post(self, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> ClientResponse:
        named = {"content-type": JSON, "mcp-protocol-version": self.version}
        if "method" in body:
            named["mcp-method"] = body["method"]
        if self._session_id is not None:
            named["mcp-session-id"] = self._session_id
        answer = self._request("POST", protojson.encode(body), {**named, **(headers or {})})
        check(self._endpoint, answer)
        return answer

    def _request(self, method: str, body: bytes | None, headers: Mapping[str, str]) -> ClientResponse:
        return self._http.request(
            method,
            self._endpoint.url,
            headers={**self._headers, **headers},
            body=body,
            budget=self._budget,
            cancellation=self._cancellation,
        )

    def _streamed(self, answer: ClientResponse, id_: object) -> Any:
        """Return the response among the messages of a stream."""
        for data in chain.from_iterable(stream_data(answer, self._budget)):
            match decode_json(data):
                case {"method": str(method), "id": request_id}:
                    self._decline(method, request_id)
                case {"method": _}:
                    pass
                case {"id": of_request} as response if of_request == id_:
                    return response
        raise ClientError(ClientFault.CUT, "the stream ended before the result")

    def _decline(self, method: str, request_id: object) -> None:
        """Answer a request of the server, which may otherwise wait for its answer before it goes on."""
        answer = (
            {"result": {}} if method == "ping" else {"error": {"code": METHOD_NOT_FOUND.code, "message": "Not offered"}}
        )
        with suppress(ClientError), as_client_error():
            self._post({"jsonrpc": "2.0", "id": request_id, **answer}).close()


def _part(block: Any) -> Part | None:
    match block:
        case {"type": "text", "text": str(text)} | {"type": "resource", "resource": {"text": str(text)}}:
            return Part(text=_without_escapes(text))
        case {"type": "image" | "audio", "data": str(data), "mimeType": str(media_type)}:
            return Part(raw=data, media_type=media_type)
        case {"type": "resource", "resource": {"blob": str(data)} as resource}:
            media_type = resource.get("mimeType")
            return Part(raw=data, media_type=media_type if isinstance(media_type, str) else None)
        case {"type": "resource_link", "uri": str(uri), "name": str(name)}:
            return Part(url=uri, filename=name)
    return None


def _without_escapes(text: str) -> str:
    """Return JSON with printable characters in place of their escapes, which `json.dumps` writes for all but ASCII."""
    if text[:1] not in ("{", "[") or "\\u" not in text:
        return text
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text
    return re.sub(_JSON_ESCAPE, _unescaped, text)


def _unescaped(escape: re.Match[str]) -> str:
    if escape[0][1] != "u":
        return escape[0]
    character: str = msgspec.json.decode(f'"{escape[0]}"')
    return escape[0] if character.isascii() or not character.isprintable() else character


def _mirrored(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a header for each argument that the server wants in one, too (`x-mcp-header`)."""
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        value = arguments.get(name)
        if value is None or not isinstance(inner, dict):
            continue
        if isinstance(value, dict):
            yield from _mirrored(inner, value)
        elif isinstance(header := inner.get("x-mcp-header"), str) and _HEADER_NAME.fullmatch(header):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield f"mcp-param-{header.lower()}", _header_value(text)


def _header_value(text: str) -> str:
    """Return the text, in Base64 where a header cannot carry it."""
    if _HEADER_VALUE.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode(errors='replace')).decode()}?="
