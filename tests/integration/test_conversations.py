"""Conversations: Gemini Enterprise sends back the contextId and nothing else, and that is enough."""

from typing import Any

import pytest

from tests.fakes.agent_server import AgentServer, Said
from tests.fakes.agent_wire import Json, artifact, message, status, task, text, update
from tests.fakes.hub import OTHER_TOKEN, Hub, route, streamed_text, text_of

_WAYS = pytest.mark.parametrize("way", ["send", "send 1.0", "stream", "query"])


@_WAYS
def test_the_first_turn_mints_a_context_and_later_turns_keep_it(way: str) -> None:
    with AgentServer(_echo) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = _turn(hub, way, "One")
        assert context_id
        assert [_turn(hub, way, number, context_id)[0] for number in ("Two", "Three")] == [context_id] * 2
        other, _ = _turn(hub, way, "One")
        assert other != context_id
    assert len({said.context_id for said in agent.said[:3]}) == 1
    assert agent.said[3].context_id != agent.said[0].context_id


@_WAYS
def test_a_context_id_of_the_callers_own_making_is_kept_and_means_one_conversation(way: str) -> None:
    with AgentServer(_echo) as agent:
        hub = Hub(route("alpha", agent.url))
        for own in ("my-conversation", "会話", "x" * 5000):
            assert [_turn(hub, way, "Hi", own)[0] for _ in range(2)] == [own] * 2
    ids = [said.context_id for said in agent.said]
    assert ids[0] == ids[1] != ids[2] == ids[3] != ids[4] == ids[5]


@_WAYS
def test_the_agents_own_context_is_used_from_then_on(way: str) -> None:
    with AgentServer(lambda _: [message(text("Hi"), context_id="agents-own")]) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = _turn(hub, way, "One")
        assert context_id != "agents-own"
        assert _turn(hub, way, "Two", context_id)[0] == context_id
    assert agent.said[1].context_id == "agents-own"


def test_a_conversation_with_two_agents_is_one_with_each() -> None:
    with (
        AgentServer(lambda _: [message(text("A"), context_id="of-alpha")]) as alpha,
        AgentServer(lambda _: [message(text("B"), context_id="of-beta")]) as beta,
    ):
        hub = Hub(route("alpha", alpha.url), route("beta", beta.url))
        context_id, _ = _turn(hub, "send", "alpha")
        for name in ("beta", "alpha", "beta"):
            _turn(hub, "send", name, context_id)
    assert alpha.said[1].context_id == "of-alpha"
    assert beta.said[1].context_id == "of-beta"
    assert beta.said[0].context_id not in ("of-alpha", None)


def test_a_failed_turn_does_not_lose_the_conversation() -> None:
    with AgentServer(lambda _: [message(text("Hi"), context_id="agents-own")]) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = _turn(hub, "send", "One")
        agent.serve_message = lambda exchange: exchange.answer(500)
        _turn(hub, "send", "Two", context_id)
        agent.serve_message = None
        _turn(hub, "send", "Three", context_id)
    assert agent.said[2].context_id == "agents-own"


