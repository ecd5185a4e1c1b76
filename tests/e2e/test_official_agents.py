"""Agents made with the official SDKs answer behind the hub; how each is called, the hub learns from its card."""

from typing import Any

import pytest

from tests.e2e.request_forms import JSONRPC, REST, Form
from tests.e2e.routed_hub import SDKS, RoutedHub, route_of

# One caller without a stream, and one with: what the hub makes of an agent is written in the other forms in `test_questions`.
forms = pytest.mark.parametrize("form", [JSONRPC[0], REST[-1]], ids=lambda form: form.name)
sdks = pytest.mark.parametrize("sdk", SDKS)
_VERSION_HEADER = {"0.3": "None", "1.x": "1.0"}


@forms
@sdks
@pytest.mark.parametrize("agent", ["telling", "telling-once", "rest"])
def test_an_agents_task_becomes_one_answer(routed: RoutedHub, form: Form, sdk: str, agent: str) -> None:
    told = form.ask(routed.hub.caller(), "富士山の高さは", skill=route_of(sdk, agent))
    assert told.text == "first, then: 富士山の高さは"


@forms
@sdks
def test_an_agent_that_works_on_after_its_answer_is_waited_for(routed: RoutedHub, form: Form, sdk: str) -> None:
    told = form.ask(routed.hub.caller(), "slowly, please", skill=route_of(sdk, "working"))
    assert told.text == "done at last: slowly, please"


@forms
@sdks
def test_an_agent_is_called_in_its_own_version_and_knows_the_conversation(
    routed: RoutedHub, form: Form, sdk: str
) -> None:
    route, version = route_of(sdk, "replying"), _VERSION_HEADER[sdk]
    first = form.ask(routed.hub.caller(), "一", skill=route)
    second = form.ask(routed.hub.caller(), "二", skill=route, context_id=first.context_id)
    assert (first.text, second.text) == (f"turn 1, version {version}: 一", f"turn 2, version {version}: 二")
    assert second.context_id == first.context_id


@sdks
def test_a_conversation_is_its_callers_own(routed: RoutedHub, sdk: str) -> None:
    route = route_of(sdk, "replying")
    first = JSONRPC[0].ask(routed.hub.caller(0), "mine", skill=route)
    other = JSONRPC[0].ask(routed.hub.caller(1), "and mine", skill=route, context_id=first.context_id)
    assert "turn 1, " in other.text
    assert "turn 2, " in JSONRPC[0].ask(routed.hub.caller(0), "x", skill=route, context_id=first.context_id).text


@sdks
@pytest.mark.parametrize("form", JSONRPC, ids=lambda form: form.name)
def test_an_agents_question_is_answered_by_the_next_message_of_the_conversation(
    routed: RoutedHub, form: Form, sdk: str
) -> None:
    params = form.params("どこですか", skill=route_of(sdk, "asking"))
    answer = routed.hub.caller().post("/", form.body(params), form.headers)
    state, text, context_id = _asked(answer.events() if form.streams else [answer.json])
    waiting = "input-required" if form.version == "0.3" else "TASK_STATE_INPUT_REQUIRED"
    assert (state, text) == (waiting if form.streams else None, "Which city? どの都市ですか")
    told = form.ask(routed.hub.caller(), "Osaka", context_id=context_id)
    assert told.text == "The city is Osaka."
    assert told.context_id == context_id


@sdks
def test_the_record_names_the_agent_that_answered(routed: RoutedHub, sdk: str) -> None:
    query = {"query": "hello", "route": route_of(sdk, "telling")}
    told = routed.hub.caller().post("/tools/query", query).json
    assert (told["route"], told["agent"], told["boundary"], told["error"]) == (
        query["route"],
        query["route"],
        "public",
        None,
    )
    assert told["answer"] == "first, then: hello"


def _asked(responses: list[Any]) -> tuple[str | None, str, str]:
    """The state, the question and the conversation of an answer that asks back."""
    result = responses[-1]["result"]
    event = next(iter(result.values())) if len(result) == 1 else result
    message = event["status"]["message"] if "status" in event else event
    text = "".join(part["text"] for part in message["parts"])
    return event.get("status", {}).get("state"), text, event["contextId"]
