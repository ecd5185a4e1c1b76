"""A task that is cancelled: at once, on every instance, and for good."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from a2a_hub.boundaries.kinds import User
from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, artifact, status, task, text, update
from tests.fakes.http_server import Exchange
from tests.fakes.hub import Hub, route, settle, streamed_text, text_of
from tests.fakes.task_client import Refused, TaskClient
from tests.integration.tasks.life import (
    NOT_CANCELABLE,
    PATIENCE_SECONDS,
    Gate,
    ask_back,
    echo,
    has_said,
    until,
    waiting,
)


def test_a_cancelled_task_ends_at_once_and_for_good(way: str, keeping: dict[str, str]) -> None:
    gate = Gate()

    def slow(said: ReceivedMessage) -> list[Json]:
        gate.wait()
        return echo(said)

    with AgentServer(slow) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        started = client.send("hello", at_once=True)
        gate.await_question()
        assert client.cancel(started.task_id).state == "canceled"
        gate.open()
        settle()
        assert client.get(started.task_id).state == "canceled"
        with pytest.raises(Refused) as refused:
            client.cancel(started.task_id)
    assert refused.value.code == NOT_CANCELABLE[client.binding]


def test_a_cancellation_reaches_a_run_on_another_instance(keeping: dict[str, str]) -> None:
    gate = Gate()

    def slow(said: ReceivedMessage) -> list[Json]:
        gate.wait()
        return echo(said)

    with AgentServer(slow) as agent:
        running = TaskClient(Hub(route("alpha", agent.url), settings=keeping), "1.0 JSONRPC")
        elsewhere = TaskClient(Hub(route("alpha", agent.url), settings=keeping), "1.0 JSONRPC")
        started = running.send("hello", at_once=True)
        gate.await_question()
        assert elsewhere.cancel(started.task_id).state == "canceled"
        gate.open()


def test_a_waiting_task_can_be_cancelled(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(ask_back) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        asked = client.send("Paint it", at_once=True)
        until(lambda: waiting(client, asked.task_id))
        assert client.cancel(asked.task_id).state == "canceled"
    assert agent.cancelled == ["task-1"]


class Obedient:
    """An agent that works until it is told not to, and says in its stream that it has stopped before it answers who told it."""

    def __init__(self) -> None:
        self.begun = Gate()
        self.told = threading.Event()
        self.stopped = threading.Event()

    def __call__(self, _: ReceivedMessage) -> Iterator[Json]:
        self.begun.wait()
        yield task("working")
        yield status("working", "On it")
        assert self.told.wait(PATIENCE_SECONDS)
        yield status("canceled")
        self.stopped.set()

    def serving(self) -> AgentServer:
        agent = AgentServer(self)
        behave = agent.behave

        def tell_first(exchange: Exchange) -> None:
            if b"CancelTask" in exchange.received.body:
                self.told.set()
                self.stopped.wait(0.5)
            behave(exchange)

        agent.behave = tell_first
        return agent


def test_an_agent_that_stops_when_it_is_told_to_has_not_failed(way: str, keeping: dict[str, str]) -> None:
    script = Obedient()
    with script.serving() as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        script.begun.open()
        started = client.send("hello", at_once=True)
        until(lambda: has_said(client, started.task_id, "On it"))
        assert client.cancel(started.task_id).state == "canceled"
        settle()
        assert client.get(started.task_id).state == "canceled"
    assert agent.cancelled == ["task-1"]


def test_a_cancellation_from_another_instance_is_passed_on_to_the_agent(keeping: dict[str, str]) -> None:
    script = Obedient()
    with script.serving() as agent:
        here, there = (TaskClient(Hub(route("alpha", agent.url), settings=keeping), "1.0 JSONRPC") for _ in range(2))
        script.begun.open()
        started = here.send("hello", at_once=True)
        until(lambda: has_said(there, started.task_id, "On it"))
        assert there.cancel(started.task_id).state == "canceled"
        until(lambda: agent.cancelled == ["task-1"])
        settle()


def test_an_agent_that_has_not_said_yet_what_its_task_is_is_told_when_it_has(
    keeping: dict[str, str],
) -> None:
    script = Obedient()
    with script.serving() as agent, ThreadPoolExecutor() as threads:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), "1.0 JSONRPC")
        started = client.send("hello", at_once=True)
        script.begun.await_question()
        cancelled = threads.submit(client.cancel, started.task_id)
        script.begun.open()
        assert cancelled.result(PATIENCE_SECONDS).state == "canceled"
        until(lambda: agent.cancelled == ["task-1"])
        settle()


def test_an_agent_that_wants_its_callers_own_token_is_told_with_it(keeping: dict[str, str]) -> None:
    with AgentServer(ask_back) as agent:
        client = TaskClient(Hub(route("alpha", agent.url, boundary=User()), settings=keeping), "1.0 JSONRPC")
        asked = client.send("Paint it")
        assert client.cancel(asked.task_id).state == "canceled"
    assert agent.cancelled == ["task-1"]


@pytest.mark.parametrize("streaming", [False, True], ids=["send", "stream"])
@pytest.mark.parametrize(
    ("asked", "begun", "told"),
    [
        ("hello", "", "This task was canceled before it was done."),
        ("こんにちは", "", "このタスクは完了前に中止されました。"),
        ("hello", "Half of it", "Half of it\n\nThis task was canceled before it was done."),
    ],
    ids=["English", "Japanese", "after half of the answer"],
)
def test_a_person_who_waits_reads_that_the_task_was_canceled(
    keeping: dict[str, str], asked: str, begun: str, told: str, *, streaming: bool
) -> None:
    gate = Gate()

    def slow(_: ReceivedMessage) -> Iterator[Json]:
        yield task("working")
        if begun:
            yield update(artifact("answer", text(begun)))
        gate.wait()

    with AgentServer(slow, streaming=streaming) as agent, ThreadPoolExecutor() as threads:
        settings = keeping | {"TASK_STORE_AFTER_SECONDS": "0"}
        hub, elsewhere = (Hub(route("alpha", agent.url), settings=settings) for _ in range(2))
        waiting = threads.submit(lambda: streamed_text(hub.stream(asked)) if streaming else text_of(hub.send(asked)))
        gate.await_question()
        until(lambda: "1" in text_of(elsewhere.send("/tasks")) or None)
        elsewhere.send("/cancel 1")
        read = waiting.result(PATIENCE_SECONDS)
        gate.open()
    # What an agent says in one piece comes too late.
    assert read == (told if streaming else told.rpartition("\n")[2])
