"""Conversations: Gemini Enterprise sends back the contextId and nothing else, and that is enough."""

import pytest

from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, task, text
from tests.fakes.hub import OTHER_TOKEN, Hub, route
from tests.integration.conversation_agents import WAYS, asks_for_a_date, echo, turn


@WAYS
def test_the_first_turn_mints_a_context_and_later_turns_keep_it(way: str) -> None:
    with AgentServer(echo) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = turn(hub, way, "One")
        assert context_id
        assert [turn(hub, way, number, context_id)[0] for number in ("Two", "Three")] == [context_id] * 2
        other, _ = turn(hub, way, "One")
        assert other != context_id
    assert len({said.context_id for said in agent.said[:3]}) == 1
    assert agent.said[3].context_id != agent.said[0].context_id


@WAYS
def test_a_context_id_of_the_callers_own_making_is_kept_and_means_one_conversation(way: str) -> None:
    with AgentServer(echo) as agent:
        hub = Hub(route("alpha", agent.url))
        for own in ("my-conversation", "会話", "x" * 5000):
            assert [turn(hub, way, "Hi", own)[0] for _ in range(2)] == [own] * 2
    ids = [said.context_id for said in agent.said]
    assert ids[0] == ids[1] != ids[2] == ids[3] != ids[4] == ids[5]


@WAYS
def test_the_agents_own_context_is_used_from_then_on(way: str) -> None:
    with AgentServer(lambda _: [message(text("Hi"), context_id="agents-own")]) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = turn(hub, way, "One")
        assert context_id != "agents-own"
        assert turn(hub, way, "Two", context_id)[0] == context_id
    assert agent.said[1].context_id == "agents-own"


def test_a_conversation_with_two_agents_is_one_with_each() -> None:
    with (
        AgentServer(lambda _: [message(text("A"), context_id="of-alpha")]) as alpha,
        AgentServer(lambda _: [message(text("B"), context_id="of-beta")]) as beta,
    ):
        hub = Hub(route("alpha", alpha.url), route("beta", beta.url))
        context_id, _ = turn(hub, "send", "alpha")
        for name in ("beta", "alpha", "beta"):
            turn(hub, "send", name, context_id)
    assert alpha.said[1].context_id == "of-alpha"
    assert beta.said[1].context_id == "of-beta"
    assert beta.said[0].context_id not in ("of-alpha", None)


def test_a_failed_turn_does_not_lose_the_conversation() -> None:
    with AgentServer(lambda _: [message(text("Hi"), context_id="agents-own")]) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = turn(hub, "send", "One")
        agent.serve_message = lambda exchange: exchange.answer(500)
        turn(hub, "send", "Two", context_id)
        agent.serve_message = None
        turn(hub, "send", "Three", context_id)
    assert agent.said[2].context_id == "agents-own"


def test_another_caller_does_not_enter_a_conversation_by_its_id() -> None:
    with AgentServer(asks_for_a_date) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = turn(hub, "send", "Book a room")
        echoed, _ = turn(hub, "send", "Tomorrow", context_id, token=OTHER_TOKEN)
        mine, answer = turn(hub, "send", "Tomorrow", context_id)
    first, theirs, second = agent.said
    assert echoed == mine == context_id
    assert theirs.context_id not in (first.context_id, context_id)
    assert (theirs.task_id, second.task_id, answer) == (None, "task-1", "Booked: Tomorrow")


def test_two_callers_with_the_same_context_id_have_a_conversation_each() -> None:
    with AgentServer(echo) as agent:
        hub = Hub(route("alpha", agent.url))
        for token in ("one-callers-token", OTHER_TOKEN):
            turn(hub, "send", "Hi", "shared-id", token=token)
    assert len({said.context_id for said in agent.said}) == 2


@WAYS
def test_an_agent_sees_another_conversation_with_each_message_of_an_anonymous_caller_with_an_id_of_its_own(
    way: str,
) -> None:
    with AgentServer(echo) as agent:
        hub = Hub(route("alpha", agent.url), anonymous=True)
        assert [turn(hub, way, "Hi", "my-own", token=None)[0] for _ in range(2)] == ["my-own"] * 2
        minted, _ = turn(hub, way, "Hi", token=None)
        assert turn(hub, way, "And?", minted, token=None)[0] == minted
    first, second, third, fourth = (said.context_id for said in agent.said)
    assert first != second
    assert third == fourth != minted


