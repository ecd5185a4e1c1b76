"""A failing agent never becomes a failing answer: every fault on every way into the hub, in both languages."""

import gzip
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from functions.hub.failure import FailureKind
from tests.fakes.agent_server import AgentServer
from tests.fakes.faults import FAULTS, SECRETS, Fault
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.hub import TOKEN, Hub, route, streamed_text, text_of

_ENGLISH, _JAPANESE = "What is the status?", "状況を教えてください"

# A word of the sentence that says what happened.
_SAID = {
    FailureKind.DOWN: ("cannot be reached", "接続できません"),
    FailureKind.SLOW: ("did not answer in time", "時間内に"),
    FailureKind.NOT_ALLOWED: ("did not let the hub in", "許可されません"),
    FailureKind.NOT_FOUND: ("was not found", "見つかりません"),
    FailureKind.BUSY: ("too many requests", "混み合って"),
    FailureKind.BROKEN: ("had a problem", "問題が発生"),
    FailureKind.CUT: ("broke off", "途切れました"),
    FailureKind.TOO_LARGE: ("too large", "大きすぎて"),
    FailureKind.FAILED: ("could not complete", "完了できません"),
}
_FAULTS = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)


@_FAULTS
def test_a_fault_is_one_helpful_text_in_answer_to_message_send(fault: Fault) -> None:
    with _asked(fault) as (hub, server):
        answer = hub.send(_ENGLISH)
        assert answer["kind"] == "message"
        _helps(text_of(answer), fault.kind, server)
        _has_cause(hub, fault.fault)


@pytest.mark.parametrize("fault", FAULTS[::6], ids=lambda fault: fault.name)
def test_a_fault_is_one_helpful_text_in_answer_to_send_message(fault: Fault) -> None:
    with _asked(fault) as (hub, server):
        _helps(text_of(hub.send(_ENGLISH, version="1.0")), fault.kind, server)


@_FAULTS
def test_a_fault_is_a_helpful_end_of_a_stream(fault: Fault) -> None:
    with _asked(fault) as (hub, server):
        events = hub.stream(_JAPANESE)
        kind, name = fault.stream or (fault.kind, fault.fault)
        assert [event["kind"] for event in events][:2] == ["task", "status-update"]
        assert [event["final"] for event in events[1:] if event["kind"] == "status-update"][-1] is True
        assert events[-1]["status"]["state"] == "completed"
        assert len({(event.get("taskId") or event["id"], event["contextId"]) for event in events}) == 1
        _helps(streamed_text(events), kind, server, japanese=True)
        _has_cause(hub, name)


@_FAULTS
def test_a_fault_is_fully_recorded_by_tools_query(fault: Fault) -> None:
    with _asked(fault) as (hub, server):
        record = hub.query(_JAPANESE)
        assert (record["route"], record["agent"], record["boundary"]) == ("alpha", "Agent alpha", "public")
        assert record["reason"].startswith("default:")
        assert (record["error"]["kind"], record["error"]["fault"]) == (fault.kind, fault.fault)
        assert record["error"]["cause"].startswith("alpha: ")
        assert record["contextId"]
        assert record["requestId"] == hub.log[-1]["requestId"]
        assert record["data"] is None or record["error"]["fault"].startswith("task_")
        _helps(record["answer"], fault.kind, server, japanese=True)
        _leaks_nothing(json.dumps(record), server)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (_ENGLISH, "Something went wrong in the hub before your question reached an agent."),
        (_JAPANESE, "ご質問をエージェントに取り次ぐ前に、ハブで問題が発生しました。"),
    ],
)
def test_a_defect_of_the_hub_before_there_is_a_route_is_one_helpful_text(question: str, said: str) -> None:
    # As when one part of it was changed, and another was not.
    changed: Any = object()
    hub = Hub(route("alpha", url="https://alpha.example.com"), downstreams={"alpha": changed})
    answer = hub.send(question)
    assert answer["kind"] == "message"
    assert text_of(answer).startswith(said)
    assert hub.log[-1]["requestId"] in text_of(answer)
    events = hub.stream(question)
    assert streamed_text(events).startswith(said)
    assert (events[-1]["status"]["state"], events[-1]["final"]) == ("completed", True)
    record = hub.query(question)
    assert (record["route"], record["error"]["kind"]) == (None, "unrouted")
    assert record["reason"] == record["error"]["cause"]
    assert "AttributeError" in next(line["stack_trace"] for line in hub.log if "stack_trace" in line)


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream"])
def test_an_answer_that_is_compressed_unasked_is_called_so(content_type: str) -> None:
    def compressed(exchange: Exchange) -> None:
        assert exchange.received.headers["accept-encoding"] == "identity"
        exchange.answer(200, gzip.compress(b"{}"), content_type=content_type, content_encoding="gzip")

    with AgentServer(serve_message=compressed) as agent:
        hub = Hub(route("alpha", agent.url))
        assert "Agent alpha" in streamed_text(hub.stream(_ENGLISH))
    assert (hub.log[-1]["fault"], "compressed" in hub.log[-1]["cause"]) == ("not_json", True)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("of", ["card", "message"])
