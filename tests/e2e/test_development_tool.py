"""The development agent behind the hub: for a tool with the extension in both versions, and for people in a text field."""

from pathlib import Path
from typing import Any

import pytest

from tests.contract.a2a.schemas import faults_v0_3
from tests.e2e.development_tools import URI, DevelopmentTool, Update
from tests.e2e.hubs import Hub
from tests.e2e.test_gemini_enterprise import request, text_part

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


def test_a_completed_task_goes_on_by_its_id(workspace: Path, tool: DevelopmentTool) -> None:
    settings = {URI: {"workspace_path": str(workspace)}}
    task_id, context_id, first = tool.send({"text": "Read settings.toml"}, metadata=settings)
    again, _, second = tool.send({"text": "Search for port"}, taskId=task_id, contextId=context_id)
    assert again == task_id
    assert first[-1].state == second[-1].state == "completed"
    assert any("settings.toml:" in update.text for update in second)
    assert "Search for port" in str(tool.task(task_id)["history"])


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
    assert f"did not accept this part of the request: message.metadata.{URI}.workspace_path." in str(told)
    assert "localhost" not in str(told)
    error = tool.call("command/execute", {"command_path": ["files"], "metadata": settings})["error"]
    assert error["data"][0]["fieldViolations"][0]["field"] == f"metadata.{URI}.workspace_path"


ASKED = {
    "en": ("Replace 'red' with 'green' in {file}", ("1", "yes", "Allow once"), "no"),
    "ja": ("{file}の「red」を「green」に置き換えて", ("1", "はい"), "いいえ"),
}


@pytest.mark.parametrize(
    ("language", "reply", "allowed"),
    [
        (language, reply, allowed)
        for language, (_, replies, refusal) in ASKED.items()
        for reply, allowed in (*((reply, True) for reply in replies), (refusal, False))
    ],
)
@pytest.mark.parametrize("method", ["message/send", "message/stream"])
def test_a_person_with_a_text_field_is_asked_and_decides(
    hub: Hub, workspace: Path, method: str, language: str, reply: str, allowed: bool
) -> None:
    file = workspace / f"of-a-person-{method.rpartition('/')[2]}-{language}-{reply.replace(' ', '-')}.txt"
    file.write_text("the tests are red")
    asked, context_id = said(hub, method, ASKED[language][0].format(file=file.name))
    assert "1" in asked
    assert "green" in asked
    assert file.read_text() == "the tests are red"
    answer, _ = said(hub, method, reply, context_id=context_id)
    assert answer
    assert file.read_text() == ("the tests are green" if allowed else "the tests are red")


def said(hub: Hub, method: str, text: str, *, context_id: str | None = None) -> tuple[str, str]:
    """Return what Gemini Enterprise shows its user for a text, and the context that it sends with the next one."""
    answer = hub.caller().post("/", request(method, text_part(text), context_id=context_id))
    assert answer.status == 200
    if method == "message/send":
        result = answer.json["result"]
        message = result["status"]["message"] if result["kind"] == "task" else result
        (part,) = message["parts"]
        assert part["kind"] == "text"
        return part["text"], message["contextId"]
    texts, events = [], answer.events()
    for event in events:
        assert faults_v0_3("SendStreamingMessageSuccessResponse", event) == []
        result = event["result"]
        shown = result["artifact"] if result["kind"] == "artifact-update" else {}
        if result["kind"] == "status-update" and result["final"]:
            shown = result["status"].get("message", {})
        texts += [part["text"] for part in shown.get("parts", ())]
        assert {part["kind"] for part in shown.get("parts", ())} <= {"text"}
    assert events[-1]["result"]["final"] is True
    return "".join(texts), events[0]["result"]["contextId"]
