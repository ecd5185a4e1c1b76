"""An agent's own task, found again when the connection to it is lost, and not asked for twice."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, artifact, status, task, text, update
from tests.fakes.http_server import Behaviour, Exchange
from tests.fakes.hub import Hub, route
from tests.fakes.task_client import Seen, TaskClient
from tests.fakes.task_instance import until

ENDED = task("completed", artifact("a", text("one "), text("two")))


@pytest.fixture
def keeping(tmp_path: Path) -> dict[str, str]:
    return {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db", "TASK_CANCEL_POLL_SECONDS": "0.05"}


class Unsteady:
    """An agent's behaviour that fails the first few times that it is asked for a task."""

    def __init__(self, agent: AgentServer, fails: Behaviour, *, times: int) -> None:
        self._behave = agent.behave
        self._fails = fails
        self.left = times

    def __call__(self, exchange: Exchange) -> None:
        body = exchange.received.json if exchange.received.body else {}
        if body.get("method") == "GetTask" and self.left:
            self.left -= 1
            self._fails(exchange)
        else:
            self._behave(exchange)


def begins(_: ReceivedMessage) -> Iterable[Json]:
    """The stream ends before the task does."""
    yield task("working")
    yield update(artifact("a", text("one ")))


FAULTS: dict[str, Behaviour] = {
    "a reset": lambda exchange: exchange.reset(),
    "a closed connection": lambda exchange: exchange.close(),
    "HTTP 503": lambda exchange: exchange.answer(503),
    "HTTP 500": lambda exchange: exchange.answer(500),
    "HTTP 429": lambda exchange: exchange.answer(429),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("passes_tasks", [False, True], ids=["answers", "mirrored"])
def test_a_stream_that_broke_off_is_found_again_though_its_agent_is_away_for_a_moment(
    keeping: dict[str, str], fault: str, passes_tasks: bool
) -> None:
    with AgentServer(begins, tasks=iter([task("working"), ENDED])) as agent:
        agent.behave = unsteady = Unsteady(agent, FAULTS[fault], times=2)
        client = TaskClient(Hub(route("alpha", agent.url, passes_tasks=passes_tasks), settings=keeping), "1.0 JSONRPC")
        events = client.stream("hello")
        kept = _ended(client, events[0].task_id)
    assert (events[-1].state, kept.state, kept.text) == ("completed", "completed", "one two")
    assert (len(agent.said), unsteady.left) == (1, 0)


NONSENSE: dict[str, Behaviour] = {
    "no JSON": lambda exchange: exchange.send(b"data: {no\n\n"),
    "an error": lambda exchange: exchange.event({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603}}),
    "another task": lambda exchange: exchange.event({"jsonrpc": "2.0", "id": 1, "result": {"task": {"id": "1"}}}),
}


@pytest.mark.parametrize("nonsense", NONSENSE)
def test_an_agent_that_says_nonsense_in_a_stream_is_not_asked_what_it_meant(
    keeping: dict[str, str], nonsense: str
) -> None:
    def begins_and_fails(exchange: Exchange) -> None:
        exchange.start_stream()
        exchange.event(agent.written(exchange, task("working")))
        NONSENSE[nonsense](exchange)

    with AgentServer(serve_message=begins_and_fails, tasks=iter([ENDED])) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), "1.0 JSONRPC")
        events = client.stream("hello")
        kept = _ended(client, events[0].task_id)
    assert (events[-1].state, kept.state) == ("failed", "failed")
    assert [received.json["method"] for received in agent.asked] == ["SendStreamingMessage"]


def test_work_that_nobody_waits_for_may_take_longer_than_an_answer(keeping: dict[str, str]) -> None:
    states = iter([task("working")] * 4 + [ENDED])
    with AgentServer(lambda _: [task("working")], streaming=False, tasks=states) as agent:
        hub = Hub(route("alpha", agent.url, timeout_seconds=0.3), settings=keeping)
        client = TaskClient(hub, "1.0 JSONRPC")
        started = client.send("hello", at_once=True)
        ended = _ended(client, started.task_id)
    assert (ended.state, ended.text) == ("completed", "one two")
    assert len(agent.said) == 1


def test_work_that_nobody_waits_for_is_streamed_from_its_agent(keeping: dict[str, str]) -> None:
    def tells(_: ReceivedMessage) -> Iterable[Json]:
        yield task("working")
        yield status("working", "Half of it")
        yield status("completed", "Done")

    with AgentServer(tells) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), "1.0 JSONRPC")
        ended = _ended(client, client.send("hello", at_once=True).task_id)
    assert ended.state == "completed"
    assert "Half of it" in ended.history
    assert [said.streaming for said in agent.said] == [True]


def test_an_agent_that_stays_away_is_a_failed_task_that_says_so(keeping: dict[str, str]) -> None:
    with AgentServer(begins) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), "1.0 JSONRPC")
        events = client.stream("hello")
        kept = _ended(client, events[0].task_id)
    assert (events[-1].state, kept.state) == ("failed", "failed")
    assert "Agent alpha" in kept.said
    assert len(agent.said) == 1


def _ended(client: TaskClient, task_id: str) -> Seen:
    def look() -> Seen | None:
        seen = client.get(task_id)
        return seen if seen.state in ("completed", "failed", "canceled") else None

    return until(look)
