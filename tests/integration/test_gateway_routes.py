"""gateway/openapi.yaml in a real Envoy: who gets what, what nobody gets, deadlines, and where the caller's token goes."""

import contextlib
import http.client
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from a2a_hub.a2a.operations import OPERATIONS
from a2a_hub.a2a.version_table import CODECS
from local.envoy import DOCUMENT, local_routes, operations, path_pattern, routes_of
from tests.fakes.http_server import Exchange, HttpServer
from tests.integration.envoys import gateway

TEXT = DOCUMENT.read_text(encoding="utf-8")
PLAIN = DOCUMENT.with_name("openapi-plain.yaml").read_text(encoding="utf-8")
ADMITTED = operations(TEXT)
_OWN = "Bearer identity-of-the-gateway"

# Every operation of the protocol at every address that it has (A2A 1.0.1 §11, 0.3 §3.5).
PROTOCOL = sorted(
    {
        (rest.method, prefix + rest.path)
        for operation in OPERATIONS
        for codec in CODECS.values()
        for prefix in (("", "/{tenant}") if codec.has_tenants else ("",))
        for rest in codec.paths(operation)
    }
)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A gateway with two functions, each of which says its name and what it received."""
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(_function(name)) for name in ("gate", "agent_card")}
        ports = {name: server.port for name, server in servers.items()}
        yield stack.enter_context(gateway(local_routes(), ports, tmp_path_factory.mktemp("gateway")))


@pytest.fixture(scope="module")
def plain_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The same with the form of the document that has no verbs after a variable."""
    admitted = operations(PLAIN)
    assert not [operation.path for operation in admitted if "}:" in operation.path]
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(_function(name)) for name in ("gate", "agent_card")}
        ports = {name: server.port for name, server in servers.items()}
        yield stack.enter_context(gateway(routes_of(admitted), ports, tmp_path_factory.mktemp("plain")))


def test_without_verbs_each_operation_leads_to_the_same_function_and_has_as_long(plain_port: int) -> None:
    for operation in ADMITTED:
        target = _concrete(operation.path)
        # 503: the function closed the connection that Envoy was about to use again.
        asked = (_ask(plain_port, operation.method, target) for _ in range(5))
        status, received = next(answer for answer in asked if answer[0] != 503)
        assert status == 200
        expected = "agent_card" if operation.path.startswith("/.well-known/") else "gate"
        assert operation.method == "HEAD" or (received["function"], received["target"]) == (expected, target)
    now = PLAIN
    deadlines = {(operation.method, operation.path): operation.deadline_seconds for operation in operations(now)}
    for operation in ADMITTED:
        path = operation.path.replace("}:cancel", "}").replace("}:subscribe", "}")
        assert deadlines[operation.method, path] >= operation.deadline_seconds
    assert {**yaml.safe_load(now), "paths": {}} == {**yaml.safe_load(TEXT), "paths": {}}


@pytest.mark.parametrize("operation", ADMITTED, ids=lambda operation: f"{operation.method} {operation.path}")
def test_each_operation_leads_to_its_function(port: int, operation: Any) -> None:
    status, received = _ask(port, operation.method, _concrete(operation.path))
    assert status == 200
    if operation.method != "HEAD":
        expected = "agent_card" if operation.path.startswith("/.well-known/") else "gate"
        assert (received["function"], received["target"]) == (expected, _concrete(operation.path))


