"""Agents in the form of the `development-tool` extension, and who uses them: people behind a text UI, and programs."""

import itertools
import json
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.a2a.model import Binding, Version
from a2a_hub.telemetry import audit
from a2a_hub.telemetry.start import start_audit_log
from tests.fakes.agent_wire import Json
from tests.fakes.development_agents import GeminiCliAgent, ToolAgent
from tests.fakes.hub import Hub, route, text_of
from tests.integration.conversation_agents import turn

_BOTH = pytest.mark.parametrize("way", ["send", "stream"])
_VERSIONS = pytest.mark.parametrize("version", ["0.3", "1.0"])
_ids = itertools.count(1)


def hub_of(url: str, folder: Path | None = None, *, extensions: Sequence[str] = (URI,)) -> Hub:
    settings = {"TASK_STORE": f"sqlite:{folder / 'tasks.db'}"} if folder else {}
    code = route("code", url, extensions=tuple(extensions), passes_tasks=True)
    return Hub(code, route("beta", "http://127.0.0.1:9"), settings=settings)


@_BOTH
@pytest.mark.parametrize("camel", [False, True], ids=["snake_case", "camelCase"])
def test_a_person_decides_by_text_and_the_agent_gets_it_as_it_spells(way: str, camel: bool) -> None:
    with ToolAgent(camel=camel) as agent:
        hub = hub_of(agent.url)
        context_id, asked = turn(hub, way, "codeで一覧をお願いします")
        assert asked.startswith(
            "エージェント「担当code」が次のコマンドの実行を求めています：\n\n    ls call-1\n\n1. 今回だけ許可 (Allow Once)\n"
        )
        assert turn(hub, way, "はい", context_id)[1] == "I run it.\n\nThere is one file."
    first, decision = agent.messages
    assert first["metadata"] == {URI: {"workspace_path": ""}}
    expected = ("toolCallId", "selectedOptionId") if camel else ("tool_call_id", "selected_option_id")
    assert decision["parts"][0]["data"] == dict(zip(expected, ("call-1", "proceed_once"), strict=True))
    assert (decision["taskId"], decision["contextId"]) == ("t-1", "c-1")
    assert [message["extensions"] for message in agent.messages] == [[URI], [URI]]
    assert agent.activated == [True, True]


@_BOTH
def test_calls_that_wait_together_are_asked_about_in_turn(way: str) -> None:
    with ToolAgent(pending=3) as agent:
        hub = hub_of(agent.url)
        context_id, first = turn(hub, way, "code: list")
        _, second = turn(hub, way, "yes", context_id)
        _, third = turn(hub, way, "no", context_id)
        _, answer = turn(hub, way, "1", context_id)
    assert "    ls call-1\n\n(2 more will be asked after this one.)\n" in first
    assert second.startswith("I run it.\n\nThere is one file.")
    assert "    ls call-2\n\n(1 more will be asked after this one.)\n" in second
    assert "    ls call-3\n\n1. Allow Once\n" in third
    assert answer == "I run it.\n\nThere is one file."
    chosen = [message["parts"][0]["data"]["selected_option_id"] for message in agent.messages[1:]]
    assert chosen == ["proceed_once", "cancel", "proceed_once"]


def test_a_person_sees_a_line_for_a_thought_and_for_a_tool_at_work() -> None:
    with ToolAgent() as agent:
        hub = hub_of(agent.url)
        asked = hub.stream("code: list")
        done = hub.stream("yes", context_id=asked[-1]["contextId"])
    lines = [text_of(event["status"]["message"]) for event in asked + done if "message" in event.get("status", {})]
    assert [line.split("\n")[0] for line in lines] == [
        "Planning",
        "The agent “Agent code” wants to run this command:",
        "Running: ls call-1",
    ]
    assert done[-1]["status"]["state"] == "completed"


def test_an_agent_that_does_without_the_extension_is_not_asked_for_it_on_behalf_of_a_person() -> None:
    with ToolAgent(required=False) as agent:
        hub = hub_of(agent.url)
        assert turn(hub, "send", "code: list")[1] == "May I run ls?"
        # Gemini Enterprise asks for what the hub's card declares, and accepts no data.
        hub.send("code: list", headers={"x-a2a-extensions": URI})
    assert agent.activated == [False, False]
    assert not any("metadata" in message for message in agent.messages)


