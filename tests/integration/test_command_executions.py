"""Slash commands are executed by their agents, and followed as tasks of the hub's."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.extensions.development_tool import URI
from tests.fakes.agent_wire import Json, data, status, task, text
from tests.fakes.command_agents import LIFE, TOOL_CALL, CommandAgent, command, told
from tests.fakes.http_server import Exchange
from tests.fakes.hub import OTHER_TOKEN, Hub, settle
from tests.fakes.task_instance import until
from tests.integration.slash_commands import call, ended, execute, hub_of, run_elsewhere, tool_route

VERSIONS = pytest.mark.parametrize("version", ["0.3", "1.0"])
_TASKS = {
    "0.3": {"get": "tasks/get", "cancel": "tasks/cancel", "subscribe": "tasks/resubscribe"},
    "1.0": {"get": "GetTask", "cancel": "CancelTask", "subscribe": "SubscribeToTask"},
}


@pytest.fixture
def agent() -> Iterator[CommandAgent]:
    with CommandAgent() as server:
        yield server
        server.may_go_on.set()
        settle()


@VERSIONS
def test_an_execution_is_followed_as_a_task_of_the_hubs(version: str, tmp_path: Path) -> None:
    with CommandAgent(version=version) as agent:
        agent.may_go_on.clear()
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        metadata = {URI: {"workspace_path": "/w"}, "skill": "alpha"}
        result = execute(hub, "memory", "add", args="the sky is blue", metadata=metadata)
        assert result.keys() == {"execution_id", "status", "message"}
        assert result["status"] == "STARTED"
        events = _subscribed(hub, result["execution_id"], version)
        first = next(events)
        assert first["id" if version == "0.3" else "task"]
        agent.may_go_on.set()
        updates = [each if version == "0.3" else each["statusUpdate"] for each in events]
        settle()
    assert agent.executed == [
        {
            "command_path": ["memory", "add"],
            "args": "the sky is blue",
            "metadata": {URI: {"workspace_path": "/w"}},
        }
    ]
    told_of = [each["metadata"][URI]["kind"] for each in updates if "metadata" in each]
    assert told_of[-3:] == ["TOOL_CALL_UPDATE", "TEXT_CONTENT", "STATE_CHANGE"]
    # What a newer agent adds is passed on as it is.
    assert json.dumps(TOOL_CALL) in json.dumps(updates)
    assert {each["taskId"] for each in updates} == {result["execution_id"]}
    record = next(line for line in hub.log if line.get("operation") == "command/execute")
    assert (record["route"], record["outcome"], record["agent"]) == ("alpha", "answered", "Agent alpha")
    shown = ended(hub, result["execution_id"])
    assert shown["status"]["state"] == "TASK_STATE_COMPLETED"
    assert shown["history"][0]["parts"] == [{"text": "/memory add the sky is blue"}]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"status": "FAILED_TO_START", "message": "Which fact?"}, "Which fact?"),
        ({"status": "FAILED_TO_START"}, "The agent “Agent alpha” did not start the command /memory add."),
    ],
)
def test_why_an_agent_does_not_start_a_command_is_passed_on(said: Json, shown: str, tmp_path: Path) -> None:
    with CommandAgent(answer=lambda _: said) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        result = execute(hub, "memory", "add")
    assert (result["status"], result["execution_id"]) == ("FAILED_TO_START", "")
    assert result["message"].startswith(shown)
    assert call(hub, "ListTasks")["result"]["totalSize"] == 0


def test_what_an_execution_waits_for_is_passed_on_with_the_hubs_own_id(tmp_path: Path) -> None:
    said = {"executionId": "task-1", "status": "AWAITING_SHELL_CONFIRMATION", "message": "May I?"}
    with CommandAgent(answer=lambda _: said) as agent:
        result = execute(hub_of(tmp_path, tool_route("alpha", agent.url)), "memory", "add")
        settle()
    assert (result["status"], result["message"]) == ("AWAITING_SHELL_CONFIRMATION", "May I?")
    assert result["execution_id"] not in ("", "task-1")


def test_a_status_that_only_a_newer_agent_knows_is_that_of_a_command_that_has_started(tmp_path: Path) -> None:
    said = {"execution_id": "task-1", "status": "QUEUED"}
    with CommandAgent(answer=lambda _: said) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        result = execute(hub, "memory", "add")
        assert result["status"] == "STARTED"
        assert ended(hub, result["execution_id"])["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_question_of_an_execution_is_answered_in_the_agents_task(tmp_path: Path) -> None:
    life = [task("working"), told("input-required", "STATE_CHANGE", text("Which file?"))]
    with CommandAgent(life=life) as agent:
        agent.script = lambda said: [task("working"), status("completed", f"Done: {said.text}")]
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        task_id = execute(hub, "memory", "add")["execution_id"]
        assert ended(hub, task_id)["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        sent = {"messageId": "m", "role": "ROLE_USER", "taskId": task_id, "parts": [{"text": "That one"}]}
        modes = {"acceptedOutputModes": ["text/plain", "application/json"]}
        answer = call(
            hub,
            "SendMessage",
            {"message": sent, "configuration": modes},
            headers={"a2a-extensions": URI},
        )
        settle()
    assert (agent.said[-1].task_id, agent.said[-1].context_id) == ("task-1", "agent-context")
    assert answer["result"]["task"]["id"] == task_id
    assert "Done: That one" in json.dumps(answer)


@VERSIONS
def test_cancelling_an_execution_reaches_the_agents_task(agent: CommandAgent, version: str, tmp_path: Path) -> None:
    agent.may_go_on.clear()
    hub = hub_of(tmp_path, tool_route("alpha", agent.url))
    task_id = execute(hub, "memory", "add")["execution_id"]
    state = call(hub, _TASKS[version]["cancel"], {"id": task_id})["result"]["status"]["state"]
    assert state in ("canceled", "TASK_STATE_CANCELED")
    until(lambda: agent.cancelled)
    assert agent.cancelled == ["task-1"]


def test_an_agent_that_cannot_be_subscribed_to_is_asked_for_its_task_again_and_again(tmp_path: Path) -> None:
    states = [task("working"), task("working"), task("completed", says="Remembered.")]
    with CommandAgent(tasks=states, streaming=False) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        shown = ended(hub, execute(hub, "memory", "add")["execution_id"])
    assert shown["status"]["message"]["parts"] == [{"text": "Remembered."}]


def test_a_subscription_that_breaks_off_is_found_again_and_the_command_is_not_sent_again(
    tmp_path: Path,
) -> None:
    with CommandAgent(life=LIFE[:2], tasks=[task("completed", says="Remembered.")]) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        shown = ended(hub, execute(hub, "memory", "add")["execution_id"])
    assert shown["status"]["state"] == "TASK_STATE_COMPLETED"
    assert len(agent.executed) == 1


@VERSIONS
@pytest.mark.parametrize("streaming", [True, False])
def test_what_an_agent_said_before_it_was_followed_is_told_in_the_order_in_which_it_was_said(
    version: str, streaming: bool, tmp_path: Path
) -> None:
    over = task("completed")
    said = [data({"subject": "Files", "description": ""}), data(TOOL_CALL), text("Remembered.")]
    over["task"]["history"] = [
        {"messageId": f"m{number}", "role": "ROLE_AGENT", "parts": [part]} for number, part in enumerate(said)
    ]
    with CommandAgent(version=version, tasks=[over], streaming=streaming) as agent:
        agent.answers[_TASKS[version]["subscribe"]] = _has_ended
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        shown = ended(hub, execute(hub, "memory", "add")["execution_id"])
    assert [part for each in shown["history"][1:] for part in each["parts"]] == said
    assert shown["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_command_that_is_silent_for_long_is_asked_for(tmp_path: Path) -> None:
    with CommandAgent(tasks=[task("working"), task("completed", says="Remembered.")]) as agent:
        agent.may_go_on.clear()
        hub = hub_of(tmp_path, tool_route("alpha", agent.url, stream_idle_timeout_seconds=1.0))
        shown = ended(hub, execute(hub, "memory", "add")["execution_id"])
        agent.may_go_on.set()
    assert shown["status"]["message"]["parts"] == [{"text": "Remembered."}]


def test_an_execution_whose_task_the_agent_has_lost_fails_and_is_not_sent_again(tmp_path: Path) -> None:
    with CommandAgent(life=LIFE[:1]) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        shown = ended(hub, execute(hub, "memory", "add")["execution_id"])
    assert shown["status"]["state"] == "TASK_STATE_FAILED"
    assert "“Agent alpha”" in shown["status"]["message"]["parts"][0]["text"]
    assert (len(agent.executed), agent.said) == (1, [])


def test_an_execution_whose_process_died_is_followed_by_another(agent: CommandAgent, tmp_path: Path) -> None:
    alpha = tool_route("alpha", agent.url)
    hub = hub_of(tmp_path, alpha, settings={"TASK_RUNS": "queued"})
    task_id = execute(hub, "memory", "add")["execution_id"]
    run_elsewhere(tmp_path, task_id, alpha)
    shown = ended(hub, task_id)
    assert shown["status"]["state"] == "TASK_STATE_COMPLETED"
    assert json.dumps(TOOL_CALL) in json.dumps(shown)
    assert len(agent.executed) == 1


def test_an_execution_that_cannot_be_kept_is_cancelled_at_its_agent(agent: CommandAgent, tmp_path: Path) -> None:
    def breaks_the_store(_: Json) -> Json:
        (tmp_path / "tasks.db").unlink()
        (tmp_path / "tasks.db").mkdir()
        return {"execution_id": "task-1", "status": "STARTED"}

    with CommandAgent(answer=breaks_the_store) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        error = call(hub, "command/execute", {"command_path": ["memory"]})["error"]
    assert (error["code"], error["message"]) == (
        -32603,
        "Tasks cannot be reached at the moment; try again in a few seconds",
    )
    assert agent.cancelled == ["task-1"]


def test_a_command_named_like_one_of_the_hubs_own_is_the_agents(tmp_path: Path) -> None:
    with CommandAgent([command("tasks")]) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        shown = ended(hub, execute(hub, "tasks")["execution_id"])
    assert shown["status"]["state"] == "TASK_STATE_COMPLETED"
    assert len(agent.executed) == 1


def test_an_execution_is_its_callers_alone(agent: CommandAgent, tmp_path: Path) -> None:
    hub = hub_of(tmp_path, tool_route("alpha", agent.url))
    task_id = execute(hub, "memory", "add")["execution_id"]
    assert call(hub, "GetTask", {"id": task_id}, token=OTHER_TOKEN)["error"]["code"] == -32001


def _has_ended(exchange: Exchange) -> None:
    error = {"code": -32004, "message": "The task has ended"}
    exchange.json({"jsonrpc": "2.0", "id": exchange.received.json["id"], "error": error})


def _subscribed(hub: Hub, task_id: str, version: str) -> Iterator[Json]:
    body = {"jsonrpc": "2.0", "id": 1, "method": _TASKS[version]["subscribe"], "params": {"id": task_id}}
    stream = hub.request("POST", "/", json.dumps(body).encode()).body
    assert isinstance(stream, Iterator), stream
    for chunk in stream:
        if not chunk.startswith(b":"):
            yield json.loads(chunk.removeprefix(b"data: "))["result"]
