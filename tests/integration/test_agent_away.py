"""An agent that is away for a moment: a task that nobody waits for is tried again, and everybody else hears of it at once."""

import json
import re
import threading
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.identity.principal import TASKS_FUNCTION, Principal
from a2a_hub.routing.routes import BreakerLimits
from functions.hub.endpoints import RUN_PATH
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.http_server import Behaviour, Exchange
from tests.fakes.hub import Hub, route, text_of
from tests.fakes.signatures import signed
from tests.fakes.task_client import Seen, TaskClient
from tests.fakes.task_instance import until
from tests.integration.conversation_agents import asks_for_a_date, turn

_AWAY: dict[str, Behaviour] = {
    "a reset": lambda exchange: exchange.reset(),
    "HTTP 502": lambda exchange: exchange.answer(502),
    "HTTP 503": lambda exchange: exchange.answer(503),
    "HTTP 504": lambda exchange: exchange.answer(504),
    "HTTP 429": lambda exchange: exchange.answer(429),
}
_WRONG: dict[str, Behaviour] = {
    "HTTP 403": lambda exchange: exchange.answer(403),
    "HTTP 500": lambda exchange: exchange.answer(500),
    "no JSON": lambda exchange: exchange.answer(200, b"<html>", content_type="text/html"),
}


@pytest.fixture
def keeping(tmp_path: Path) -> dict[str, str]:
    return {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db", "TASK_CANCEL_POLL_SECONDS": "0.05"}


@pytest.fixture
def agent() -> Iterator[AgentServer]:
    with AgentServer(lambda _: [message(text("Done."))]) as server:
        yield server


def _client(agent: AgentServer, keeping: dict[str, str], **changes: Any) -> TaskClient:
    return TaskClient(Hub(route("alpha", agent.url, **changes), settings=keeping), "1.0 JSONRPC")


def _state(client: TaskClient, task_id: str, *states: str) -> Seen:
    def look() -> Seen | None:
        seen = client.get(task_id)
        return seen if seen.state in states else None

    return until(look)


def _told(client: TaskClient, task_id: str) -> Seen:
    """The task once its status says something."""

    def look() -> Seen | None:
        seen = client.get(task_id)
        return seen if seen.said else None

    return until(look)


@pytest.mark.parametrize("fault", _AWAY)
@pytest.mark.parametrize("passes_tasks", [False, True], ids=["answers", "mirrored"])
def test_a_task_that_nobody_waits_for_is_tried_again_and_says_why(
    agent: AgentServer, keeping: dict[str, str], fault: str, passes_tasks: bool
) -> None:
    agent.serve_message = _AWAY[fault]
    client = _client(agent, keeping, passes_tasks=passes_tasks)
    task_id = client.send("hello", at_once=True).task_id
    waiting = _told(client, task_id)
    assert waiting.state == "working"
    assert "Agent alpha" in waiting.said
    assert "The hub tries again in" in waiting.said
    agent.serve_message = None
    ended = _state(client, task_id, "completed", "failed")
    assert (ended.state, ended.text) == ("completed", "Done.")
    assert len({said.message_id for said in agent.said}) == 1


def test_an_open_circuit_delays_a_task_and_fails_none(agent: AgentServer, keeping: dict[str, str]) -> None:
    agent.serve_message = _AWAY["HTTP 503"]
    client = _client(agent, keeping, breaker=BreakerLimits(failures=1, pause_seconds=0.5))
    tasks = [client.send("hello", at_once=True).task_id for _ in range(3)]
    for task_id in tasks:
        _told(client, task_id)
    agent.serve_message = None
    assert [_state(client, task_id, "completed", "failed").state for task_id in tasks] == ["completed"] * 3


def test_a_circuit_that_another_requests_failure_has_opened_delays_a_task_too(
    agent: AgentServer, keeping: dict[str, str]
) -> None:
    agent.serve_message = _WRONG["HTTP 500"]
    client = _client(agent, keeping, breaker=BreakerLimits(failures=1, pause_seconds=1))
    assert client.send("hello").state == "failed"
    agent.serve_message = None
    delayed = client.send("hello", at_once=True).task_id
    assert "tries again" in _told(client, delayed).said
    assert _state(client, delayed, "completed", "failed").state == "completed"


@pytest.mark.parametrize("fault", _WRONG)
def test_what_time_does_not_mend_fails_at_once(agent: AgentServer, keeping: dict[str, str], fault: str) -> None:
    agent.serve_message = _WRONG[fault]
    client = _client(agent, keeping)
    ended = _state(client, client.send("hello", at_once=True).task_id, "completed", "failed")
    assert (ended.state, "Agent alpha" in ended.said) == ("failed", True)
    assert len(agent.said) == 1


def test_an_open_circuit_that_a_missing_grant_has_opened_fails_at_once(
    agent: AgentServer, keeping: dict[str, str]
) -> None:
    agent.serve_message = _WRONG["HTTP 403"]
    client = _client(agent, keeping, breaker=BreakerLimits(failures=1))
    for _ in range(2):
        ended = _state(client, client.send("hello", at_once=True).task_id, "completed", "failed")
        assert "did not let the hub in" in ended.said


def test_without_time_for_it_nothing_is_tried_again(agent: AgentServer, keeping: dict[str, str]) -> None:
    agent.serve_message = _AWAY["HTTP 503"]
    client = _client(agent, keeping, retry_seconds=0)
    ended = _state(client, client.send("hello", at_once=True).task_id, "completed", "failed")
    assert (ended.state, len(agent.asked)) == ("failed", 1)


def test_a_task_whose_time_is_over_fails_with_the_reason(agent: AgentServer, keeping: dict[str, str]) -> None:
    agent.serve_message = _AWAY["HTTP 503"]
    client = _client(agent, keeping, retry_seconds=1)
    ended = _state(client, client.send("hello", at_once=True).task_id, "completed", "failed")
    assert (ended.state, "Agent alpha" in ended.said) == ("failed", True)
    assert len(agent.asked) > 1


def _refuses(status: int, seconds: int, *, as_date: bool = False) -> Behaviour:
    """Name the time as a date of a clock of its own."""
    now, then = formatdate(0, usegmt=True), formatdate(seconds, usegmt=True)
    return lambda exchange: exchange.answer(status, retry_after=then if as_date else str(seconds), date=now)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("is_date", [False, True], ids=["seconds", "date"])
def test_a_task_is_not_tried_again_before_the_time_that_its_agent_names(
    agent: AgentServer, keeping: dict[str, str], status: int, is_date: bool
) -> None:
    agent.serve_message = _refuses(status, 200, as_date=is_date)
    client = _client(agent, keeping)
    said = _told(client, client.send("hello", at_once=True).task_id).said
    (seconds,) = map(int, re.findall(r"tries again in (\d+) s", said))
    assert 195 <= seconds <= 203
    assert len(agent.asked) == 1


def test_a_task_fails_at_once_if_its_agent_names_a_later_time_than_the_routes(
    agent: AgentServer, keeping: dict[str, str]
) -> None:
    agent.serve_message = _refuses(429, 3600)
    client = _client(agent, keeping)
    ended = _state(client, client.send("hello", at_once=True).task_id, "completed", "failed")
    assert (ended.state, "Please ask again in 60 minutes." in ended.said, len(agent.asked)) == ("failed", True, 1)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("is_date", [False, True], ids=["seconds", "date"])
def test_who_waits_hears_when_the_agent_wants_to_be_asked_again(agent: AgentServer, status: int, is_date: bool) -> None:
    agent.serve_message = _refuses(status, 90, as_date=is_date)
    hub = Hub(route("alpha", agent.url))
    assert hub.query("hello")["error"]["retryAfterSeconds"] == 90
    assert "Please ask again in 90 seconds. Reference:" in text_of(hub.send("hello"))
    assert "90秒ほどしてからもう一度お試しください。参照番号：" in text_of(hub.send("こんにちは"))
    sent = {"message": {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "hello"}]}}
    failed = TaskClient(hub, "1.0 JSONRPC").call("SendMessage", sent)["task"]["status"]["message"]["metadata"]["error"]
    assert failed["retryable"]
    assert failed["retryAfterSeconds"] == 90


