"""Everything that can go wrong with an agent, as behaviours of a server, and what the hub is to make of each."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass

from tests.fakes import agent_wire
from tests.fakes.agent_server import AgentServer
from tests.fakes.http_server import Behaviour, Exchange, HttpServer

# What must never reach a user: it is in what faulty agents say.
SECRETS = ("Traceback", "/srv/agent/main.py", "10.1.2.3", "db-password", "KeyError")
_LEAK = "Traceback: KeyError in /srv/agent/main.py, http://10.1.2.3:5432 refused db-password"


@dataclass(frozen=True)
class Fault:
    """`kind` and `fault` are what /tools/query says; `stream` is the fault where the hub asked for a stream, if another."""

    name: str
    serve: Callable[[], AbstractContextManager[HttpServer]]
    kind: str
    fault: str
    stream: tuple[str, str] | None = None
    scheme: str = "http"


def _message(
    name: str,
    behave: Behaviour,
    kind: str,
    fault: str,
    stream: tuple[str, str] | None = None,
    binding: str = "JSONRPC",
) -> Fault:
    """The card is in order, the answer to the message is not."""
    return Fault(name, lambda: AgentServer(serve_message=behave, binding=binding), kind, fault, stream)


def _over_rest(name: str, behave: Behaviour, kind: str, fault: str) -> Fault:
    return _message(name, behave, kind, fault, binding="HTTP+JSON")


def _card(name: str, behave: Behaviour, kind: str, fault: str) -> Fault:
    return Fault(name, lambda: AgentServer(serve_card=behave, serve_message=_answer_nothing), kind, fault)


def _task(state: str, says: str | None, kind: str, fault: str) -> Fault:
    events = [agent_wire.task("working"), agent_wire.status(state, says)]
    return Fault(f"a task that ends as {state}", lambda: AgentServer(lambda _: events), kind, fault)


def _answer_nothing(exchange: Exchange) -> None:
    exchange.wait_until_left()


def _status(status: int) -> Behaviour:
    return lambda exchange: exchange.answer(status, _LEAK.encode(), content_type="text/plain")


def _body(body: bytes, content_type: str) -> Behaviour:
    return lambda exchange: exchange.answer(200, body, content_type=content_type)


def _json(value: object, status: int = 200) -> Behaviour:
    return lambda exchange: exchange.json(value, status)


def _rpc_error(code: int, status: int = 200) -> Behaviour:
    return _json({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": _LEAK, "data": _LEAK}}, status)


def _rest_error(status: int, reason: str | None) -> Behaviour:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
    return _json({"error": {"code": status, "message": _LEAK, "details": details}}, status)


def _without_end(exchange: Exchange, piece: bytes, *, pause_seconds: float = 0.0) -> None:
    """The piece, again and again, until nobody takes it."""
    with suppress(OSError):
        while True:
            exchange.send(piece)
            exchange.pause(pause_seconds)


def _drip(exchange: Exchange) -> None:
    exchange.head(content_type="application/json")
    _without_end(exchange, b" ", pause_seconds=0.01)


def _drip_headers(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    _without_end(exchange, b"x", pause_seconds=0.01)


def _redirect(exchange: Exchange) -> None:
    exchange.answer(302, location="http://127.0.0.1:9/elsewhere")


def _half_json(exchange: Exchange) -> None:
    exchange.head(content_type="application/json", content_length="500")
    exchange.send(b'{"jsonrpc":"2.0","id":1,"result":{"message"')


def _half_chunk(exchange: Exchange) -> None:
    exchange.head(content_type="application/json", transfer_encoding="chunked")
    exchange.send(b"1f4\r\n{")


def _event(event: object) -> bytes:
    return b"data: " + json.dumps({"jsonrpc": "2.0", "id": 1, "result": event}).encode() + b"\n\n"


_WORKING = _event(agent_wire.task("working"))


def _streamed(*pieces: bytes, stalls: bool = False) -> Behaviour:
    def behave(exchange: Exchange) -> None:
        exchange.start_stream()
        exchange.send(_WORKING)
        for piece in pieces:
            exchange.send(piece)
        if stalls:
            exchange.wait_until_left()

    return behave


def _unknown_events(exchange: Exchange) -> None:
    exchange.start_stream()
    exchange.send(_event({"news": {"of": 1}}) * 2)


def _huge(exchange: Exchange) -> None:
    exchange.head(content_type="application/json", content_length=str(50 << 20))
    _without_end(exchange, b" " * (1 << 20))


def _endless(exchange: Exchange) -> None:
    exchange.start_stream()
    chunk = agent_wire.update(agent_wire.artifact("a", agent_wire.text("x" * 1000)), append=True)
    _without_end(exchange, _event(chunk) * 100)


def _endless_envelopes(exchange: Exchange) -> None:
    exchange.start_stream()
    _without_end(exchange, _event(agent_wire.task("working") | {"news": "x" * 100_000}))


def _endless_event(exchange: Exchange) -> None:
    exchange.start_stream()
    exchange.send(b"data: ")
    _without_end(exchange, b"x" * 65536)


def _foreign_version(exchange: Exchange) -> None:
    exchange.json({"jsonrpc": "2.0", "id": 1, "result": {"kind": "message", "role": "agent", "parts": []}})


@contextmanager
def _refused() -> Iterator[HttpServer]:
    with HttpServer(_answer_nothing, listens=False) as server:
        yield server


def _card_of(version: str) -> Behaviour:
    def behave(exchange: Exchange) -> None:
        card = agent_wire.card("http://agent.example", version="1.0", binding="JSONRPC", streaming=True)
        card["supportedInterfaces"][0]["protocolVersion"] = version
        exchange.json(card)

    return behave


_NOT_JSON = ("broken", "not_json")
_NOT_A2A = ("broken", "not_a2a")
_UNANSWERED = ("cut", "unanswered")
_CUT = ("cut", "cut")
_SLOW = ("slow", "timeout")

FAULTS: tuple[Fault, ...] = (
    Fault("a refused connection", _refused, "down", "unreachable"),
    Fault(
        "a server that is not TLS",
        lambda: HttpServer(_answer_nothing, greeting=b"220 smtp\r\n" * 9),
        "down",
        "tls",
        scheme="https",
    ),
    Fault(
        "a server that is not HTTP",
        lambda: HttpServer(_answer_nothing, greeting=b"220 smtp ready\r\n" * 9),
        *_CUT,
    ),
    _message("no answer", _answer_nothing, *_SLOW),
    _message("one byte at a time", _drip, *_SLOW),
    _message("headers one byte at a time", _drip_headers, *_SLOW),
    _message("HTTP 400", _status(400), "broken", "unexpected_status"),
    _message("HTTP 401", _status(401), "not_allowed", "unauthenticated"),
    _message("HTTP 403", _status(403), "not_allowed", "forbidden"),
    _message("HTTP 404", _status(404), "not_found", "not_found"),
    _message("HTTP 405", _status(405), "broken", "unexpected_status"),
    _message("HTTP 413", _status(413), "failed", "refused"),
    _message("HTTP 429", _status(429), "busy", "rate_limited"),
    _message("HTTP 500", _status(500), "broken", "server_error"),
    _message("HTTP 502", _status(502), "down", "server_error"),
    _message("HTTP 503", _status(503), "down", "server_error"),
    _message("HTTP 504", _status(504), "down", "server_error"),
    _message("HTTP 204", _status(204), "broken", "unexpected_status"),
    _message(
        "HTTP 404 with broken JSON",
        lambda e: e.answer(404, b"{", content_type="application/json"),
        "not_found",
        "not_found",
    ),
    _message("a redirect", _redirect, "broken", "unexpected_status"),
    _message("an HTML page", _body(b"<html>Sign in</html>", "text/html"), *_NOT_JSON),
    _message("a wrong Content-Type", _body(b'{"jsonrpc":"2.0"}', "text/plain"), *_NOT_JSON),
    _message("no Content-Type", lambda e: e.answer(200, b"{}"), *_NOT_JSON),
    _message("an empty answer", _body(b"", "application/json"), *_NOT_JSON),
    _message("broken JSON", _body(b'{"jsonrpc":', "application/json"), *_NOT_JSON),
    _message("invalid UTF-8", _body(b'{"jsonrpc":"\xff\xfe"}', "application/json"), *_NOT_JSON),
    _message("deeply nested JSON", _body(b"[" * 100_000, "application/json"), *_NOT_JSON),
    _message(
        "a gzip bomb",
        lambda e: e.answer(200, b"\x1f\x8b\x08" + b"\0" * 99, content_type="application/json", content_encoding="gzip"),
        *_NOT_JSON,
    ),
    _message("JSON that is no JSON-RPC", _json([1, 2]), *_NOT_A2A),
    _message("neither result nor error", _json({"jsonrpc": "2.0", "id": 1}), *_NOT_A2A),
    _message("a result that is no A2A", _json({"jsonrpc": "2.0", "id": 1, "result": {"answer": _LEAK}}), *_NOT_A2A),
    _message(
        "a result with a wrong type",
        _json({"jsonrpc": "2.0", "id": 1, "result": {"task": {"id": 7}}}),
        *_NOT_A2A,
    ),
    _message("an error without a code", _json({"jsonrpc": "2.0", "id": 1, "error": {"message": _LEAK}}), *_NOT_A2A),
    _message("the other version", _foreign_version, *_NOT_A2A),
    _message("method not found", _rpc_error(-32601), "broken", "wrong_version"),
    _message("version not supported", _rpc_error(-32009, 400), "broken", "wrong_version"),
    _message("task not found", _rpc_error(-32001), "failed", "refused"),
    _message("invalid parameters", _rpc_error(-32602), "failed", "refused"),
    _message("an extension is required", _rpc_error(-32008), "not_allowed", "extension_required"),
    _over_rest(
        "REST: an extension is required",
        _rest_error(400, "EXTENSION_SUPPORT_REQUIRED"),
        "not_allowed",
        "extension_required",
    ),
    _message("an internal error", _rpc_error(-32603), "broken", "server_error"),
    _message("an internal error with HTTP 500", _rpc_error(-32603, 500), "broken", "server_error"),
    _over_rest("REST: invalid argument", _rest_error(400, None), "broken", "unexpected_status"),
    _over_rest("REST: task not found", _rest_error(404, "TASK_NOT_FOUND"), "failed", "refused"),
    _over_rest("REST: no such path", _status(404), "not_found", "not_found"),
    _over_rest("REST: version not supported", _rest_error(400, "VERSION_NOT_SUPPORTED"), "broken", "wrong_version"),
    _over_rest("REST: internal", _rest_error(500, None), "broken", "server_error"),
    _over_rest("REST: unavailable", _rest_error(503, None), "down", "server_error"),
    _over_rest(
        "REST: an error with HTTP 200",
        lambda e: e.json({"error": {"code": 500, "message": _LEAK}}),
        "broken",
        "server_error",
    ),
    _message("half a JSON body", _half_json, *_CUT),
    _message("half a chunked body", _half_chunk, *_CUT),
    _message("a reset after the request", lambda e: e.reset(), *_UNANSWERED),
    _message("a connection closed without an answer", lambda _: None, *_UNANSWERED),
    _message("half a stream", _streamed(), *_NOT_JSON, stream=_CUT),
    _message("a stream cut inside an event", _streamed(b'data: {"jsonrpc":"2.0","id'), *_NOT_JSON, stream=_CUT),
    _message("a stream with a malformed event", _streamed(b"data: {broken\n\n"), *_NOT_JSON, stream=_NOT_JSON),
    _message("a stream with an unknown event", _streamed(_event({"news": {"of": 1}})), *_NOT_JSON, stream=_CUT),
    _message("a stream of unknown events", _unknown_events, *_NOT_JSON, stream=_NOT_A2A),
    _message("a stream with an event that is no object", _streamed(_event([])), *_NOT_JSON, stream=_NOT_A2A),
    _message("a stream that stalls", _streamed(stalls=True), *_NOT_JSON, stream=_SLOW),
    _message(
        "an error inside a stream",
        _streamed(b'data: {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"db-password"}}\n\n'),
        *_NOT_JSON,
        stream=("broken", "server_error"),
    ),
    _message("an empty stream", lambda e: e.start_stream(), *_NOT_JSON, stream=_CUT),
    _message("50 MB", _huge, "too_large", "too_large"),
    _message(
        "a million lists",
        _body(b"[" + b"[]," * 500_000 + b"[]]", "application/json"),
        "too_large",
        "too_large",
    ),
    _message("an endless stream", _endless, *_NOT_JSON, stream=("too_large", "too_large")),
    _message("endless envelopes", _endless_envelopes, *_NOT_JSON, stream=("too_large", "too_large")),
    _message("an endless event", _endless_event, *_NOT_JSON, stream=("too_large", "too_large")),
    _card("a card that does not come", _answer_nothing, *_SLOW),
    _card("a card with HTTP 401", _status(401), "not_allowed", "unauthenticated"),
    _card("a card with HTTP 403", _status(403), "not_allowed", "forbidden"),
    _card("a card with HTTP 429", _status(429), "busy", "rate_limited"),
    _card("a card with HTTP 500", _status(500), "broken", "server_error"),
    _card("a redirected card", _redirect, "broken", "unexpected_status"),
    _card("a card of HTML", _body(b"<html>", "text/html"), *_NOT_A2A),
    _card("a card that is no card", _json({"hello": 1}), *_NOT_A2A),
    _card("a card of an unknown version", _card_of("7.0"), "broken", "wrong_version"),
    _card("a huge card", _huge, "too_large", "too_large"),
    _task("failed", _LEAK, "failed", "task_failed"),
    _task("canceled", None, "failed", "task_canceled"),
    _task("rejected", None, "failed", "task_rejected"),
)
