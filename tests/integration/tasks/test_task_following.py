"""Tasks that are watched: by streams and subscriptions, here and on another instance."""

import sqlite3
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import GetTaskRequest, Task
from a2a_hub.a2a.reply import Piece, Text
from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, artifact, status, task, text, update
from tests.fakes.hub import OTHER_TOKEN, TOKEN, Hub, route, settle
from tests.fakes.task_client import Refused, TaskClient
from tests.fakes.task_instance import PATIENCE_SECONDS, Instance, a_call
from tests.integration.tasks.life import UNSUPPORTED, Gate, echo, ended, has_said, subscribed, until


def test_a_streamed_answer_is_a_task_that_can_be_asked_for(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(echo) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        events = client.stream("hello")
        assert [event.kind for event in events] == ["task", "status", "artifact", "status"]
        settle()
        kept = client.get(events[0].task_id)
    assert (kept.state, kept.text, kept.history) == ("completed", "You said hello", ["hello"])


def test_a_task_can_be_asked_for_from_the_streams_first_event_on(tmp_path: Path) -> None:
    gate = Gate()

    def script(_: Call) -> Iterator[Piece]:
        gate.wait()
        yield Text("done")

    file = tmp_path / "tasks.db"
    instance = Instance(file, script)
    with closing(sqlite3.connect(file)) as other, ThreadPoolExecutor() as threads:
        other.execute("BEGIN IMMEDIATE")
        stream = instance.stream("hello")
        shown = next(stream)
        assert isinstance(shown, Task)
        asked = threads.submit(instance.get, shown.id)
        with pytest.raises(A2AError):
            instance.kept.operations.get(GetTaskRequest(id=shown.id), a_call(owner="client:another"))
        other.rollback()
        assert asked.result(PATIENCE_SECONDS).id == shown.id
        gate.open()
        list(stream)


def test_every_subscriber_sees_the_same_events_in_the_same_order(way: str, keeping: dict[str, str]) -> None:
    gate = Gate()

    def two_steps(_: ReceivedMessage) -> Iterable[Json]:
        yield task("working")
        yield status("working", "Half of it")
        gate.wait()
        yield status("working", "All of it")
        yield status("completed", "Done")

    with AgentServer(two_steps) as agent:
        here = Hub(route("alpha", agent.url), settings=keeping)
        there = Hub(route("alpha", agent.url), settings=keeping)
        events = TaskClient(here, way).open_stream("go")
        task_id = next(events).task_id
        gate.await_question()
        until(lambda: has_said(TaskClient(there, way), task_id, "Half of it"))
        subscriptions = [until(partial(subscribed, TaskClient(hub, way), task_id)) for hub in (here, there, there)]
        firsts = [next(subscription) for subscription in subscriptions]
        gate.open()
        rest = [list(subscription) for subscription in subscriptions]
    assert {first.kind for first in firsts} == {"task"}
    assert {first.task_id for first in firsts} == {task_id}
    assert rest[1] == rest[2]
    assert [event.state for event in rest[0]][-1] == "completed"
    assert [event for event in rest[0] if event.text or event.said] == [
        event for event in rest[1] if event.text or event.said
    ]


def test_the_same_stream_on_another_instance_joins_the_first(way: str, keeping: dict[str, str]) -> None:
    gate = Gate()

    def slow(said: ReceivedMessage) -> Iterable[Json]:
        gate.wait()
        yield from echo(said)

    with AgentServer(slow) as agent:
        here, there = (Hub(route("alpha", agent.url), settings=keeping) for _ in range(2))
        first = TaskClient(here, way).open_stream("hello", message_id="the-same")
        task_id = next(first).task_id
        gate.await_question()
        until(lambda: has_said(TaskClient(there, way), task_id, ""))
        second = TaskClient(there, way).open_stream("hello", message_id="the-same")
        assert next(second).task_id == task_id
        gate.open()
        ends = [list(stream)[-1].state for stream in (first, second)]
    assert ends == ["completed", "completed"]
    assert len(agent.said) == 1


def test_the_same_stream_of_another_caller_is_a_task_of_their_own(way: str, keeping: dict[str, str]) -> None:
    gate = Gate()

    def slow(said: ReceivedMessage) -> Iterable[Json]:
        gate.wait()
        yield from echo(said)

    with AgentServer(slow) as agent:
        hub = Hub(route("alpha", agent.url), settings=keeping)
        streams = [
            TaskClient(hub, way, token=token).open_stream("hello", message_id="the-same")
            for token in (TOKEN, OTHER_TOKEN)
        ]
        task_ids = {next(stream).task_id for stream in streams}
        gate.open()
        ends = [list(stream)[-1].state for stream in streams]
    assert ends == ["completed", "completed"]
    assert len(task_ids) == len(agent.said) == 2


@pytest.mark.parametrize("begins", [False, True])
def test_a_person_who_watches_a_stream_is_told_when_it_takes_too_long(begins: bool, keeping: dict[str, str]) -> None:
    keeping["TASK_UI_SECONDS"] = "0.2"
    gate = Gate()

    def slow(_: ReceivedMessage) -> Iterable[Json]:
        yield task("working")
        if begins:
            yield update(artifact("a", text("It begins.")))
        gate.wait()
        yield status("completed")

    with AgentServer(slow) as agent:
        hub = Hub(route("alpha", agent.url), settings=keeping)
        events = TaskClient(hub, "0.3 JSONRPC", text_only=True).stream("hello")
        gate.open()
        settle()
    said = "".join(event.text for event in events)
    assert said.startswith("It begins.\n\nThis takes a while" if begins else "This takes a while")
    assert "/task 1" in said
    assert events[-1].state == "completed"


def test_in_1_0_there_is_nothing_to_subscribe_to_in_a_task_that_ended_and_in_0_3_it_is_shown(
    way: str, keeping: dict[str, str]
) -> None:
    with AgentServer(echo) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        started = client.send("hello", at_once=True)
        ended(client, started.task_id)
        if way.startswith("1.0"):
            with pytest.raises(Refused) as refused:
                list(client.subscribe(started.task_id))
            assert refused.value.code == UNSUPPORTED[client.binding]
        else:
            shown = list(client.subscribe(started.task_id))
            assert [(event.kind, event.state) for event in shown] == [
                ("task", "completed"),
                ("status", "completed"),
            ]
            assert shown[0].text == "You said hello"
