"""The `route` extension: a program that activates it learns why it got its answer; `/tools/query` with `dryRun` only chooses."""

import json
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.identity.principal import Principal
from a2a_hub.routing.hub_card import ROUTE_EXTENSION
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json, data, message, status, task, text
from tests.fakes.hub import TOKEN, Hub, route
from tests.fakes.signatures import signed

ACTIVE = {"a2a-version": "1.0", "a2a-extensions": ROUTE_EXTENSION}
CITATION = {"uri": "https://example.com/a", "title": "A"}
ANSWERS: list[Json] = [message(text("It is high."), data({"citations": [CITATION]}))]
DECLINES: list[Json] = [message(text("I do not know."), data({"declines": "nothing_known"}))]


def _last(hub: Hub, said: str, *, streams: bool, headers: dict[str, str] = ACTIVE) -> dict[str, Any]:
    """Return the metadata of a turn's last event."""
    options: dict[str, Any] = {"version": "1.0", "modes": ["text/plain"], "headers": headers}
    if streams:
        (last,) = hub.stream(said, **options)[-1].values()
    else:
        last = hub.send(said, **options)
        last = last.get("task", last)
    found: dict[str, Any] = last.get("metadata") or {}
    return found


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("passes_tasks", [False, True])
def test_the_last_event_says_why_and_who_answered(streams: bool, passes_tasks: bool) -> None:
    with AgentServer(lambda _: ANSWERS, version="1.0") as agent:
        hub = Hub(route("docs", agent.url, passes_tasks=passes_tasks))
        told = _last(hub, "Ask docs: how high?", streams=streams)[ROUTE_EXTENSION]
        assert _last(hub, "Ask docs", streams=streams, headers={"a2a-version": "1.0"}) == {}
    timings = told.pop("timings")
    assert timings["totalMs"] >= timings["downstreamMs"] > 0
    assert told == {
        "requestId": hub.log[0]["requestId"],
        "route": "docs",
        "rule": "keyword",
        "words": ["docs"],
        "reason": 'keyword: "docs" belongs to "docs"',
        "agent": "Agent docs",
        "agentJa": "担当docs",
        "boundary": "public",
        "version": "1.0",
        "binding": "JSONRPC",
        "citations": [CITATION],
    }


def test_a_stored_turn_says_it_too_and_who_declined(tmp_path: Path) -> None:
    with AgentServer(lambda _: DECLINES, version="0.3") as docs, AgentServer(lambda _: ANSWERS, version="0.3") as talk:
        routes = (route("talk", talk.url), route("docs", docs.url, fallbacks=("talk",)))
        hub = Hub(*routes, settings={"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"})
        told = _last(hub, "How high?", streams=True)[ROUTE_EXTENSION]
    assert (told["route"], told["rule"], told["version"]) == ("talk", "default", "0.3")
    assert told["declined"] == [{"route": "docs", "agent": "Agent docs", "reason": "nothing_known"}]


@pytest.mark.parametrize("is_operator", [True, False])
def test_operators_alone_learn_what_the_verifier_dropped(is_operator: bool) -> None:
    dropped = {"text": "It is 9 m high.", "flaws": ["figure"]}
    answers = [message(text("It is high."), data({"dropped": [dropped]}), data({"dropped": 7}))]
    principal = Principal(subject="google:1", email="ada@example.com", hosted_domain="example.com")
    settings = {"OPERATORS": "ada@example.com" if is_operator else "bob@example.com"}
    with AgentServer(lambda _: answers, version="1.0") as agent:
        hub = Hub(route("docs", agent.url), behind_gate=True, settings=settings)
        said = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Ask docs"}]}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": said}}).encode()
        headers = signed(principal, "POST", "/", body) | ACTIVE
        response = hub.request("POST", "/", body, token=None, headers=headers)
    assert isinstance(response.body, bytes)
    ((result,),) = (json.loads(response.body)["result"].values(),)
    assert result["metadata"][ROUTE_EXTENSION].get("dropped") == ([dropped] if is_operator else None)


def test_a_question_and_a_failure_say_it_too() -> None:
    asks: list[Json] = [task("input-required", text("Which one?"))]
    with AgentServer(lambda _: asks) as agent:
        hub = Hub(route("docs", agent.url), route("gone", "http://127.0.0.1:9"))
        assert _last(hub, "Ask docs", streams=True)[ROUTE_EXTENSION]["route"] == "docs"
        failed = _last(hub, "Ask gone", streams=True)[ROUTE_EXTENSION]
    assert (failed["route"], failed["error"]) == ("gone", "down")


def test_a_user_interface_never_gets_it_and_only_the_card_of_a_caller_declares_it() -> None:
    with AgentServer(lambda _: [task("working"), status("completed", "It is high.")]) as agent:
        hub = Hub(route("docs", agent.url))
        assert ROUTE_EXTENSION not in str(hub.stream("Ask docs", headers={"a2a-extensions": ROUTE_EXTENSION}))
    public = hub.request("GET", "/.well-known/agent-card.json").body
    _, extended = hub.post(
        "/", {"jsonrpc": "2.0", "id": 1, "method": "GetExtendedAgentCard"}, token=TOKEN, headers={"a2a-version": "1.0"}
    )
    assert (ROUTE_EXTENSION in str(public), ROUTE_EXTENSION in json.dumps(extended)) == (False, True)


def test_a_dry_run_asks_no_agent_and_says_what_was_passed_over() -> None:
    hidden = route("secret", "http://127.0.0.1:9", allow_clients=("somebody",), priority=1)
    with AgentServer(lambda _: ANSWERS) as agent:
        hub = Hub(route("room", agent.url), route("leave", agent.url), hidden, route("docs", agent.url))
        told = hub.query("A secret room for leave", dryRun=True)
        assert agent.received == []
    assert (told["route"], told["answer"], told["reason"]) == ("leave", "", 'keyword: "leave" belongs to "leave"')
    assert (told["rule"], told["words"]) == ("keyword", ["leave"])
    assert told["passedOver"] == {"room": f'keyword: "room" belongs to "room" (priority {sum(b"room")})'}
    assert hub.post("/tools/query", {"query": "x", "dryRun": "yes"})[0] == 400