def test_where_the_route_leaves_no_card_to_be_read_the_administrator_is_told_to() -> None:
    with ToolAgent() as agent:
        changes = {"protocol_version": Version.V1_0, "binding": Binding.JSONRPC, "extensions": (URI,)}
        error = Hub(route("code", agent.url, **changes)).query("code: list")["error"]
    assert (error["fault"], "leave out protocol_version or binding" in error["remedy"]) == (
        "extension_required",
        True,
    )


@pytest.mark.parametrize(
    "activation",
    [{"headers": {"x-a2a-extensions": URI}}, {"extensions": [URI]}, {"metadata": {URI: {"workspacePath": "/w"}}}],
    ids=["header", "message", "settings"],
)
def test_what_a_program_asks_with_the_extension_goes_to_a_development_agent_unless_a_rule_says_otherwise(
    activation: Json,
) -> None:
    with ToolAgent() as agent, ToolAgent() as other:
        code = route("code", agent.url, extensions=(URI,), passes_tasks=True)
        hub = Hub(code, route("beta", other.url), route("gamma", other.url, default=True))
        for text in ("Make the tests green", "Make the tests of beta green"):
            hub.stream(text, version="1.0", modes=["application/json"], **activation)
        hub.stream("Make the tests green", version="1.0", modes=["application/json"])
    assert [len(each.messages) for each in (agent, other)] == [1, 2]


@_VERSIONS
@pytest.mark.parametrize("required", [False, True])
def test_a_program_that_uses_the_extension_brings_its_own_settings(version: str, required: bool) -> None:
    with ToolAgent(required=required) as agent:
        hub = hub_of(agent.url)
        sent = {URI: {"workspacePath": "/w"}}
        _streamed(hub, version, {"text": "code: list"}, metadata=sent)
        _streamed(hub, version, {"text": "code: list"})
    assert agent.activated == [True, True]
    assert [message.get("metadata") for message in agent.messages] == [sent, None]


@_VERSIONS
def test_a_program_sees_every_update_to_the_end_though_gemini_cli_says_input_required_while_it_works(
    version: str, tmp_path: Path
) -> None:
    with GeminiCliAgent() as agent:
        hub = hub_of(agent.url, tmp_path)
        asked = _streamed(hub, version, {"text": "code: run it"})
        confirmation = {"callId": "call-1", "outcome": "proceed_once"}
        events = _streamed(hub, version, {"data": confirmation}, taskId=_ids_of(asked)[0], contextId=_ids_of(asked)[1])
    stages = [part["data"]["status"] for event in asked + events for part in _parts(event) if "data" in part]
    assert stages == ["validating", "awaiting_approval", "scheduled", "executing", "success"]
    assert [part["text"] for event in events for part in _parts(event) if "text" in part][-1].startswith("All done.")
    states = [event["status"]["state"].lower().replace("-", "_") for event in events if "status" in event]
    assert [state.endswith("input_required") for state in states] == [False] * (len(states) - 1) + [True]
    if version == "0.3":
        assert [event["final"] for event in events if "final" in event] == [False] * (len(states) - 2) + [True]


@pytest.mark.parametrize(("option", "decision"), [("proceed_always", "approved"), ("cancel", "rejected")])
def test_what_a_program_decides_in_data_is_in_the_audit_log(tmp_path: Path, option: str, decision: str) -> None:
    log = tmp_path / "audit.log"
    start_audit_log("hub", str(log))
    try:
        with GeminiCliAgent() as agent:
            hub = hub_of(agent.url, tmp_path)
            task_id, context_id = _ids_of(_streamed(hub, "1.0", {"text": "code: run it"}))
            decided = {"callId": "call-1", "outcome": option}
            _streamed(hub, "1.0", {"data": decided}, taskId=task_id, contextId=context_id)
    finally:
        audit.install(None)
    entries = [json.loads(line)["audit"] for line in log.read_text().splitlines()]
    (entry,) = [each for each in entries if each["event"] == "decided"]
    expected = {"decision": decision, "option": option, "call": "call-1", "route": "code", "tool": "Shell"}
    assert entry.items() >= expected.items()
    assert entry["subject"] == hub.log[0]["principal"]


