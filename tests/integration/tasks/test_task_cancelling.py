"""A task that is cancelled: at once, on every instance, and for good."""

import pytest

from tests.fakes.agent_server import AgentServer, Said
from tests.fakes.agent_wire import Json
from tests.fakes.hub import Hub, route, settle
from tests.fakes.task_client import Refused, TaskClient
from tests.integration.tasks.life import NOT_CANCELABLE, Gate, ask_back, echo, until, waiting


def test_a_cancelled_task_ends_at_once_and_for_good(way: str, keeping: dict[str, str]) -> None:
    gate = Gate()

    def slow(said: Said) -> list[Json]:
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

    def slow(said: Said) -> list[Json]:
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
