"""Agents that ask something back: the next message of the conversation is the answer, and it is given once."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, artifact, message, status, task, text, update
from tests.fakes.hub import Hub, route, streamed_text, text_of
from tests.fakes.task_client import TaskClient
from tests.integration.conversation_agents import WAYS, asks_for_a_date, echo, turn


@WAYS
def test_a_question_is_passed_on_and_the_next_message_answers_it(way: str) -> None:
    with AgentServer(asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url), route("beta", "http://127.0.0.1:9"))
        context_id, question = turn(hub, way, "Book a room with alpha")
        assert question == "For which day?"
        record = hub.query("beta tomorrow", contextId=context_id)
        assert (record["answer"], record["route"]) == ("Booked: beta tomorrow", "alpha")
        assert record["reason"].startswith("waiting:")
    assert [said.task_id for said in agent.said] == [None, "task-1"]


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "unstored"])
def test_a_question_ends_a_stream_as_input_required(tmp_path: Path, stored: bool) -> None:
    settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"} if stored else {}
    with AgentServer(asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url), settings=settings)
        *before, last = hub.stream("Book a room")
        assert (last["status"]["state"], last["final"]) == ("input-required", True)
        assert text_of(last["status"]["message"]) == "For which day?"
        # User interfaces show artifacts; programs have the status.
        assert streamed_text(before) == "For which day?"
        of_program = hub.stream("Book a room", version="1.0", modes=["text/plain"])
    assert not any("artifactUpdate" in event for event in of_program)


def test_a_question_follows_the_text_before_it_as_a_paragraph() -> None:
    script = [
        task("working"),
        update(artifact("a", text("Two rooms are free."))),
        status("input-required", "Which one?"),
    ]
    with AgentServer(lambda _: script) as agent:
        *before, last = Hub(route("alpha", agent.url)).stream("Book a room")
    assert streamed_text(before) == "Two rooms are free.\n\nWhich one?"
    assert text_of(last["status"]["message"]) == "Which one?"


def test_an_agent_that_waits_without_a_word_has_answered_without_any_text(tmp_path: Path) -> None:
    with AgentServer(lambda _: [task("working"), status("input-required")]) as agent:
        hub = Hub(route("alpha", agent.url), settings={"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"})
        assert streamed_text(hub.stream("Book a room")).startswith("The agent “Agent alpha”")


def test_after_the_answer_the_conversation_is_routed_again() -> None:
    with AgentServer(asks_for_a_date) as alpha, AgentServer(echo) as beta:
        hub = Hub(route("alpha", alpha.url), route("beta", beta.url))
        context_id, _ = turn(hub, "send", "Book a room with alpha")
        turn(hub, "send", "Tomorrow", context_id)
        assert turn(hub, "send", "beta", context_id)[1] == "beta"
    assert len(alpha.said) == 2


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "unstored"])
@WAYS
def test_while_an_agent_works_on_the_answer_the_conversation_is_routed_again(
    tmp_path: Path, way: str, stored: bool
) -> None:
    meanwhile: list[str] = []

    def works(said: ReceivedMessage) -> list[Json]:
        if said.text == "Tomorrow":
            meanwhile.append(turn(hub, way, "beta", context_id)[1])
        return asks_for_a_date(said)

    with AgentServer(works) as alpha, AgentServer(echo) as beta:
        settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"} if stored else {}
        hub = Hub(route("alpha", alpha.url), route("beta", beta.url), settings=settings)
        context_id, _ = turn(hub, way, "Book a room with alpha")
        assert turn(hub, way, "Tomorrow", context_id)[1] == "Booked: Tomorrow"
    assert meanwhile == ["beta"]
    assert [said.task_id for said in alpha.said] == [None, "task-1"]


def test_a_skill_that_is_asked_for_by_name_wins_over_a_waiting_task() -> None:
    with AgentServer(asks_for_a_date) as alpha, AgentServer(echo) as beta:
        hub = Hub(route("alpha", alpha.url), route("beta", beta.url))
        context_id, _ = turn(hub, "send", "Book a room with alpha")
        answer = hub.send("Hi", context_id=context_id, metadata={"skill": "beta"})
        assert text_of(answer) == "Hi"
    # alpha's task is none of beta's.
    assert beta.said[0].task_id is None


def test_an_answer_that_the_agent_could_not_take_is_not_sent_again_as_a_new_request() -> None:
    with AgentServer(asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = turn(hub, "send", "Book a room")
        agent.serve_message = lambda exchange: exchange.answer(500)
        turn(hub, "send", "Tomorrow", context_id)
    assert [said.task_id for said in agent.said] == [None, "task-1"]


def test_a_task_that_waits_is_not_taken_for_one_of_another_agent_that_said_nothing() -> None:
    with AgentServer(asks_for_a_date) as alpha, AgentServer(echo) as beta:
        beta.serve_message = lambda exchange: exchange.answer(500)
        hub = Hub(route("alpha", alpha.url), route("beta", beta.url))
        context_id, _ = turn(hub, "send", "Book a room with alpha")
        hub.send("Hi", context_id=context_id, metadata={"skill": "beta"})
        assert not hub.query("Tomorrow", contextId=context_id)["reason"].startswith("waiting:")


@pytest.mark.parametrize("state", ["input-required", "auth-required"])
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Book it", "The agent “Agent alpha” needs more information"),
        ("予約して", "エージェント「担当alpha」が追加の情報を求めています"),
    ],
)
def test_a_question_without_words_gets_words(state: str, asked: str, expected: str) -> None:
    with AgentServer(lambda _: [task("working"), status(state)]) as agent:
        hub = Hub(route("alpha", agent.url))
        assert text_of(hub.send(asked)).startswith(expected)
        assert text_of(hub.stream(asked)[-1]["status"]["message"]).startswith(expected)


def test_what_was_said_before_a_question_stands_apart_from_it() -> None:
    events = [
        task("working"),
        update(artifact("a", text("Three rooms are free."))),
        status("input-required", "Which one?"),
    ]
    with AgentServer(lambda _: events) as agent:
        hub = Hub(route("alpha", agent.url))
        assert text_of(hub.send("Book a room")) == "Three rooms are free.\n\nWhich one?"
        assert hub.query("Book a room")["answer"] == "Three rooms are free.\n\nWhich one?"


def test_a_question_that_is_said_twice_is_asked_once() -> None:
    events = [task("working"), status("input-required", "Which?"), task("input-required", says="Which?")]
    with AgentServer(lambda _: events) as agent:
        hub = Hub(route("alpha", agent.url))
        assert hub.query("Book")["answer"] == "Which?"


@pytest.mark.parametrize("code", [-32001, -32004])
def test_an_answer_to_a_task_that_is_gone_starts_a_new_one(code: int) -> None:
    with AgentServer(asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = turn(hub, "send", "Book a room")

        def forgot(exchange: Any) -> None:
            if "taskId" in exchange.received.json["params"]["message"]:
                exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "gone"}})
            else:
                agent.reply(exchange, [message(text("For which room?"))])

        agent.serve_message = forgot
        assert turn(hub, "send", "Tomorrow", context_id)[1] == "For which room?"
    assert [said.task_id for said in agent.said] == [None, "task-1", None]


@pytest.mark.parametrize("passes_tasks", [False, True])
@pytest.mark.parametrize("way", ["1.0 JSONRPC", "0.3 HTTP+JSON"])
@pytest.mark.parametrize("send", ["send", "stream"])
def test_what_an_agent_did_after_a_sign_in_answers_the_next_message(
    tmp_path: Path, passes_tasks: bool, way: str, send: str
) -> None:
    """A2A 1.0.1 §7.6: the sign-in may reach the agent by itself."""
    booked = task("completed", artifact("a", text("Booked.")))
    with AgentServer(lambda _: [task("auth-required", says="Sign in.")], tasks=[booked]) as agent:
        hub = Hub(
            route("alpha", agent.url, passes_tasks=passes_tasks), settings={"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"}
        )
        client = TaskClient(hub, way)
        asked = client.send("Book a room")
        agent.serve_message = lambda exchange: exchange.json(
            {"jsonrpc": "2.0", "id": 1, "error": {"code": -32004, "message": "The task has ended"}}
        )
        client.stream("Done", task_id=asked.task_id) if send == "stream" else client.send("Done", task_id=asked.task_id)
        told = client.get(asked.task_id)
    assert (asked.state, told.state, told.text) == ("auth-required", "completed", "Booked.")
    assert {said.task_id for said in agent.said[1:]} == {"task-1"}


def test_an_answer_to_a_question_whose_task_has_completed_is_a_new_request(tmp_path: Path) -> None:
    with AgentServer(asks_for_a_date, tasks=[task("completed", artifact("a", text("Never mind.")))]) as agent:
        hub = Hub(route("alpha", agent.url), settings={"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"})
        client = TaskClient(hub, "1.0 JSONRPC")
        asked = client.send("Book a room")

        def ended(exchange: Any) -> None:
            if "taskId" in exchange.received.json["params"]["message"]:
                exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": -32004, "message": "ended"}})
            else:
                agent.reply(exchange, [message(text("For which room?"))])

        agent.serve_message = ended
        assert client.send("Tomorrow", task_id=asked.task_id).text == "For which room?"


@pytest.mark.parametrize("code", [-32001, -32004])
def test_an_answer_that_the_agent_has_begun_to_work_on_is_not_sent_again_as_a_new_request(code: int) -> None:
    with AgentServer(asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = turn(hub, "stream", "Book a room")

        def forgets(exchange: Any) -> None:
            agent.reply(exchange, [update(artifact("a", text("It is boo")))])
            exchange.event({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "gone"}})

        agent.serve_message = forgets
        assert turn(hub, "stream", "Tomorrow", context_id)[1].startswith("It is boo\n\n")
    assert [said.task_id for said in agent.said] == [None, "task-1"]


def test_a_task_still_waits_after_its_agent_could_not_be_reached() -> None:
    with AgentServer(asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = turn(hub, "send", "Book a room")
        agent.serve_message = lambda exchange: exchange.answer(503)
        turn(hub, "send", "Tomorrow", context_id)
        agent.serve_message = None
        assert turn(hub, "send", "Tomorrow", context_id)[1] == "Booked: Tomorrow"


def asks_three_times(said: ReceivedMessage) -> list[Json]:
    """Says something with each question; its task holds all of it, and a stream begins with what it held before."""
    turns = said.text.count("again")
    told = [artifact(f"a-{number}", text(f"Step {number}.")) for number in range(turns + 1)]
    context_id = said.context_id or ""
    first = task("working", *told[:-1], context_id=context_id)
    state = "input-required" if turns < 2 else "completed"
    asked = "Go on?" if state == "input-required" else None
    return [first, update(told[-1], context_id=context_id), status(state, asked, context_id=context_id)]


@WAYS
def test_what_an_agent_said_before_it_asked_is_not_told_again_with_what_it_says_then(way: str) -> None:
    with AgentServer(asks_three_times) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, first = turn(hub, way, "Begin")
        _, second = turn(hub, way, "again", context_id)
        _, third = turn(hub, way, "again and again", context_id)
    told = [[f"Step {number}." in answer for number in range(3)] for answer in (first, second, third)]
    assert told == [[True, False, False], [False, True, False], [False, False, True]]
    assert ("Go on?" in first, "Go on?" in second, "Go on?" in third) == (True, True, False)


@WAYS
def test_an_agent_that_has_nothing_to_add_is_not_taken_for_one_that_failed(way: str) -> None:
    def says_it_once(said: ReceivedMessage) -> list[Json]:
        context_id = said.context_id or ""
        state, asked = ("input-required", "More?") if said.task_id is None else ("completed", None)
        return [task(state, artifact("a", text("All there is.")), says=asked, context_id=context_id)]

    with AgentServer(says_it_once) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, first = turn(hub, way, "Begin")
        _, second = turn(hub, way, "No", context_id)
    assert "All there is." in first
    assert second == "All there is."