@pytest.mark.parametrize("retry_after", ["soon", "-1", ""])
def test_a_retry_after_that_is_no_time_is_ignored(agent: AgentServer, retry_after: str) -> None:
    agent.serve_message = lambda exchange: exchange.answer(503, retry_after=retry_after)
    assert "retryAfterSeconds" not in Hub(route("alpha", agent.url)).query("hello")["error"]


@pytest.mark.parametrize("streaming", [False, True], ids=["at once", "stream"])
def test_the_log_has_the_cause_of_a_turn_whose_time_is_over(
    agent: AgentServer, keeping: dict[str, str], streaming: bool
) -> None:
    agent.serve_message = _AWAY["HTTP 503"]
    hub = Hub(route("alpha", agent.url, retry_seconds=1), settings=keeping)
    client = TaskClient(hub, "1.0 JSONRPC")
    if streaming:
        client.stream("hello")
    else:
        _state(client, client.send("hello", at_once=True).task_id, "failed")
    first = next(line for line in hub.log if line.get("operation"))
    (failed,) = (line for line in hub.log if line.get("outcome") == "failed")
    assert (failed == first, failed["severity"]) == (streaming, "WARNING")
    assert (failed["requestId"], failed["route"], failed["fault"]) == (first["requestId"], "alpha", "server_error")
    assert "503" in failed["cause"]


def test_a_run_of_the_queue_has_an_outcome_only_once_its_turn_has(agent: AgentServer, keeping: dict[str, str]) -> None:
    agent.serve_message = _AWAY["HTTP 503"]
    settings = keeping | {"TASK_RUNS": "queued"}
    first = Hub(route("alpha", agent.url), settings=settings)
    task_id = TaskClient(first, "1.0 JSONRPC").send("hello", at_once=True).task_id
    other = Hub(route("alpha", agent.url), settings=settings, behind_gate=True)
    states: list[str] = []
    for behaviour in (agent.serve_message, None):
        agent.serve_message = behaviour
        until(lambda: _run(other, task_id, states))
    runs = [line.get("outcome") for line in other.log if line.get("route")]
    assert (states, runs) == (["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"], [None, "answered"])