def test_another_caller_does_not_enter_a_conversation_by_its_id() -> None:
    with AgentServer(_asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = _turn(hub, "send", "Book a room")
        echoed, _ = _turn(hub, "send", "Tomorrow", context_id, token=OTHER_TOKEN)
        mine, answer = _turn(hub, "send", "Tomorrow", context_id)
    first, theirs, second = agent.said
    assert echoed == mine == context_id
    assert theirs.context_id not in (first.context_id, context_id)
    assert (theirs.task_id, second.task_id, answer) == (None, "task-1", "Booked: Tomorrow")


def test_two_callers_with_the_same_context_id_have_a_conversation_each() -> None:
    with AgentServer(_echo) as agent:
        hub = Hub(route("alpha", agent.url))
        for token in ("one-callers-token", OTHER_TOKEN):
            _turn(hub, "send", "Hi", "shared-id", token=token)
    assert len({said.context_id for said in agent.said}) == 2


@pytest.mark.parametrize("context", ["minted", "my-own"])
def test_a_restarted_hub_goes_on_with_the_same_conversation(context: str) -> None:
    with AgentServer(_echo) as agent:
        context_id, _ = _turn(
            Hub(route("alpha", agent.url)), "send", "One", None if context == "minted" else context
        )
        assert _turn(Hub(route("alpha", agent.url)), "send", "Two", context_id)[0] == context_id
    assert agent.said[0].context_id == agent.said[1].context_id


@_WAYS
def test_a_question_is_passed_on_and_the_next_message_answers_it(way: str) -> None:
    with AgentServer(_asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url), route("beta", "http://127.0.0.1:9"))
        context_id, question = _turn(hub, way, "Book a room with alpha")
        assert question == "For which day?"
        record = hub.query("beta tomorrow", contextId=context_id)
        assert (record["answer"], record["route"]) == ("Booked: beta tomorrow", "alpha")
        assert record["reason"].startswith("waiting:")
    assert [said.task_id for said in agent.said] == [None, "task-1"]


def test_a_question_ends_a_stream_as_input_required() -> None:
    with AgentServer(_asks_for_a_date) as agent:
        last = Hub(route("alpha", agent.url)).stream("Book a room")[-1]
    assert (last["status"]["state"], last["final"]) == ("input-required", True)
    assert text_of(last["status"]["message"]) == "For which day?"


def test_after_the_answer_the_conversation_is_routed_again() -> None:
    with AgentServer(_asks_for_a_date) as alpha, AgentServer(_echo) as beta:
        hub = Hub(route("alpha", alpha.url), route("beta", beta.url))
        context_id, _ = _turn(hub, "send", "Book a room with alpha")
        _turn(hub, "send", "Tomorrow", context_id)
        assert _turn(hub, "send", "beta", context_id)[1] == "beta"
    assert len(alpha.said) == 2


def test_a_skill_that_is_asked_for_by_name_wins_over_a_waiting_task() -> None:
    with AgentServer(_asks_for_a_date) as alpha, AgentServer(_echo) as beta:
        hub = Hub(route("alpha", alpha.url), route("beta", beta.url))
        context_id, _ = _turn(hub, "send", "Book a room with alpha")
        answer = hub.send("Hi", context_id=context_id, metadata={"skill": "beta"})
        assert text_of(answer) == "Hi"
    # alpha's task is none of beta's.
    assert beta.said[0].task_id is None


def test_an_answer_that_the_agent_could_not_take_is_not_sent_again_as_a_new_request() -> None:
    with AgentServer(_asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = _turn(hub, "send", "Book a room")
        agent.serve_message = lambda exchange: exchange.answer(500)
        _turn(hub, "send", "Tomorrow", context_id)
    assert [said.task_id for said in agent.said] == [None, "task-1"]


def test_a_task_that_waits_is_not_taken_for_one_of_another_agent_that_said_nothing() -> None:
    with AgentServer(_asks_for_a_date) as alpha, AgentServer(_echo) as beta:
        beta.serve_message = lambda exchange: exchange.answer(500)
        hub = Hub(route("alpha", alpha.url), route("beta", beta.url))
        context_id, _ = _turn(hub, "send", "Book a room with alpha")
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
    with AgentServer(_asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = _turn(hub, "send", "Book a room")

        def forgot(exchange: Any) -> None:
            if "taskId" in exchange.received.json["params"]["message"]:
                exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "gone"}})
            else:
                agent.reply(exchange, [message(text("For which room?"))])

        agent.serve_message = forgot
        assert _turn(hub, "send", "Tomorrow", context_id)[1] == "For which room?"
    assert [said.task_id for said in agent.said] == [None, "task-1", None]