def test_the_operator_is_told_what_to_do_about_a_redirect(status: int, of: str) -> None:
    def redirects(exchange: Exchange) -> None:
        exchange.answer(status, location="/a2a/")

    with AgentServer() as agent:
        setattr(agent, f"serve_{of}", redirects)
        error = Hub(route("alpha", agent.url)).query(_ENGLISH)["error"]
    assert (error["fault"], error["httpStatus"]) == ("unexpected_status", status)
    assert "set the route's url (ALPHA_URL)" in error["remedy"]


def test_a_request_that_is_too_large_for_its_agent_is_not_sent_again() -> None:
    """The official SDK for JavaScript reads 100 kB unless its server is told otherwise."""
    with AgentServer(serve_message=lambda exchange: exchange.answer(413)) as agent:
        hub = Hub(route("alpha", agent.url))
        failed = hub.send(_ENGLISH, version="1.0", modes=["text/plain", "application/json"])
        assert "for less at once" in str(failed)
        assert "'retryable': True" not in str(failed)
        assert "largest request" in hub.log[-1]["remedy"]


def test_a_client_that_takes_json_sees_a_failed_task() -> None:
    (fault,) = (fault for fault in FAULTS if fault.name == "HTTP 500")
    with _asked(fault) as (hub, server):
        stream = hub.open(_ENGLISH, version="1.0", modes=["text/plain", "application/json"])
        last = [json.loads(chunk.removeprefix(b"data: "))["result"] for chunk in stream.chunks][-1]["statusUpdate"]
        assert last["status"]["state"] == "TASK_STATE_FAILED"
        _helps(text_of(last["status"]["message"]), "broken", server)


@pytest.mark.parametrize("stored", [False, True], ids=["without stored tasks", "with stored tasks"])
def test_a_0_3_program_over_rest_that_takes_text_sees_a_dead_agents_task_as_failed(
    stored: bool, tmp_path: Path
) -> None:
    (fault,) = (fault for fault in FAULTS if fault.name == "HTTP 500")
    message = {"messageId": "m-1", "role": "ROLE_USER", "content": [{"text": _ENGLISH}]}
    body = {"message": message, "configuration": {"acceptedOutputModes": ["text/plain"], "blocking": True}}
    settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"} if stored else {}
    with _asked(fault, settings) as (hub, server):
        response = hub.request("POST", "/v1/message:stream", json.dumps(body).encode())
        assert isinstance(response.body, Iterator), response.body
        events = [json.loads(chunk.removeprefix(b"data: ")) for chunk in response.body if chunk[:1] == b"d"]
        last = events[-1]["statusUpdate"]
        assert last["final"] is True
        tasks = [last]
        if stored:
            tasks.append(json.loads(hub.request("GET", f"/v1/tasks/{last['taskId']}").body))  # type: ignore[arg-type]
        for each in tasks:
            assert each["status"]["state"] == "TASK_STATE_FAILED"
            (part,) = each["status"]["message"]["content"]
            _helps(part["text"], "broken", server)
    assert not [event for event in events if "artifactUpdate" in event]


@contextmanager
def _asked(fault: Fault, settings: Mapping[str, str] | None = None) -> Iterator[tuple[Hub, HttpServer]]:
    """A hub with this agent, and limits that are short where the fault is silence."""
    seconds = 0.15 if "timeout" in (fault.fault, (fault.stream or ("", ""))[1]) else 20.0
    with fault.serve() as server:
        alpha = route(
            "alpha",
            server.url.replace("http", fault.scheme),
            timeout_seconds=seconds,
            stream_idle_timeout_seconds=seconds,
            max_response_bytes=1 << 20,
        )
        yield Hub(alpha, settings=settings), server


def _helps(text: str, kind: str, server: HttpServer, *, japanese: bool = False) -> None:
    assert ("担当alpha" if japanese else "Agent alpha") in text
    assert _SAID[FailureKind(kind)][japanese] in text
    assert ("お" in text or "もう一度" in text) if japanese else ("Please" in text or "administrator" in text)
    assert "request-1" in text
    _leaks_nothing(text, server)


def _leaks_nothing(text: str, server: HttpServer) -> None:
    for secret in (*SECRETS, TOKEN, "127.0.0.1", str(server.port), "Error(", "Exception", "errno", "http:"):
        assert secret not in text


def _has_cause(hub: Hub, fault: str) -> None:
    line: dict[str, Any] = hub.log[-1]
    assert (line["severity"], line["fault"], line["route"]) == ("WARNING", fault, "alpha")
    assert line["cause"].startswith("alpha: ")
    assert not any(secret in json.dumps(hub.log) for secret in (*SECRETS, TOKEN))