@pytest.mark.parametrize("context", ["minted", "my-own"])
def test_a_restarted_hub_goes_on_with_the_same_conversation(context: str) -> None:
    with AgentServer(echo) as agent:
        context_id, _ = turn(Hub(route("alpha", agent.url)), "send", "One", None if context == "minted" else context)
        assert turn(Hub(route("alpha", agent.url)), "send", "Two", context_id)[0] == context_id
    assert agent.said[0].context_id == agent.said[1].context_id


def test_a_sticky_route_keeps_what_no_rule_takes() -> None:
    with AgentServer(echo) as alpha, AgentServer(echo) as beta:
        hub = Hub(route("alpha", alpha.url, sticky=True), route("beta", beta.url))
        context_id = hub.query("ask alpha")["contextId"]
        record = hub.query("And then?", contextId=context_id)
        assert (record["route"], record["reason"].split(":")[0]) == ("alpha", "sticky")
        assert hub.query("And then?")["route"] == "beta"
        assert hub.query("And then?", contextId=context_id, token=OTHER_TOKEN)["route"] == "beta"
        assert hub.query("beta, please", contextId=context_id)["route"] == "beta"
        assert hub.query("And then?", contextId=context_id)["route"] == "beta"


def test_a_follow_up_goes_to_the_agent_that_answered_before_in_the_same_conversation() -> None:
    with AgentServer(echo) as alpha, AgentServer(echo) as beta:
        hub = Hub(route("alpha", alpha.url, follow_ups=True), route("beta", beta.url))
        context_id = hub.query("ask alpha")["contextId"]
        record = hub.query("じゃあ海外は？", contextId=context_id)
        assert (record["route"], record["reason"].split(":")[0]) == ("alpha", "follow-up")
        assert len({said.context_id for said in alpha.said}) == 1
        for elsewhere in ({}, {"contextId": context_id, "token": OTHER_TOKEN}):
            assert hub.query("じゃあ海外は？", **elsewhere)["route"] == "beta"
        assert hub.query("富士山の高さは？", contextId=context_id)["route"] == "beta"


@pytest.mark.parametrize(
    "thanks", ["Thanks, that helps!", "なるほど、ありがとうございます。", "はい", "that's not what I asked"]
)
def test_a_follow_up_after_thanks_goes_to_the_agent_before_them(thanks: str) -> None:
    with AgentServer(echo) as alpha, AgentServer(echo) as beta:
        hub = Hub(route("alpha", alpha.url, follow_ups=True), route("beta", beta.url, follow_ups=True))
        context_id = hub.query("ask alpha")["contextId"]
        assert hub.query(thanks, contextId=context_id)["route"] == "beta"
        assert hub.query("and in Tokyo?", contextId=context_id)["route"] == "alpha"


def test_a_chat_in_one_text_is_routed_by_the_users_last_turn_and_reaches_the_agent_whole() -> None:
    chat = "system: Be brief.\nuser: ask beta\nassistant: Yes?\nuser: ask alpha"
    with AgentServer(echo) as alpha, AgentServer(echo) as beta:
        Hub(route("alpha", alpha.url), route("beta", beta.url)).send(chat)
    assert [said.text for said in alpha.said] == [chat]
    assert beta.said == []


def test_message_ids_reach_the_agent_unchanged() -> None:
    with AgentServer(echo) as agent:
        Hub(route("alpha", agent.url)).send("Hi", message_id="tck-complete-task-7")
    assert agent.said[0].message_id == "tck-complete-task-7"


def test_a_task_id_of_an_agent_is_not_the_hubs() -> None:
    with AgentServer(asks_for_a_date) as agent:
        events = Hub(route("alpha", agent.url)).stream("Book a room")
    assert "task-1" not in {event.get("taskId") for event in events}


def test_ids_of_absurd_length_are_not_remembered() -> None:
    long = "x" * 100_000
    events = [task("input-required", says="Which?", id=long, context_id=long)]
    with AgentServer(lambda _: events) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id, _ = turn(hub, "send", "Book")
        turn(hub, "send", "This one", context_id)
    assert (agent.said[1].context_id, agent.said[1].task_id) == (agent.said[0].context_id, None)