def test_a_task_still_waits_after_its_agent_could_not_be_reached() -> None:
    with AgentServer(_asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = _turn(hub, "send", "Book a room")
        agent.serve_message = lambda exchange: exchange.answer(503)
        _turn(hub, "send", "Tomorrow", context_id)
        agent.serve_message = None
        assert _turn(hub, "send", "Tomorrow", context_id)[1] == "Booked: Tomorrow"


def test_a_sticky_route_keeps_what_no_rule_takes() -> None:
    with AgentServer(_echo) as alpha, AgentServer(_echo) as beta:
        hub = Hub(route("alpha", alpha.url, sticky=True), route("beta", beta.url))
        context_id = hub.query("ask alpha")["contextId"]
        record = hub.query("And then?", contextId=context_id)
        assert (record["route"], record["reason"].split(":")[0]) == ("alpha", "sticky")
        assert hub.query("And then?")["route"] == "beta"
        assert hub.query("And then?", contextId=context_id, token=OTHER_TOKEN)["route"] == "beta"
        assert hub.query("beta, please", contextId=context_id)["route"] == "beta"
        assert hub.query("And then?", contextId=context_id)["route"] == "beta"


def test_a_follow_up_goes_to_the_agent_that_answered_before_in_the_same_conversation() -> None:
    with AgentServer(_echo) as alpha, AgentServer(_echo) as beta:
        hub = Hub(route("alpha", alpha.url, follow_ups=True), route("beta", beta.url))
        context_id = hub.query("ask alpha")["contextId"]
        record = hub.query("じゃあ海外は？", contextId=context_id)
        assert (record["route"], record["reason"].split(":")[0]) == ("alpha", "follow-up")
        assert len({said.context_id for said in alpha.said}) == 1
        for elsewhere in ({}, {"contextId": context_id, "token": OTHER_TOKEN}):
            assert hub.query("じゃあ海外は？", **elsewhere)["route"] == "beta"
        assert hub.query("富士山の高さは？", contextId=context_id)["route"] == "beta"


def test_message_ids_reach_the_agent_unchanged() -> None:
    with AgentServer(_echo) as agent:
        Hub(route("alpha", agent.url)).send("Hi", message_id="tck-complete-task-7")
    assert agent.said[0].message_id == "tck-complete-task-7"


def test_a_task_id_of_an_agent_is_not_the_hubs() -> None:
    with AgentServer(_asks_for_a_date) as agent:
        events = Hub(route("alpha", agent.url)).stream("Book a room")
    assert "task-1" not in {event.get("taskId") for event in events}


def test_ids_of_absurd_length_are_not_remembered() -> None:
    long = "x" * 100_000
    events = [task("input-required", says="Which?", id=long, context_id=long)]
    with AgentServer(lambda _: events) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = _turn(hub, "send", "Book")
        _turn(hub, "send", "This one", context_id)
    assert (agent.said[1].context_id, agent.said[1].task_id) == (agent.said[0].context_id, None)


def _echo(said: Said) -> list[Json]:
    return [message(text(said.text))]


def _asks_for_a_date(said: Said) -> list[Json]:
    """Asks back once for each task."""
    context_id = said.context_id or ""
    if said.task_id is None:
        return [
            task("working", context_id=context_id),
            status("input-required", "For which day?", context_id=context_id),
        ]
    assert said.task_id == "task-1"
    return [task("completed", artifact("a", text(f"Booked: {said.text}")), context_id=context_id)]


def _turn(hub: Hub, way: str, asked: str, context_id: str | None = None, **options: Any) -> tuple[str, str]:
    """The context id and the text that came back."""
    match way:
        case "query":
            fields = {"contextId": context_id} if context_id else {}
            record = hub.query(asked, **fields, **options)
            return record["contextId"], record["answer"]
        case "stream":
            events = hub.stream(asked, context_id=context_id, **options)
            last = events[-1]["status"]
            question = text_of(last["message"]) if "message" in last else ""
            return events[-1]["contextId"], streamed_text(events) + question
    version = "1.0" if way == "send 1.0" else "0.3"
    answer = hub.send(asked, context_id=context_id, version=version, **options)
    return answer["contextId"], text_of(answer)
