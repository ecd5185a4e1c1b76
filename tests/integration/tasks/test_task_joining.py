"""An answer to a task's question that is sent again while it is worked on is given once."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Binding, Message, SendMessageConfiguration, Task, Version, text_of
from a2a_hub.a2a.reply import Piece, Question, Text
from a2a_hub.identity.principal import Principal
from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json
from tests.fakes.hub import OTHER_TOKEN, Hub, route
from tests.fakes.task_client import WAYS, Refused, Seen, TaskClient
from tests.fakes.task_instance import PATIENCE_SECONDS, Instance, a_call, a_request, events_of
from tests.integration.tasks.life import PROGRAM_WAYS, UNSUPPORTED, Gate, ask_back, echo, ended, until, waiting


class AskingBack:
    """An agent that asks back, and takes its time over the answer."""

    def __init__(self) -> None:
        self.gate = Gate()

    def __call__(self, said: ReceivedMessage) -> Iterable[Json]:
        if said.task_id:
            self.gate.wait()
        yield from ask_back(said)


def asked_back(client: TaskClient) -> Seen:
    """A task whose agent has asked something."""
    task_id = client.send("Paint it", at_once=True).task_id
    return until(lambda: waiting(client, task_id))


def the_answer(task_id: str) -> dict[str, Any]:
    return {"text": "red", "message_id": "answer", "at_once": True, "task_id": task_id}


@pytest.mark.parametrize("named", [True, False], ids=["names the task", "names the context alone"])
@pytest.mark.parametrize("apart", [True, False], ids=["on another instance", "on the same"])
def test_an_answer_that_is_sent_twice_at_once_is_given_once(
    way: str, named: bool, apart: bool, keeping: dict[str, str]
) -> None:
    script = AskingBack()
    with AgentServer(script) as agent:
        here, there = (TaskClient(Hub(route("alpha", agent.url), settings=keeping), way) for _ in range(2))
        asked = asked_back(here)
        place = {"task_id": asked.task_id} if named else {"context_id": asked.context_id}
        first = here.send("red", message_id="answer", at_once=True, **place)
        script.gate.await_question()
        again = (there if apart else here).send("red", message_id="answer", at_once=True, **place)
        assert again.task_id == first.task_id == asked.task_id
        script.gate.open()
        done = ended(here, asked.task_id)
    assert (done.state, done.text, done.history[0::2]) == ("completed", "Then red it is", ["Paint it", "red"])
    assert [said.text for said in agent.said] == ["Paint it", "red"]


def test_a_stream_of_the_same_answer_has_the_same_events(way: str, keeping: dict[str, str]) -> None:
    script = AskingBack()
    with AgentServer(script) as agent:
        here, there = (TaskClient(Hub(route("alpha", agent.url), settings=keeping), way) for _ in range(2))
        asked = asked_back(here)
        first = here.open_stream("red", message_id="answer", context_id=asked.context_id)
        assert next(first).task_id == asked.task_id
        script.gate.await_question()
        again = there.open_stream("red", message_id="answer", context_id=asked.context_id)
        assert next(again).task_id == asked.task_id
        script.gate.open()
        texts = ["".join(event.text for event in stream) for stream in (first, again)]
    assert texts == ["Then red it is"] * 2
    assert [said.text for said in agent.said] == ["Paint it", "red"]


def test_who_waits_for_the_same_answer_reads_what_it_brought_and_no_more(tmp_path: Path) -> None:
    gate = Gate()

    def script(call: Call) -> Iterator[Piece]:
        if call.task and call.task.before:
            gate.wait()
            yield Text("Then red it is")
        else:
            yield Text("There are two.")
            yield Question("Which colour?")

    here, there = (Instance(tmp_path / "tasks.db", script) for _ in range(2))
    with ThreadPoolExecutor() as threads:
        asked = here.send("Paint it")
        assert isinstance(asked, Task)
        answer: dict[str, Any] = {"message_id": "answer", "context_id": asked.context_id, "text_only": True}
        first = threads.submit(here.send, "red", **answer)
        gate.await_question()
        again = threads.submit(there.send, "red", **answer)
        until(lambda: there.far.asked["entries"])
        gate.open()
        said = [each.result(PATIENCE_SECONDS) for each in (first, again)]
    assert [text_of(each) for each in said if isinstance(each, Message)] == ["Then red it is"] * 2
    assert (here.agent.asked, there.agent.asked) == (2, 0)


@pytest.mark.parametrize(
    ("differs", "asked"),
    [
        ({}, 1),
        ({"version": Version.V0_3}, 2),
        ({"binding": Binding.HTTP_JSON}, 2),
        ({"streaming": True}, 2),
        ({"principal": Principal(subject="client:another")}, 2),
    ],
    ids=lambda value: "-".join(value) or "nothing" if isinstance(value, dict) else str(value),
)
def test_the_same_message_is_the_same_request_only_if_it_is_sent_the_same_way(
    tmp_path: Path, differs: dict[str, Any], asked: int
) -> None:
    gate = Gate()

    def script(_: Call) -> Iterator[Piece]:
        gate.wait()
        yield Text("answer")

    instance = Instance(tmp_path / "tasks.db", script)
    request = a_request("hello", SendMessageConfiguration(return_immediately=True), message_id="same")
    here = instance.kept.send(request, a_call())
    call, sending = structs.replace(a_call(), **differs), instance.kept
    there: object
    if call.streaming:
        events = events_of(sending.stream(request, call))
        # Its agent is asked by now.
        gate.await_question()
        gate.open()
        there = next(events)
    else:
        there = sending.send(request, call)
    gate.open()
    assert isinstance(here, Task)
    assert isinstance(there, Task)
    assert len({here.id, there.id}) == asked


@pytest.mark.parametrize("way", PROGRAM_WAYS)
@pytest.mark.parametrize(
    "other",
    [{"text": "blue"}, {"message_id": "another"}, {"token": OTHER_TOKEN}],
    ids=lambda other: next(iter(other)),
)
def test_another_answer_is_refused_while_the_first_is_worked_on(
    way: str, other: dict[str, str], keeping: dict[str, str]
) -> None:
    script = AskingBack()
    with AgentServer(script) as agent:
        hub = Hub(route("alpha", agent.url), settings=keeping)
        client = TaskClient(hub, way)
        asked = asked_back(client)
        answer = the_answer(asked.task_id)
        client.send(**answer)
        script.gate.await_question()
        caller = TaskClient(hub, way, token=other["token"]) if "token" in other else client
        with pytest.raises(Refused):
            caller.send(**(answer | {name: value for name, value in other.items() if name != "token"}))
        script.gate.open()
        assert ended(client, asked.task_id).text == "Then red it is"


@pytest.mark.parametrize("way", PROGRAM_WAYS)
def test_an_answer_that_is_sent_again_after_the_end_is_refused(way: str, keeping: dict[str, str]) -> None:
    keeping["TASK_REPEAT_SECONDS"] = "0"
    with AgentServer(ask_back) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        asked = asked_back(client)
        answer = the_answer(asked.task_id)
        client.send(**answer)
        assert ended(client, asked.task_id).state == "completed"
        with pytest.raises(Refused) as refused:
            client.send(**answer)
    assert refused.value.code == UNSUPPORTED[client.binding]


@pytest.mark.parametrize("has_ended", [True, False], ids=["has ended", "is worked on"])
@pytest.mark.parametrize("way", [way for way in WAYS if way.startswith("0.3")])
def test_a_message_of_a_user_interface_that_names_a_task_without_a_question_begins_another_in_its_context(
    way: str, has_ended: bool, keeping: dict[str, str]
) -> None:
    gate = Gate()

    def slow_at_first(said: ReceivedMessage) -> Iterable[Json]:
        if said.text == "Paint it":
            gate.wait()
        return echo(said)

    with AgentServer(slow_at_first) as agent:
        # gemini-cli keeps the id of a turn that its person broke off, and names it in all that follow.
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way, text_only=True)
        left = client.send("Paint it", at_once=True)
        gate.await_question()
        if has_ended:
            gate.open()
            assert ended(client, left.task_id).state == "completed"
        answers = [client.stream(text, task_id=left.task_id)[-1] for text in ("And the door?", "And the roof?")]
        gate.open()
        assert ended(client, left.task_id).text == "You said Paint it"
        assert [client.get(answer.task_id).text for answer in answers] == [
            "You said And the door?",
            "You said And the roof?",
        ]
    assert {answer.context_id for answer in answers} == {left.context_id}


def test_a_message_of_a_user_interface_that_names_a_task_it_has_left_answers_the_question_of_another_in_its_context(
    keeping: dict[str, str],
) -> None:
    with AgentServer(ask_back) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), "0.3 JSONRPC")
        left = asked_back(client)
        client.send("red", task_id=left.task_id)
        asked = client.send("Paint the door", task_id=left.task_id, at_once=True)
        until(lambda: waiting(client, asked.task_id))
        assert client.send("blue", task_id=left.task_id).text == "Then blue it is"
        assert client.get(asked.task_id).state == "completed"