@pytest.mark.parametrize(("method", "path"), PROTOCOL, ids=lambda text: text)
def test_each_operation_of_the_protocol_has_its_path(method: str, path: str) -> None:
    assert (method, path) in {(operation.method, operation.path) for operation in ADMITTED}


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/robots.txt",
        "/.well-known/openid-configuration",
        "//debug-version",
        "/debug-version//",
        "/tools%2Fquery",
        "/Routes",
        "/routes/x",
        "/message:sendx",
        "/tasks/a/b",
        "/a/b/message:send",
        "/v1/v1/card",
    ],
)
def test_nobody_gets_what_the_file_does_not_name(port: int, path: str) -> None:
    status, body = _ask(port, "POST", path)
    assert status == 404
    assert body["error"]["code"] == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/"),
        ("PUT", "/"),
        ("OPTIONS", "/"),
        ("TRACE", "/"),
        ("GET", "/message:send"),
        ("GET", "/tools/query"),
        ("POST", "/.well-known/agent-card.json"),
        ("POST", "/tasks/x"),
        ("GET", "/v1/message:stream"),
        ("DELETE", "/acme/tasks/x"),
    ],
)
def test_a_method_that_the_file_does_not_name_is_405(port: int, method: str, path: str) -> None:
    status, body = _ask(port, method, path)
    assert status == 405
    assert body["error"]["code"] == 405


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/message:send", "POST"),
        ("DELETE", "/tasks/x", "GET"),
        ("PUT", "/tasks/x:subscribe", "GET, POST"),
        ("PATCH", "/acme/tasks/x/pushNotificationConfigs", "GET, POST"),
    ],
)
def test_a_method_that_is_not_allowed_is_told_with_those_that_are(
    port: int, method: str, path: str, allow: str
) -> None:
    """RFC 9110 §15.5.6."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with contextlib.closing(connection):
        connection.request(method, path)
        response = connection.getresponse()
        assert (response.status, response.getheader("allow")) == (405, allow)


def test_a_trailing_slash_makes_no_difference(port: int) -> None:
    assert _ask(port, "GET", "/routes/")[1]["target"] == "/routes/"
    assert _ask(port, "GET", "/tasks/x/?a=%2F")[1]["target"] == "/tasks/x/?a=%2F"


def test_dot_segments_are_resolved_before_anything_is_decided(port: int) -> None:
    assert _ask(port, "GET", "/tasks/%2e%2e/routes")[1]["target"] == "/routes"
    assert _ask(port, "GET", "/.well-known/../nothing")[0] == 404


@pytest.mark.parametrize(
    ("sent", "authorization", "forwarded"),
    [
        ({"Authorization": "Bearer mine"}, _OWN, "Bearer mine"),
        ({}, _OWN, None),
        ({"X-Forwarded-Authorization": "Bearer forged"}, _OWN, "Bearer forged"),
        (
            {"Authorization": "Bearer mine", "X-Forwarded-Authorization": "Bearer forged"},
            _OWN,
            "Bearer mine",
        ),
    ],
    ids=["own token", "no token", "forwarded alone", "both"],
)
@pytest.mark.parametrize("path", ["/routes", "/.well-known/agent-card.json"])
def test_the_callers_token_moves_as_in_api_gateway(
    port: int, path: str, sent: Mapping[str, str], authorization: str, forwarded: str | None
) -> None:
    headers = _ask(port, "GET", path, sent)[1]["headers"]
    assert headers["authorization"] == authorization
    assert headers.get("x-forwarded-authorization") == forwarded


def test_the_clock_of_a_deadline_runs_for_streams_too(tmp_path: Path) -> None:
    text = TEXT.replace("deadline: 1800.0", "deadline: 0.3")

    def stream(exchange: Exchange) -> None:
        exchange.head(content_type="text/event-stream")
        exchange.event("first")
        exchange.wait_until_left()

    with HttpServer(stream) as gate, gateway(routes_of(operations(text)), _both(gate), tmp_path) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        with contextlib.closing(connection):
            connection.request("POST", "/message:stream", body=b"{}")
            response = connection.getresponse()
            assert response.readline() == b'data: "first"\n'
            with pytest.raises(http.client.HTTPException):
                response.read()


def test_an_answer_that_comes_too_late_is_a_504(tmp_path: Path) -> None:
    text = TEXT.replace("deadline: 30.0", "deadline: 0.2")
    with (
        HttpServer(lambda exchange: exchange.wait_until_left()) as gate,
        gateway(routes_of(operations(text)), _both(gate), tmp_path) as port,
    ):
        status, body = _ask(port, "GET", "/routes")
    assert (status, body["error"]["status"]) == (504, "DEADLINE_EXCEEDED")


def test_a_gate_that_is_down_is_a_503_that_says_so_in_json(tmp_path: Path) -> None:
    with (
        HttpServer(lambda _: None, listens=False) as nobody,
        gateway(local_routes(), _both(nobody), tmp_path) as port,
    ):
        status, body = _ask(port, "POST", "/")
    assert (status, body["error"]["code"], body["error"]["status"]) == (503, 503, "UNAVAILABLE")
    assert "does not answer" in body["error"]["message"]


def test_no_pattern_takes_the_path_of_another_function(port: int) -> None:
    assert path_pattern("/.well-known/agent.json") == r"/\.well\-known/agent\.json/?"
    assert _ask(port, "GET", "/xwell-known/agent-card.json")[0] == 404


def _function(name: str) -> HttpServer:
    def behave(exchange: Exchange) -> None:
        received = exchange.received
        if received.method == "HEAD":
            exchange.head(content_length="0")
            return
        exchange.json({"function": name, "target": received.path, "headers": dict(received.headers)})

    return HttpServer(behave)


def _both(server: HttpServer) -> dict[str, int]:
    return {"gate": server.port, "agent_card": server.port}


def _concrete(path: str) -> str:
    for name in ("tenant", "task_id", "id"):
        path = path.replace(f"{{{name}}}", f"one-{name}")
    return path


def _ask(port: int, method: str, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with contextlib.closing(connection):
        connection.request(method, path, headers=dict(headers or {}))
        response = connection.getresponse()
        body = response.read()
        return response.status, json.loads(body) if body else None
