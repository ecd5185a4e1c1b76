"""The generated configuration in a real Envoy, with functions behind it."""

import contextlib
import http.client
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local import envoy
from local.gateway import LOCAL_ROUTES
from local.ports import free_ports
from tests.integration.local_runs import LocalRun, ready


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRun]:
    """One run for all tests of this file; none of them changes it."""
    with ready(tmp_path_factory.mktemp("run")) as one:
        yield one


@pytest.mark.parametrize(
    ("method", "path", "function"),
    [
        ("GET", "/.well-known/agent-card.json", "agent_card"),
        ("GET", "/.well-known/agent.json", "agent_card"),
        ("GET", "/.well-known/agent-card.json?x=1", "agent_card"),
        ("POST", "/.well-known/agent-card.json", "hub"),
        ("GET", "/.well-known/agent-card.json/", "hub"),
        ("GET", "/", "hub"),
        ("POST", "/", "hub"),
        ("DELETE", "/tools/query", "hub"),
    ],
)
def test_the_cards_go_to_the_card_function_and_all_else_to_the_hub(
    run: LocalRun, method: str, path: str, function: str
) -> None:
    _, received = run.ask(path, method=method)
    assert (received["function"], received["method"]) == (function, method)


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        ("/message:send", "/message:send"),
        ("/v1/tasks/x:cancel?a=%2F%3A", "/v1/tasks/x:cancel?a=%2F%3A"),
        ("/tasks/a%2Fb", "/tasks/a%2Fb"),
        ("/tasks/../tools/query", "/tools/query"),
        ("//tools///query", "/tools/query"),
    ],
)
def test_a_path_arrives_in_its_normal_form(run: LocalRun, sent: str, received: str) -> None:
    assert run.ask(sent)[1]["target"] == received


def test_what_only_a_proxy_may_say_is_not_taken_from_a_caller(run: LocalRun) -> None:
    forged = {
        "Forwarded": "for=6.6.6.6",
        "X-Envoy-Upstream-Rq-Timeout-Ms": "1",
        "X-Forwarded-Authorization": "Bearer forged",
        "X-Forwarded-For": "6.6.6.6",
        "X-Forwarded-Host": "forged",
        "X-Forwarded-Proto": "https",
        "X-Serverless-Authorization": "Bearer forged",
        "SCRIPT_NAME": "/forged",
    }
    _, received = run.ask("/x", headers=forged)
    headers = received["headers"]
    assert "forged" not in json.dumps(headers)
    assert (headers["x-forwarded-for"], headers["x-forwarded-proto"]) == ("127.0.0.1", "http")
    assert not {"forwarded", "x-envoy-upstream-rq-timeout-ms"} & headers.keys()


def test_what_a_caller_may_say_arrives_unchanged(run: LocalRun) -> None:
    sent = {
        "A2A-Version": "1.0",
        "Authorization": "Bearer mine",
        "Host": "hub.example",
        "Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "X-Request-Id": "mine",
    }
    _, received = run.ask("/x", headers=sent)
    assert {name: received["headers"][name.lower()] for name in sent} == sent


def test_a_large_body_arrives_whole(run: LocalRun) -> None:
    assert run.ask("/size", method="POST", body=bytes(12_000_000)) == (200, {"size": 12_000_000})


def test_the_hub_itself_answers_that_a_body_is_too_large(run: LocalRun) -> None:
    assert run.ask("/too-large", method="POST", body=bytes(12_000_000)) == (413, {"error": "too large"})


def test_an_event_passes_while_the_stream_is_still_open(run: LocalRun) -> None:
    with contextlib.closing(run.connection()) as connection:
        connection.request("GET", "/stream")
        response = connection.getresponse()
        assert response.getheader("Content-Type", "").startswith("text/event-stream")
        assert response.readline() == b"data: first\n"
        run.ask("/release")
        assert response.read() == b"\ndata: second\n\n"


def test_a_connection_serves_one_request_after_another(run: LocalRun) -> None:
    with contextlib.closing(run.connection()) as connection:
        used = set()
        for _ in range(3):
            connection.request("GET", "/x")
            connection.getresponse().read()
            used.add(connection.sock.getsockname())
    assert len(used) == 1


def test_a_hub_that_is_down_is_a_503_that_says_so_in_json(tmp_path: Path) -> None:
    port, nobody = free_ports(2)
    config = tmp_path / "envoy.json"
    ports = {"hub": nobody, "agent_card": nobody}
    config.write_text(json.dumps(envoy.bootstrap(port=port, routes=LOCAL_ROUTES, upstream_ports=ports)))
    with subprocess.Popen(envoy.command(config), stderr=subprocess.DEVNULL) as gateway:
        try:
            status, media_type, body = _first_answer(port)
        finally:
            gateway.terminate()
    assert (status, media_type) == (503, "application/json")
    assert (body["error"]["code"], body["error"]["status"]) == (503, "UNAVAILABLE")
    assert "does not answer" in body["error"]["message"]


def _first_answer(port: int) -> tuple[int, str | None, Any]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        with contextlib.closing(connection), contextlib.suppress(ConnectionRefusedError):
            connection.request("POST", "/", body=b"{}")
            response = connection.getresponse()
            return response.status, response.getheader("Content-Type"), json.loads(response.read())
    raise AssertionError("the gateway does not listen")
