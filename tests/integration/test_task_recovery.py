"""An agent's own task, found again when the connection to it is lost, and not asked for twice."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from a2a_hub.a2a.call import CurrentTask
from a2a_hub.a2a.model import Event, Message, Part, Role, Task, TaskState
from a2a_hub.boundaries.sources import CredentialSources
from a2a_hub.http.client import HttpClient
from functions.hub.downstream.a2a_transport import a2a_agent
from functions.hub.downstream.interface import AgentRequest
from functions.hub.failure import DownstreamFailed
from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, artifact, status, task, text, update
from tests.fakes.http_server import Behaviour, Exchange
from tests.fakes.hub import Hub, person, route
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
        hub = Hub(route("alpha", agent.url, retry_seconds=0), settings=keeping)
        client = TaskClient(hub, "1.0 JSONRPC")
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


@pytest.mark.parametrize(
    ("version", "methods"),
    [("1.0", ["GetTask", "SubscribeToTask"]), ("0.3", ["tasks/get", "tasks/get"])],
)
def test_a_turn_that_is_tried_again_follows_the_agents_task_and_sends_no_message(
    version: str, methods: list[str]
) -> None:
    def subscribed(exchange: Exchange) -> None:
        exchange.start_stream()
        for event in (task("working", artifact("a", text("one "))), ENDED):
            exchange.event(agent.written(exchange, event))

    states = iter([task("working"), ENDED])
    with AgentServer(version=version, tasks=states, answers={"SubscribeToTask": subscribed}) as agent:
        events = _tried_again(agent)
    assert [received.json["method"] for received in agent.asked] == methods
    assert isinstance(events[-1], Task)
    assert events[-1].status.state is TaskState.COMPLETED


def test_a_turn_that_is_tried_again_is_asked_with_the_same_message_where_its_task_is_lost() -> None:
    with AgentServer(lambda _: [ENDED]) as agent:
        events = _tried_again(agent)
    assert [said.message_id for said in agent.said] == ["the-message"]
    assert [type(event) for event in events] == [Task]


def test_a_task_that_its_agent_has_lost_while_it_was_polled_is_a_broken_connection() -> None:
    with AgentServer(lambda _: [task("working")], streaming=False) as agent, pytest.raises(DownstreamFailed) as failed:
        _tried_again(agent)
    assert (failed.value.failure.fault, failed.value.failure.transient) == ("cut", True)


def _tried_again(agent: AgentServer) -> list[Event]:
    """The events of a turn whose task at the agent is known."""
    guard = a2a_agent(route("alpha", agent.url), http=HttpClient(), sources=CredentialSources())
    message = Message(message_id="the-message", role=Role.USER, parts=(Part(text="hello"),))
    request = AgentRequest(
        call=person(task=CurrentTask(id="ours")), message=message, streaming=True, running_task_id="task-1"
    )
    return list(guard.ask(request))
