"""Tasks that are kept: in both versions, over both bindings, the same (design §6; A2A 1.0.1 §3.1)."""

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import pytest

from tests.fakes.agent_server import AgentServer, Said
from tests.fakes.agent_wire import Json, artifact, message, status, task, text, update
from tests.fakes.hub import OTHER_TOKEN, Hub, route, settle
from tests.fakes.task_client import WAYS, Refused, Seen, TaskClient

Found = TypeVar("Found")
PATIENCE_SECONDS = 20.0
NOT_FOUND = {"JSONRPC": -32001, "HTTP+JSON": 404}
UNSUPPORTED = {"JSONRPC": -32004, "HTTP+JSON": 400}
NOT_CANCELABLE = {"JSONRPC": -32002, "HTTP+JSON": 400}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def keeping(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The settings of a hub that keeps tasks."""
    yield {
        "TASK_STORE": f"sqlite:{tmp_path}/tasks.db",
        "TASK_STORE_AFTER_SECONDS": "0.05",
        "TASK_LOOK_SECONDS": "0.05",
        "TASK_UI_SECONDS": "10",
    }
    settle()


class Gate:
    """Lets an agent's answers through when the test says so."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self._open = threading.Event()

    def wait(self) -> None:
        self.asked.release()
        assert self._open.wait(PATIENCE_SECONDS)

    def open(self) -> None:
        self._open.set()

    def await_question(self) -> None:
        assert self.asked.acquire(timeout=PATIENCE_SECONDS)


def echo(said: Said) -> list[Json]:
    return [message(text(f"You said {said.text}"))]


def ask_back(said: Said) -> list[Json]:
    if said.task_id:
        return [message(text(f"Then {said.text} it is"))]
    return [task("input-required", says="Which colour?")]


def test_whoever_does_not_wait_finds_the_answer_in_the_task(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(echo) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        started = client.send("hello", at_once=True)
        assert (started.kind, started.history) == ("task", ["hello"])
        ended = _ended(client, started.task_id)
    assert (ended.state, ended.text, ended.context_id) == ("completed", "You said hello", started.context_id)


def test_a_streamed_answer_is_a_task_that_can_be_asked_for(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(echo) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        events = client.stream("hello")
        assert [event.kind for event in events] == ["task", "status", "artifact", "status"]
        settle()
        kept = client.get(events[0].task_id)
    assert (kept.state, kept.text, kept.history) == ("completed", "You said hello", ["hello"])


def test_a_short_answer_that_is_waited_for_leaves_no_task(keeping: dict[str, str]) -> None:
    keeping["TASK_STORE_AFTER_SECONDS"] = "20"
    with AgentServer(echo) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), "1.0 JSONRPC")
        assert client.send("hello").text == "You said hello"
        assert client.list()["totalSize"] == 0


def test_an_answer_that_takes_long_is_stored_while_it_is_waited_for(
    way: str, keeping: dict[str, str]
) -> None:
    gate = Gate()

    def slow(said: Said) -> list[Json]:
        gate.wait()
        return echo(said)

    with AgentServer(slow) as agent:
        hub = Hub(route("alpha", agent.url), settings=keeping)
        client = TaskClient(hub, way)
        with _Answer(lambda: client.send("hello")) as answer:
            gate.await_question()
            listed = _until(lambda: TaskClient(hub, "1.0 JSONRPC").list()["tasks"])
            assert listed[0]["status"]["state"] in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")
            gate.open()
        assert (answer.value.kind, answer.value.text) == ("message", "You said hello")
        assert _ended(client, listed[0]["id"]).text == "You said hello"


def test_a_question_back_is_answered_by_task_id(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(ask_back) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        asked = client.send("Paint it", at_once=True)
        asked = _until(lambda: _waiting(client, asked.task_id))
        assert asked.said == "Which colour?"
        answered = client.send("blue", task_id=asked.task_id)
        ended = client.get(asked.task_id)
    assert answered.context_id == asked.context_id
    assert (ended.state, ended.text) == ("completed", "Then blue it is")
    assert ended.history == ["Paint it", "Which colour?", "blue"]


def test_in_a_user_interface_the_context_alone_answers_a_question(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(ask_back) as agent:
        first = Hub(route("alpha", agent.url), settings=keeping)
        asked = TaskClient(first, way, text_only=True).send("Paint it")
        assert (asked.kind, asked.text) == ("message", "Which colour?")
        # Another instance of the hub knows of the question from the store alone.
        second = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way, text_only=True)
        answered = second.send("blue", context_id=asked.context_id)
    assert (answered.kind, answered.text) == ("message", "Then blue it is")
    assert agent.said[-1].task_id is not None


def test_a_message_for_a_task_that_ended_or_of_another_context_is_refused(
    way: str, keeping: dict[str, str]
) -> None:
    with AgentServer(ask_back) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        asked = client.send("Paint it", at_once=True)
        _until(lambda: _waiting(client, asked.task_id))
        with pytest.raises(Refused, match="contextId"):
            client.send("blue", task_id=asked.task_id, context_id="another")
        client.send("blue", task_id=asked.task_id)
        with pytest.raises(Refused, match="has ended") as refused:
            client.send("green", task_id=asked.task_id)
        with pytest.raises(Refused) as unknown:
            client.send("green", task_id="no-such-task")
    assert refused.value.code == UNSUPPORTED[client.binding]
    assert unknown.value.code == NOT_FOUND[client.binding]


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
        _until(lambda: _waiting(client, asked.task_id))
        assert client.cancel(asked.task_id).state == "canceled"
    assert agent.cancelled == ["task-1"]


def test_every_subscriber_sees_the_same_events_in_the_same_order(way: str, keeping: dict[str, str]) -> None:
    gate = Gate()

    def two_steps(_: Said) -> Iterable[Json]:
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
        _until(lambda: _said(TaskClient(there, way), task_id, "Half of it"))
        subscriptions = [
            _until(partial(_subscribed, TaskClient(hub, way), task_id)) for hub in (here, there, there)
        ]
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

    def slow(said: Said) -> Iterable[Json]:
        gate.wait()
        yield from echo(said)

    with AgentServer(slow) as agent:
        here, there = (Hub(route("alpha", agent.url), settings=keeping) for _ in range(2))
        first = TaskClient(here, way).open_stream("hello", message_id="the-same")
        task_id = next(first).task_id
        gate.await_question()
        _until(lambda: _said(TaskClient(there, way), task_id, ""))
        second = TaskClient(there, way).open_stream("hello", message_id="the-same")
        assert next(second).task_id == task_id
        gate.open()
        ends = [list(stream)[-1].state for stream in (first, second)]
    assert ends == ["completed", "completed"]
    assert len(agent.said) == 1


@pytest.mark.parametrize("begins", [False, True])
def test_a_person_who_watches_a_stream_is_told_when_it_takes_too_long(
    begins: bool, keeping: dict[str, str]
) -> None:
    keeping["TASK_UI_SECONDS"] = "0.2"
    gate = Gate()

    def slow(_: Said) -> Iterable[Json]:
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


def test_there_is_nothing_to_subscribe_to_in_a_task_that_ended(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(echo) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        started = client.send("hello", at_once=True)
        _ended(client, started.task_id)
        with pytest.raises(Refused) as refused:
            list(client.subscribe(started.task_id))
    assert refused.value.code == UNSUPPORTED[client.binding]


def test_somebody_elses_task_does_not_exist(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(ask_back) as agent:
        hub = Hub(route("alpha", agent.url), settings=keeping)
        owner, other = TaskClient(hub, way), TaskClient(hub, way, token=OTHER_TOKEN)
        mine = owner.send("Paint it", at_once=True)
        _until(lambda: _waiting(owner, mine.task_id))
        for attempt in (
            lambda: other.get(mine.task_id),
            lambda: other.cancel(mine.task_id),
            lambda: list(other.subscribe(mine.task_id)),
            lambda: other.send("blue", task_id=mine.task_id),
        ):
            with pytest.raises(Refused) as refused:
                attempt()
            assert refused.value.code == NOT_FOUND[other.binding]
        assert TaskClient(hub, "1.0 HTTP+JSON", token=OTHER_TOKEN).list()["tasks"] == []
        # The context alone leads nobody into somebody else's task.
        assert other.send("blue", context_id=mine.context_id).text != "Then blue it is"
        assert owner.get(mine.task_id).state == "input-required"


def test_a_task_shows_as_much_of_its_history_as_was_asked_for(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(ask_back) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        asked = client.send("Paint it", at_once=True)
        _until(lambda: _waiting(client, asked.task_id))
        client.send("blue", task_id=asked.task_id)
        assert client.get(asked.task_id, historyLength=1).history == ["blue"]
        everything = client.get(asked.task_id).history
        none = client.get(asked.task_id, historyLength=0).history
    assert none == (everything if client.version == "0.3" else [])


def test_the_list_is_paged_and_filtered_and_its_tokens_are_its_own(keeping: dict[str, str]) -> None:
    with AgentServer(echo) as agent:
        hub = Hub(route("alpha", agent.url), settings=keeping)
        client = TaskClient(hub, "1.0 JSONRPC")
        ids = [client.send(f"number {number}", at_once=True).task_id for number in range(5)]
        for task_id in ids:
            _ended(client, task_id)
        first = client.list(pageSize=2)
        second = client.list(pageSize=2, pageToken=first["nextPageToken"])
        third = client.list(pageSize=2, pageToken=second["nextPageToken"])
        pages = [[item["id"] for item in page["tasks"]] for page in (first, second, third)]
        assert sorted(itertools.chain.from_iterable(pages)) == sorted(ids)
        assert (third["nextPageToken"], first["totalSize"], first["pageSize"]) == ("", 5, 2)
        assert "artifacts" not in first["tasks"][0]
        assert client.list(includeArtifacts=True, pageSize=1)["tasks"][0]["artifacts"]
        assert client.list(status="TASK_STATE_WORKING")["tasks"] == []
        context_id = first["tasks"][0]["contextId"]
        assert [item["id"] for item in client.list(contextId=context_id)["tasks"]] == [pages[0][0]]
        for bad in (
            {"pageSize": 0},
            {"pageSize": 101},
            {"pageToken": "forged"},
            {"pageToken": first["nextPageToken"], "contextId": context_id},
            {"historyLength": -1},
            {"status": "TASK_STATE_DANCING"},
            {"statusTimestampAfter": "yesterday"},
        ):
            with pytest.raises(Refused, match=next(iter(bad))):
                client.list(**bad)
        with pytest.raises(Refused, match="pageToken"):
            TaskClient(hub, "1.0 JSONRPC", token=OTHER_TOKEN).list(pageToken=first["nextPageToken"])


class _Answer:
    """What a call gives back that goes on beside the test."""

    value: Seen

    def __init__(self, call: Callable[[], Seen]) -> None:
        self._call = call

    def __enter__(self) -> Self:
        def run() -> None:
            self.value = self._call()

        self._thread = threading.Thread(target=run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()


def _subscribed(client: TaskClient, task_id: str) -> Iterator[Seen] | None:
    try:
        return client.subscribe(task_id)
    except Refused:
        return None


def _said(client: TaskClient, task_id: str, text: str) -> bool:
    try:
        return client.get(task_id).said == text
    except Refused:
        return False


def _waiting(client: TaskClient, task_id: str) -> Seen | None:
    seen = client.get(task_id)
    return seen if seen.state == "input-required" else None


def _ended(client: TaskClient, task_id: str) -> Seen:
    """The task once it has ended; a subscription waits for that."""
    with contextlib.suppress(Refused):
        list(client.subscribe(task_id))
    return client.get(task_id)


def _until(look: Callable[[], Found | None]) -> Found:
    """What `look` gives once it is something."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
    return found
