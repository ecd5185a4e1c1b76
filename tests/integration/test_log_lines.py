"""One line for each request of the hub: enough to find out what happened, and nothing that was said in confidence."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, message, text
from tests.fakes.http_server import Exchange
from tests.fakes.hub import TOKEN, Hub, route, settle
from tests.fakes.task_client import WAYS, TaskClient
from tests.integration.tasks.life import Gate, ended

_TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
_QUESTION = "What is my secret salary, alpha?"
_ANSWER = "Your secret salary is 7 million."


@pytest.mark.parametrize("way", ["send", "stream", "query"])
def test_a_turn_is_one_line_that_says_what_happened(way: str) -> None:
    with AgentServer(lambda _: [message(text(_ANSWER))]) as agent:
        hub = Hub(route("alpha", agent.url), route("beta", "http://127.0.0.1:9"))
        _ask(hub, way)
    (line,) = hub.log
    expected = {
        "severity": "INFO",
        "function": "hub",
        "requestId": "request-1",
        "route": "alpha",
        "reason": 'keyword: "alpha" belongs to "alpha"',
        "agent": "Agent alpha",
        "outcome": "answered",
    }
    assert line.items() >= expected.items()
    assert line["principal"].startswith("client:dev-")
    assert line["ms"] >= 0
    assert line["downstreamMs"] >= 0
    assert line["httpRequest"]["status"] == 200
    if way != "query":
        streaming = "SendStreamingMessage" if way == "stream" else "SendMessage"
        assert (line["operation"], line["version"], line["binding"]) == (streaming, "0.3", "JSONRPC")


@pytest.mark.parametrize("way", ["send", "stream", "query"])
@pytest.mark.parametrize("log_text", [False, True])
def test_neither_token_nor_text_is_logged_unless_the_text_is_asked_for(way: str, log_text: bool) -> None:
    with AgentServer(lambda _: [message(text(_ANSWER))]) as agent:
        hub = Hub(route("alpha", agent.url), log_text=log_text)
        _ask(hub, way)
    logged = json.dumps(hub.log)
    assert TOKEN not in logged
    assert "7 million" not in logged
    assert ("secret salary" in logged) is log_text


@pytest.mark.parametrize("log_text", [False, True])
def test_what_a_pattern_matched_is_the_callers_text(log_text: bool) -> None:
    with AgentServer(lambda _: [message(text(_ANSWER))]) as agent:
        alpha = route("alpha", agent.url, keywords=(), patterns=("my .* salary",))
        hub = Hub(alpha, route("beta", "http://127.0.0.1:9"), log_text=log_text)
        _ask(hub, "query")
    (line,) = hub.log
    words = '"my secret salary" belongs to "alpha"' if log_text else 'one of "alpha"'
    assert line["reason"] == f"pattern: {words}"


def test_a_failure_of_an_agent_is_logged_with_cause_and_remedy() -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"))
    hub.send(_QUESTION)
    (line,) = hub.log
    assert line["severity"] == "WARNING"
    assert line["fault"] == "unreachable"
    assert line["cause"] == "alpha: the connection was refused"
    assert "url" in line["remedy"]
    assert "127.0.0.1" not in json.dumps(line)


class _BreaksOff:
    """An agent that breaks off as soon as the gate is open."""

    def __init__(self) -> None:
        self.gate = Gate()

    def __call__(self, _: ReceivedMessage) -> Iterable[Json]:
        self.gate.wait()
        raise ConnectionAbortedError


def _failed_later(lines: list[dict[str, Any]], task_id: str, *, outcome: str = "answered") -> dict[str, Any]:
    """Return the line of the failure; the request's own line knows nothing of it."""
    answered, failed = (line for line in lines if line["requestId"] == "request-1")
    assert (answered["severity"], answered["outcome"], "cause" in answered) == ("INFO", outcome, False)
    assert (failed["severity"], failed["route"], failed["taskId"]) == ("WARNING", "alpha", task_id)
    assert failed["outcome"] == "failed"
    assert failed["cause"].startswith("alpha: ")
    assert failed["principal"] == answered["principal"]
    assert "httpRequest" not in failed
    return failed


