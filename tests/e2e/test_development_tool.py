"""The development agent behind the hub, for a tool that speaks the extension, in both versions."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.development_tools import URI, DevelopmentTool, Update
from tests.e2e.hubs import Hub

VERSIONS = ("0.3", "1.0")


@pytest.fixture(params=VERSIONS)
def tool(hub: Hub, request: pytest.FixtureRequest) -> DevelopmentTool:
    return DevelopmentTool(caller=hub.caller(), version=request.param)


@pytest.fixture
def workspace(hub: Hub) -> Path:
    """The folder of the run that the agent works in."""
    return hub.logs / "workspace"


def names(commands: list[Any]) -> set[str]:
    return {command["name"] for command in commands}


def test_a_tool_learns_the_commands_and_follows_one_to_its_end(tool: DevelopmentTool) -> None:
    commands = tool.call("commands/get", {})["result"]["commands"]
    assert "read" in names(commands)
    started = tool.call("command/execute", {"command_path": ["read"], "args": "settings.toml"})["result"]
    assert started["status"] == "STARTED"
    tool.follow(started["execution_id"])
    task = tool.task(started["execution_id"])
    assert task["status"]["state"] in ("completed", "TASK_STATE_COMPLETED")
    assert "port = 8000" in str(task)


def test_a_command_that_is_none_is_told_and_leaves_no_task(tool: DevelopmentTool) -> None:
    told = tool.call("command/execute", {"command_path": ["no-such-command"]})["result"]
    assert (told["status"], told.get("execution_id", "")) == ("FAILED_TO_START", "")
    assert told["message"]


def changed(workspace: Path, tool: DevelopmentTool, option: int) -> tuple[list[Update], list[Update], str]:
    """The updates up to the question and after the answer, and what the file holds then."""
    file = workspace / f"of-{tool.version}-{option}.txt"
    file.write_text("the tests are red")
    settings = {URI: {"workspace_path": str(workspace)}}
    text = {"text": f"Replace 'red' with 'green' in {file.name}"}
    task_id, context_id, before = tool.send(text, metadata=settings)
    pending = next(update.data for update in before if update.kind == "TOOL_CALL_UPDATE")
    chosen = pending["confirmation_request"]["options"][option]["id"]
    decision = {"data": {"tool_call_id": pending["tool_call_id"], "selected_option_id": chosen}}
    again, _, after = tool.send(decision, taskId=task_id, contextId=context_id)
    assert again == task_id
    return before, after, file.read_text()


def test_a_change_is_shown_confirmed_and_made(workspace: Path, tool: DevelopmentTool) -> None:
    before, after, content = changed(workspace, tool, 0)
    assert content == "the tests are green"
    assert (before[0].kind, before[0].state) == ("STATE_CHANGE", "working")
    calls = [update.data for update in before if update.kind == "TOOL_CALL_UPDATE"]
    assert calls[-1]["status"] == "PENDING"
    diff = calls[-1]["confirmation_request"]["file_edit_details"]
    assert (diff["old_content"], diff["new_content"]) == ("the tests are red", "the tests are green")
    assert (before[-1].kind, before[-1].state) == ("STATE_CHANGE", "input-required")
    statuses = [update.data["status"] for update in after if update.kind == "TOOL_CALL_UPDATE"]
    assert statuses[-2:] == ["EXECUTING", "SUCCEEDED"]
    assert [update.text for update in after if update.kind == "TEXT_CONTENT"][-1]
    assert (after[-1].kind, after[-1].state) == ("STATE_CHANGE", "completed")
    if tool.version == "0.3":
        for updates in (before, after):
            assert [update.final for update in updates] == [False] * (len(updates) - 1) + [True]


def test_a_change_that_is_refused_is_not_made(workspace: Path, tool: DevelopmentTool) -> None:
    _, after, content = changed(workspace, tool, -1)
    assert content == "the tests are red"
    assert [update.data["status"] for update in after if update.kind == "TOOL_CALL_UPDATE"] == ["CANCELLED"]


def test_a_workspace_outside_of_what_is_allowed_is_refused_by_its_field(tool: DevelopmentTool) -> None:
    settings = {URI: {"workspace_path": "/etc"}}
    message: dict[str, Any] = {"messageId": "x", "metadata": settings, "extensions": [URI]}
    if tool.version == "0.3":
        message |= {"kind": "message", "role": "user", "parts": [{"kind": "text", "text": "Read hosts.txt"}]}
    else:
        message |= {"role": "ROLE_USER", "parts": [{"text": "Read hosts.txt"}]}
    method = {"0.3": "message/send", "1.0": "SendMessage"}[tool.version]
    accepted = {"acceptedOutputModes": ["application/json"]}
    told = tool.call(method, {"message": message, "configuration": accepted})
    assert "workspace" in str(told)
    assert "localhost" not in str(told)