@_VERSIONS
@pytest.mark.parametrize("stored", [False, True])
def test_a_program_that_does_not_stream_finds_the_updates_in_the_tasks_history(
    version: str, tmp_path: Path, stored: bool
) -> None:
    with GeminiCliAgent() as agent:
        hub = hub_of(agent.url, tmp_path if stored else None)
        (asked,) = _sent(hub, version, {"text": "code: run it"})
    data = [part["data"]["status"] for said in asked["history"] for part in said["parts"] if "data" in part]
    assert data == ["validating", "awaiting_approval"]
    assert asked["status"]["state"].lower().replace("-", "_").endswith("input_required")


def test_a_program_that_answers_in_text_is_not_interpreted() -> None:
    with ToolAgent() as agent:
        hub = hub_of(agent.url)
        asked = _streamed(hub, "0.3", {"text": "code: list"}, metadata={URI: {"workspacePath": "/w"}})
        _streamed(hub, "0.3", {"text": "yes"}, contextId=_ids_of(asked)[1])
    assert agent.messages[1]["parts"] == [{"text": "yes"}]


@pytest.mark.parametrize("stored", [False, True])
def test_a_program_without_the_extension_reads_the_question_and_that_the_task_waits_on(
    tmp_path: Path, stored: bool
) -> None:
    settings = {"TASK_STORE": f"sqlite:{tmp_path / 'tasks.db'}"} if stored else {}
    with GeminiCliAgent() as agent:
        hub = Hub(route("code", agent.url), settings=settings)
        asked = _streamed(hub, "1.0", {"text": "write it"})
        assert _parts(asked[-1])[0]["text"].startswith("The agent “Agent code” wants to change the file")
        done = _streamed(hub, "1.0", {"text": "yes"}, contextId=_ids_of(asked)[1])
    assert done[-1]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert "message" not in done[-1]["status"]
    assert agent.decisions == [{"callId": "call-1", "outcome": "proceed_once"}]


def test_a_task_that_can_be_gone_on_with_is_cancelled_at_its_agent(tmp_path: Path) -> None:
    with GeminiCliAgent() as agent:
        hub = hub_of(agent.url, tmp_path)
        (task_id, context_id) = _ids_of(hub.stream("code: think"))
        body = {"jsonrpc": "2.0", "id": 1, "method": "tasks/cancel", "params": {"id": task_id}}
        assert hub.post("/", body)[1]["result"]["status"]["state"] == "canceled"
        assert turn(hub, "stream", "code: further", context_id)[1] == "Echo: code: further"
    assert (agent.cancelled, agent.texts[1]) == (["task-1"], ("code: further", None))


def _sent(hub: Hub, version: str, part: Json) -> list[Json]:
    """The result of a message that is not streamed."""
    return _streamed(hub, version, part, streams=False)


def _streamed(hub: Hub, version: str, part: Json, *, streams: bool = True, **fields: Any) -> list[Json]:
    """The events of a program that uses the extension and takes data."""
    if version == "0.3":
        kind = "text" if "text" in part else "data"
        sent = {"kind": "message", "role": "user", "parts": [{"kind": kind} | part]}
        method, header = "message/stream" if streams else "message/send", {"x-a2a-extensions": URI}
    else:
        sent = {"role": "ROLE_USER", "parts": [part]}
        method = "SendStreamingMessage" if streams else "SendMessage"
        header = {"a2a-extensions": URI, "a2a-version": "1.0"}
    params = {
        "message": sent | {"messageId": f"program-{next(_ids)}"} | fields,
        "configuration": {"acceptedOutputModes": ["text/plain", "application/json"]},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    answer = hub.request("POST", "/", body, headers=header).body
    assert isinstance(answer, bytes | Generator)
    chunks = (answer,) if isinstance(answer, bytes) else answer
    results = [json.loads(chunk.removeprefix(b"data: "))["result"] for chunk in chunks if chunk[:1] != b":"]
    return [result if "kind" in result else next(iter(result.values())) for result in results]


def _parts(event: Json) -> list[Json]:
    said: Json = event.get("artifact") or event.get("status", {}).get("message") or {}
    return list(said.get("parts", []))


def _ids_of(events: list[Json]) -> tuple[str, str]:
    return events[0]["id"], events[0]["contextId"]