def _run(hub: Hub, task_id: str, states: list[str]) -> bool:
    """Have the hub run the task. Return True if it was due."""
    body = {"taskId": task_id}
    function = Principal(subject=TASKS_FUNCTION)
    headers = signed(function, "POST", RUN_PATH, json.dumps(body).encode(), function="tasks")
    state = hub.post(RUN_PATH, body, token=None, headers=headers)[1]["state"]
    states.extend([state] if state else [])
    return bool(state)


def test_who_waits_hears_of_the_failure_at_once(agent: AgentServer, keeping: dict[str, str]) -> None:
    agent.serve_message = _AWAY["HTTP 503"]
    client = _client(agent, keeping)
    assert "cannot be reached" in client.send("hello").said
    hub = Hub(route("alpha", agent.url), settings=keeping)
    assert "cannot be reached" in text_of(hub.send("hello"))
    assert len(agent.asked) == 2


def test_a_stream_of_a_program_goes_on_when_its_agent_is_back(agent: AgentServer, keeping: dict[str, str]) -> None:
    def away(exchange: Exchange) -> None:
        exchange.reset()
        back.set()

    back = threading.Event()
    agent.serve_message = away
    client = _client(agent, keeping)

    def return_() -> None:
        back.wait(20)
        agent.serve_message = None

    returns = threading.Thread(target=return_)
    returns.start()
    events = client.stream("hello")
    returns.join()
    assert (events[-1].state, client.get(events[0].task_id).text) == ("completed", "Done.")


@pytest.mark.parametrize("way", ["send", "stream"])
def test_a_persons_answer_to_a_question_is_kept_while_the_agent_is_away(keeping: dict[str, str], way: str) -> None:
    def away(exchange: Exchange) -> None:
        exchange.answer(503)
        asking.serve_message = None

    with AgentServer(asks_for_a_date) as asking:
        hub = Hub(route("alpha", asking.url), settings=keeping)
        context_id, _ = turn(hub, way, "Book a room")
        asking.serve_message = away
        assert turn(hub, way, "Tomorrow", context_id)[1] == "Booked: Tomorrow"
    assert [said.task_id for said in asking.said] == [None, "task-1", "task-1"]


def test_a_person_who_waits_no_longer_finds_the_kept_answer_under_its_number(keeping: dict[str, str]) -> None:
    with AgentServer(asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url), settings=keeping | {"TASK_UI_SECONDS": "0.5"})
        context_id, _ = turn(hub, "send", "Book a room")
        agent.serve_message = _AWAY["HTTP 503"]
        asked = {"context_id": context_id, "message_id": "the answer"}
        assert "your task 1" in text_of(hub.send("Tomorrow", **asked))
        assert "The hub tries again in" in text_of(hub.send("/task 1", context_id=context_id))
        # Gemini Enterprise sends it again.
        assert "your task 1" in text_of(hub.send("Tomorrow", **asked))
        agent.serve_message = None
        until(lambda: "Booked: Tomorrow" in text_of(hub.send("/task 1", context_id=context_id)) or None)
    assert len({said.message_id for said in agent.said}) == 2


def test_while_an_answer_is_tried_again_the_conversation_is_routed_again(keeping: dict[str, str]) -> None:
    with AgentServer(asks_for_a_date) as agent, AgentServer(lambda _: [message(text("Hello."))]) as other:
        hub = Hub(route("alpha", agent.url), route("beta", other.url), settings=keeping | {"TASK_UI_SECONDS": "0.5"})
        context_id, _ = turn(hub, "send", "Book a room with alpha")
        agent.serve_message = _AWAY["HTTP 503"]
        assert "your task 1" in turn(hub, "send", "Tomorrow", context_id)[1]
        assert turn(hub, "send", "beta", context_id)[1] == "Hello."
        agent.serve_message = None
        until(lambda: "Booked: Tomorrow" in text_of(hub.send("/task 1", context_id=context_id)) or None)


@pytest.mark.parametrize(
    ("answer", "told"),
    [("Tomorrow", "Your answer to its question was not kept."), ("明日です", "質問への回答は保存されていません。")],
)
@pytest.mark.parametrize("way", ["send", "stream"])
def test_without_a_store_a_person_reads_that_an_answer_is_not_kept_and_can_repeat_it(
    way: str, answer: str, told: str
) -> None:
    with AgentServer(asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url))
        agent.serve_message = _AWAY["HTTP 503"]
        context_id, failed = turn(hub, way, "Book a room")
        assert told not in failed
        agent.serve_message = None
        turn(hub, way, "Book a room", context_id)
        agent.serve_message = _AWAY["HTTP 503"]
        assert told in turn(hub, way, answer, context_id)[1]
        agent.serve_message = None
        assert turn(hub, way, answer, context_id)[1] == f"Booked: {answer}"
