"""Tasks that are kept: in both versions, over both bindings, the same (A2A 1.0.1 §3.1)."""

import itertools

import pytest

from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json
from tests.fakes.hub import OTHER_TOKEN, Hub, route, settle
from tests.fakes.task_client import Refused, TaskClient
from tests.integration.tasks.life import (
    NOT_FOUND,
    PROGRAM_WAYS,
    UNSUPPORTED,
    Answering,
    Gate,
    ask_back,
    echo,
    ended,
    until,
    waiting,
)


def test_whoever_does_not_wait_finds_the_answer_in_the_task(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(echo) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        started = client.send("hello", at_once=True)
        assert (started.kind, started.history) == ("task", ["hello"])
        done = ended(client, started.task_id)
    assert (done.state, done.text, done.context_id) == ("completed", "You said hello", started.context_id)


def test_a_short_answer_that_a_person_waits_for_leaves_no_task(keeping: dict[str, str]) -> None:
    keeping |= {"TASK_STORE_AFTER_SECONDS": "20", "TASK_REPEAT_SECONDS": "0"}
    with AgentServer(echo) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), "1.0 JSONRPC", text_only=True)
        assert client.send("hello").text == "You said hello"
        assert client.list()["totalSize"] == 0


def test_a_short_answer_that_a_program_waits_for_is_a_task_that_can_be_asked_for(
    way: str, keeping: dict[str, str]
) -> None:
    keeping["TASK_STORE_AFTER_SECONDS"] = "20"
    with AgentServer(echo) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        answer = client.send("hello")
        if way == "0.3 JSONRPC":
            assert (answer.kind, answer.text) == ("message", "You said hello"), "a user interface"
        else:
            assert (answer.kind, answer.state, answer.text) == ("task", "completed", "You said hello")
            assert client.get(answer.task_id) == answer


def test_a_message_that_an_agent_streams_alone_is_no_task(keeping: dict[str, str]) -> None:
    with AgentServer(echo) as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=True), settings=keeping)
        client = TaskClient(hub, "1.0 JSONRPC")
        assert [event.kind for event in client.stream("hello")] == ["message"]
        settle()
        assert client.list()["totalSize"] == 0


def test_an_answer_that_takes_long_is_stored_while_it_is_waited_for(way: str, keeping: dict[str, str]) -> None:
    gate = Gate()

    def slow(said: ReceivedMessage) -> list[Json]:
        gate.wait()
        return echo(said)

    with AgentServer(slow) as agent:
        hub = Hub(route("alpha", agent.url), settings=keeping)
        client = TaskClient(hub, way)
        with Answering(lambda: client.send("hello")) as answer:
            gate.await_question()
            listed = until(lambda: TaskClient(hub, "1.0 JSONRPC").list()["tasks"])
            assert listed[0]["status"]["state"] in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")
            gate.open()
        kind = "message" if way == "0.3 JSONRPC" else "task"
        assert (answer.value.kind, answer.value.text) == (kind, "You said hello")
        assert ended(client, listed[0]["id"]).text == "You said hello"


def test_a_question_back_is_answered_by_task_id(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(ask_back) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        asked = client.send("Paint it", at_once=True)
        asked = until(lambda: waiting(client, asked.task_id))
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


@pytest.mark.parametrize("way", PROGRAM_WAYS)
def test_a_message_for_a_task_that_ended_is_refused_and_in_1_0_one_of_another_context(
    way: str, keeping: dict[str, str]
) -> None:
    with AgentServer(ask_back) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        asked = client.send("Paint it", at_once=True)
        until(lambda: waiting(client, asked.task_id))
        if way.startswith("1.0"):
            with pytest.raises(Refused, match="contextId"):
                client.send("blue", task_id=asked.task_id, context_id="another")
            client.send("blue", task_id=asked.task_id)
        else:
            answered = client.send("blue", task_id=asked.task_id, context_id="another")
            assert answered.context_id == asked.context_id, "0.3 has no such rule: the task's context counts"
        with pytest.raises(Refused, match="has ended") as refused:
            client.send("green", task_id=asked.task_id)
        with pytest.raises(Refused) as unknown:
            client.send("green", task_id="no-such-task")
    assert refused.value.code == UNSUPPORTED[client.binding]
    assert unknown.value.code == NOT_FOUND[client.binding]


def test_somebody_elses_task_does_not_exist(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(ask_back) as agent:
        hub = Hub(route("alpha", agent.url), settings=keeping)
        owner, other = TaskClient(hub, way), TaskClient(hub, way, token=OTHER_TOKEN)
        mine = owner.send("Paint it", at_once=True)
        until(lambda: waiting(owner, mine.task_id))
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
        until(lambda: waiting(client, asked.task_id))
        client.send("blue", task_id=asked.task_id)
        assert client.get(asked.task_id, historyLength=1).history == ["blue"]
        everything = client.get(asked.task_id).history
        none = client.get(asked.task_id, historyLength=0).history
    assert none == (everything if client.version == "0.3" else [])


def test_a_send_shows_as_much_of_the_history_as_it_asks_for_streamed_or_not(way: str, keeping: dict[str, str]) -> None:
    with AgentServer(ask_back) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), way)
        everything = ["Paint it"] if client.version == "0.3" else []
        assert client.stream("Paint it")[0].history == ["Paint it"]
        assert client.stream("Paint it", historyLength=0)[0].history == everything
        assert client.send("Paint it", historyLength=0, at_once=True).history == everything


def test_the_list_is_paged_and_filtered_and_its_tokens_are_its_own(keeping: dict[str, str]) -> None:
    with AgentServer(echo) as agent:
        hub = Hub(route("alpha", agent.url), settings=keeping)
        client = TaskClient(hub, "1.0 JSONRPC")
        ids = [client.send(f"number {number}", at_once=True).task_id for number in range(5)]
        for task_id in ids:
            ended(client, task_id)
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


def test_the_list_is_in_the_order_of_the_times_that_it_shows_and_filtered_by_them(
    keeping: dict[str, str],
) -> None:
    """A store is slower than a status is (§3.1.4: greater than or equal)."""
    with AgentServer(echo) as agent:
        client = TaskClient(Hub(route("alpha", agent.url), settings=keeping), "1.0 JSONRPC")
        for task_id in [client.send(f"number {number}", at_once=True).task_id for number in range(4)]:
            ended(client, task_id)
        times = [item["status"]["timestamp"] for item in client.list()["tasks"]]
        assert times == sorted(times, reverse=True)
        for at, time in enumerate(times):
            since = client.list(statusTimestampAfter=time)
            assert since["tasks"][-1]["status"]["timestamp"] == time
            assert since["totalSize"] >= at + 1
            assert all(item["status"]["timestamp"] >= time for item in since["tasks"])
