"""The circuit breaker in the hub: what counts as the agent's failure, and what does not."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import Queue
from threading import Event
from typing import Any

import pytest

from a2a_hub.boundaries.kinds import User
from a2a_hub.boundaries.sources import CredentialSources
from a2a_hub.http.client import HttpClient
from a2a_hub.routing.routes import BreakerLimits
from functions.hub.downstream.a2a_transport import a2a_agent
from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, artifact, message, status, task, text, update
from tests.fakes.http_server import Behaviour, Exchange
from tests.fakes.hub import OTHER_TOKEN, TOKEN, Hub, route, settle, text_of

_THRESHOLD = 5


@dataclass
class _Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def test_an_agent_that_fails_repeatedly_is_left_alone_and_tried_again_by_one_request() -> None:
    clock = _Clock()
    with _served(_fails) as agent:
        hub = _hub(agent, clock)
        for _ in range(_THRESHOLD):
            assert _fault(hub) == "server_error"
        asked = len(agent.said)

        record = hub.query("How are you?")
        assert record["error"]["fault"] == "circuit_open"
        assert record["error"]["retryAfterSeconds"] == 30
        assert record["answer"].startswith(
            "The agent “Agent alpha” has been failing, so your request was not sent to it. Its last failure: The agent “Agent "
            "alpha” cannot be reached at the moment. Please ask again in 30 seconds. Reference:"
        )
        in_japanese = text_of(hub.send("元気ですか"))
        assert "で失敗が続いているため、依頼は送信していません。直前の失敗：エージェント" in in_japanese
        assert "に現在接続できません。30秒ほどしてから" in in_japanese
        assert len(agent.said) == asked

        clock.now += 30
        assert _fault(hub) == "server_error"
        assert _fault(hub) == "circuit_open"
        assert len(agent.said) == asked + 1

        clock.now += 30
        agent.serve_message = _answers
        assert [_fault(hub) for _ in range(3)] == [None, None, None]


def test_a_breaker_has_the_limits_of_its_route() -> None:
    clock = _Clock()
    with _served(_fails) as agent:
        hub = _hub(agent, clock, breaker=BreakerLimits(failures=2, pause_seconds=5))
        assert [_fault(hub) for _ in range(3)] == ["server_error", "server_error", "circuit_open"]
        clock.now += 5
        assert _fault(hub) == "server_error"
        never = _hub(agent, clock, breaker=None)
        assert {_fault(never) for _ in range(_THRESHOLD * 2)} == {"server_error"}


def test_an_open_circuit_keeps_the_cause_and_the_remedy_and_sends_nobody_away_to_wait_for_a_missing_grant() -> None:
    with _served(lambda exchange: exchange.answer(403)) as agent:
        hub = _hub(agent)
        first = hub.query("How are you?")["error"]
        for _ in range(_THRESHOLD - 1):
            _fault(hub)
        record = hub.query("How are you?")
        in_japanese = text_of(hub.send("元気ですか"))
    error = record["error"]
    assert "retryAfterSeconds" not in error
    assert (error["kind"], error["fault"], error["httpStatus"]) == ("resting", "circuit_open", 403)
    assert error["cause"].startswith(first["cause"])
    assert error["remedy"] == first["remedy"]
    assert (
        "your request was not sent to it. Its last failure: The agent “Agent alpha” did not let the hub in. Your a"
        in (record["answer"])
    )
    assert "again" not in record["answer"]
    assert "管理者による対応が必要です" in in_japanese
    line = hub.log[-1]
    assert (line["fault"], line["cause"], line["remedy"]) == ("circuit_open", error["cause"], error["remedy"])


def test_the_doctor_shows_the_circuit_that_this_instance_holds_open() -> None:
    with _served(_fails) as agent:
        hub = _hub(agent)
        for _ in range(_THRESHOLD):
            _fault(hub)
        agent.behave = _fails
        report = hub.request("GET", "/doctor")
    assert isinstance(report.body, bytes)
    steps = {step["check"]: step for step in json.loads(report.body)["examined"][0]["steps"]}
    assert steps["circuit"]["outcome"] == "error"
    assert "HTTP 503; it failed repeatedly" in steps["circuit"]["message"]


def test_while_one_request_tries_again_no_other_one_reaches_the_agent() -> None:
    clock, reached, finish = _Clock(), Queue[None](), Event()

    def tried(exchange: Exchange) -> None:
        reached.put(None)
        assert finish.wait(timeout=10)
        _answers(exchange)

    with _served(_fails) as agent:
        hub = _hub(agent, clock)
        for _ in range(_THRESHOLD):
            _fault(hub)
        asked = len(agent.said)
        clock.now += 30
        agent.serve_message = tried
        with ThreadPoolExecutor() as callers:
            trial = callers.submit(_fault, hub)
            reached.get(timeout=10)
            # Any of these that got through would wait at the agent for `finish`.
            others = [callers.submit(_fault, hub) for _ in range(4)]
            try:
                assert [other.result(timeout=5) for other in others] == ["circuit_open"] * 4
                assert len(agent.said) == asked + 1
            finally:
                finish.set()
            assert trial.result(timeout=10) is None
        assert [_fault(hub) for _ in range(3)] == [None, None, None]


@pytest.mark.parametrize("status", [400, 405, 409, 413, 302])
def test_a_request_that_the_agent_does_not_take_opens_nothing(status: int) -> None:
    with _served(lambda exchange: exchange.answer(status)) as agent:
        hub = _hub(agent)
        assert {_fault(hub) for _ in range(_THRESHOLD * 2)} == {"refused" if status == 413 else "unexpected_status"}


def test_a_refusal_opens_nothing() -> None:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}}
    with _served(lambda exchange: exchange.json(error)) as agent:
        hub = _hub(agent)
        assert {_fault(hub) for _ in range(_THRESHOLD * 2)} == {"refused"}


def test_a_refusal_shows_that_the_agent_is_back() -> None:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}}
    clock = _Clock()
    with _served(_fails) as agent:
        hub = _hub(agent, clock)
        for _ in range(_THRESHOLD):
            _fault(hub)
        clock.now += 30
        agent.serve_message = lambda exchange: exchange.json(error)
        assert [_fault(hub) for _ in range(3)] == ["refused"] * 3


def test_a_task_that_failed_opens_nothing() -> None:
    with AgentServer(lambda _: [task("failed")]) as agent:
        hub = _hub(agent)
        assert {_fault(hub) for _ in range(_THRESHOLD * 2)} == {"task_failed"}


def test_callers_that_leave_open_nothing() -> None:
    reached: Queue[None] = Queue()

    def silent(exchange: Exchange) -> None:
        reached.put(None)
        exchange.wait_until_left()

    with _served(silent) as agent:
        hub = _hub(agent)
        for _ in range(_THRESHOLD * 2):
            stream = hub.open("How are you?")
            reached.get(timeout=10)
            stream.leave()
        settle()
        agent.serve_message = _answers
        assert _fault(hub) is None


def test_callers_that_leave_while_a_task_is_polled_open_nothing() -> None:
    states = iter(lambda: task("working"), None)
    with AgentServer(lambda _: [task("working", says="Busy")], streaming=False, tasks=states) as agent:
        hub = _hub(agent)
        for _ in range(_THRESHOLD * 2):
            stream = hub.open("How are you?")
            assert [stream.next_event()["kind"] for _ in range(3)] == [
                "task",
                "status-update",
                "status-update",
            ]
            stream.leave()
        settle()
        agent.script = lambda _: [message(text("Fine."))]
        assert _fault(hub) is None


def test_one_callers_bad_token_does_not_close_the_agent_for_others() -> None:
    def only_others(exchange: Exchange) -> None:
        if exchange.received.headers["authorization"] == f"Bearer {OTHER_TOKEN}":
            _answers(exchange)
        else:
            exchange.answer(401)

    with _served(only_others) as agent:
        hub = Hub(route("alpha", agent.url, boundary=User()))
        assert {_fault(hub) for _ in range(_THRESHOLD * 2)} == {"unauthenticated"}
        assert _fault(hub, token=OTHER_TOKEN) is None


def test_a_missing_user_token_does_not_use_up_the_trial() -> None:
    clock = _Clock()
    with _served(_fails) as agent:
        hub = _hub(agent, clock, boundary=User(), anonymous=True)
        for _ in range(_THRESHOLD):
            _fault(hub)
        clock.now += 30
        agent.serve_message = _answers
        assert _fault(hub, token=None) == "no_user_token"
        assert _fault(hub) is None


def test_a_trial_whose_answer_takes_long_holds_up_nobody_once_it_has_begun() -> None:
    clock, finish = _Clock(), Event()

    def slowly(_: ReceivedMessage) -> Iterator[Json]:
        yield task("working")
        yield update(artifact("answer", text("At last, ")))
        assert finish.wait(timeout=10)
        yield status("completed")

    with _served(_fails) as agent:
        hub = _hub(agent, clock)
        for _ in range(_THRESHOLD):
            _fault(hub)
        clock.now += 30
        agent.script, agent.serve_message = slowly, None
        stream = hub.open("How are you?")
        while stream.next_event()["kind"] != "artifact-update":
            pass
        agent.serve_message = _answers
        assert _fault(hub) is None
        finish.set()
        stream.leave()


def _fails(exchange: Exchange) -> None:
    exchange.answer(503)


def _answers(exchange: Exchange) -> None:
    result = message(text("Fine."))
    exchange.json({"jsonrpc": "2.0", "id": 1, "result": result})


def _served(behave: Behaviour) -> AgentServer:
    return AgentServer(serve_message=behave)


def _hub(
    agent: AgentServer,
    clock: Callable[[], float] = time.monotonic,
    *,
    anonymous: bool = False,
    **changes: Any,
) -> Hub:
    """A hub whose agent's circuit is on this clock."""
    alpha = route("alpha", agent.url, **changes)
    http = HttpClient(clock=clock)
    remote = a2a_agent(alpha, http=http, sources=CredentialSources())
    return Hub(alpha, downstreams={"alpha": remote}, anonymous=anonymous)


def _fault(hub: Hub, token: str | None = TOKEN) -> str | None:
    error = hub.query("How are you?", token=token)["error"]
    return error["fault"] if error else None
