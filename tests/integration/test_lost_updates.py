"""What an agent with the `development-tool` extension said while its connection was lost reaches its client all the same."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.extensions.development_tool import URI
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json, data, task, text
from tests.fakes.command_agents import TOOL_CALL, told
from tests.fakes.hub import settle
from tests.integration.slash_commands import hub_of, tool_route

DONE = TOOL_CALL | {"status": "SUCCEEDED"}


def _kept(number: int, *parts: Json, role: str = "ROLE_AGENT") -> Json:
    return {"messageId": f"m{number}", "role": role, "parts": list(parts)}


def _update(number: int, *parts: Json) -> Json:
    event = told("working", "TOOL_CALL_UPDATE", *parts)
    event["statusUpdate"]["status"]["message"]["messageId"] = f"m{number}"
    return event


@pytest.mark.parametrize("version", ["0.3", "1.0"])
@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "asked for again and again"])
@pytest.mark.parametrize("kept", [True, False], ids=["with a task store", "without"])
def test_what_was_said_meanwhile_is_told_once_and_in_order(
    version: str, streams: bool, kept: bool, tmp_path: Path
) -> None:
    over = task("completed")
    over["task"]["history"] = [
        _kept(1, text("In an earlier turn.")),
        {**_kept(2, text("Go on"), role="ROLE_USER"), "messageId": "asked"},
        _kept(3, data(TOOL_CALL)),
        _kept(4, data(DONE)),
        _kept(5, text("Remembered.")),
    ]
    # The stream ends before the task does.
    cut = [task("working"), _update(3, data(TOOL_CALL))]
    with AgentServer(lambda _: cut, version=version, tasks=[over], streaming=streams) as agent:
        hub = hub_of(tmp_path if kept else None, tool_route("alpha", agent.url))
        sent = {"messageId": "asked", "role": "ROLE_USER", "parts": [{"text": "Go on"}]}
        params = {"message": sent, "configuration": {"acceptedOutputModes": ["application/json"]}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": params}
        answer = hub.request("POST", "/", json.dumps(body).encode(), headers={"a2a-extensions": URI}).body
        assert isinstance(answer, Iterator), answer
        events = [json.loads(chunk[6:])["result"] for chunk in answer if chunk.startswith(b"data: ")]
        settle()
    statuses = [event["statusUpdate"]["status"] for event in events if "statusUpdate" in event]
    said = [part for each in statuses for part in each.get("message", {}).get("parts", [])]
    # Where it does not stream, it is the first task that says what it does now.
    first = events[0]["task"]["status"].get("message", {}).get("parts", [])
    assert first + said == [{"data": TOOL_CALL}, {"data": DONE}, {"text": "Remembered."}]
    assert statuses[-1]["state"] == "TASK_STATE_COMPLETED"