@pytest.mark.parametrize("way", WAYS)
def test_a_turn_that_fails_after_its_request_was_answered_has_a_line_of_its_own(way: str, tmp_path: Path) -> None:
    script = _BreaksOff()
    with AgentServer(script) as agent:
        alpha = route("alpha", agent.url, retry_seconds=0)
        hub = Hub(alpha, settings={"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"})
        client = TaskClient(hub, way)
        task_id = client.send("alpha", at_once=True).task_id
        script.gate.await_question()
        script.gate.open()
        assert "request-1" in ended(client, task_id).said
        settle()
    _failed_later(hub.log, task_id)


def test_a_turn_that_fails_after_its_stream_was_left_has_a_line_of_its_own(tmp_path: Path) -> None:
    gate = Gate()

    def not_found(exchange: Exchange) -> None:
        gate.wait()
        exchange.answer(404)

    with AgentServer(serve_message=not_found) as agent:
        settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db", "TASK_STORE_AFTER_SECONDS": "0.05"}
        hub = Hub(route("alpha", agent.url), settings=settings)
        client = TaskClient(hub, WAYS[0])
        stream = client.open_stream("alpha")
        task_id = next(stream).task_id
        gate.await_question()
        # Now it is stored.
        client.get(task_id)
        cast("Any", stream).close()
        gate.open()
        ended(client, task_id)
        settle()
    assert "url" in _failed_later(hub.log, task_id, outcome="cancelled")["remedy"]


@pytest.mark.parametrize("way", WAYS)
def test_a_turn_that_fails_before_its_request_is_answered_has_one_line(way: str, tmp_path: Path) -> None:
    script = _BreaksOff()
    script.gate.open()
    with AgentServer(script) as agent:
        hub = Hub(route("alpha", agent.url), settings={"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"})
        TaskClient(hub, way).send("alpha")
        settle()
    (line,) = hub.log
    assert (line["severity"], line["route"], line["httpRequest"]["status"]) == ("WARNING", "alpha", 200)
    assert line["cause"].startswith("alpha: ")


def test_a_stream_that_is_left_has_its_line_too() -> None:
    with AgentServer(serve_message=lambda exchange: exchange.wait_until_left()) as agent:
        hub = Hub(route("alpha", agent.url))
        stream = hub.open(_QUESTION)
        stream.next_event()
        assert hub.log == []
        stream.leave()
        (line,) = hub.log
    assert (line["route"], line["outcome"]) == ("alpha", "cancelled")


def test_the_trace_goes_on_to_the_agent() -> None:
    with AgentServer(lambda _: [message(text(_ANSWER))]) as agent:
        hub = Hub(route("alpha", agent.url))
        hub.request("POST", "/tools/query", b'{"query": "Hi"}', headers={"traceparent": _TRACE})
    assert agent.said[0].headers["traceparent"] == _TRACE
    assert hub.log[0]["logging.googleapis.com/trace"].endswith(_TRACE[3:35])


@pytest.mark.parametrize("traceparent", ["x" * 100_000, "00-zz-zz-01", "00-" + "0" * 32 + "-" + "1" * 16 + "-01", "é"])
def test_a_trace_that_is_none_goes_nowhere(traceparent: str) -> None:
    with AgentServer(lambda _: [message(text(_ANSWER))]) as agent:
        hub = Hub(route("alpha", agent.url))
        response = hub.request("POST", "/tools/query", b'{"query": "Hi"}', headers={"traceparent": traceparent})
    assert response.status == 200
    assert "traceparent" not in agent.said[0].headers
    assert not any("trace" in name for name in hub.log[0])


def test_a_request_without_a_turn_has_a_line() -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"))
    hub.request("GET", "/health", token=None)
    hub.request("GET", "/routes", token=None)
    hub.request("GET", "/nowhere")
    assert [(line["httpRequest"]["status"], line["severity"]) for line in hub.log] == [
        (200, "INFO"),
        (401, "WARNING"),
        (404, "WARNING"),
    ]


def _ask(hub: Hub, way: str) -> None:
    {"send": hub.send, "stream": hub.stream, "query": hub.query}[way](_QUESTION)
