"""What a real Envoy with the generated configuration does to a request and its answer, with functions behind it."""

import contextlib
import json
from collections.abc import Iterator

import pytest

from tests.integration.local_runs import LocalRun, ready


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRun]:
    """One run for all tests of this file; none of them changes it."""
    with ready(tmp_path_factory.mktemp("run")) as one:
        yield one


def test_what_only_a_proxy_may_say_of_the_connection_is_not_taken_from_a_caller(run: LocalRun) -> None:
    forged = {
        "X-Envoy-Upstream-Rq-Timeout-Ms": "1",
        "X-Forwarded-For": "6.6.6.6",
        "X-Forwarded-Proto": "https",
        "SCRIPT_NAME": "/forged",
    }
    _, received = run.ask("/routes", headers=forged)
    headers = received["headers"]
    assert "forged" not in json.dumps(headers)
    assert (headers["x-forwarded-for"], headers["x-forwarded-proto"]) == ("127.0.0.1", "http")
    assert "x-envoy-upstream-rq-timeout-ms" not in headers


def test_what_a_caller_may_say_arrives_unchanged(run: LocalRun) -> None:
    sent = {
        "A2A-Version": "1.0",
        "Host": "hub.example",
        "Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "X-Request-Id": "mine",
    }
    _, received = run.ask("/routes", headers=sent)
    assert {name: received["headers"][name.lower()] for name in sent} == sent


def test_a_large_body_arrives_whole(run: LocalRun) -> None:
    assert run.ask("/tools/query", method="POST", body=bytes(12_000_000)) == (200, {"size": 12_000_000})


def test_the_function_itself_answers_that_a_body_is_too_large(run: LocalRun) -> None:
    assert run.ask("/message:send", method="POST", body=bytes(12_000_000)) == (413, {"error": "too large"})


def test_an_event_passes_while_the_stream_is_still_open(run: LocalRun) -> None:
    with contextlib.closing(run.connection()) as connection:
        connection.request("GET", "/activity")
        response = connection.getresponse()
        assert response.getheader("Content-Type", "").startswith("text/event-stream")
        assert response.readline() == b"data: first\n"
        run.ask("/openapi.yaml")
        assert response.read() == b"\ndata: second\n\n"


def test_a_connection_serves_one_request_after_another(run: LocalRun) -> None:
    with contextlib.closing(run.connection()) as connection:
        used = set()
        for _ in range(3):
            connection.request("GET", "/routes")
            connection.getresponse().read()
            used.add(connection.sock.getsockname())
    assert len(used) == 1
