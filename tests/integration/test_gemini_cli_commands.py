"""Slash commands of an agent that has gemini-cli's own paths for them instead of the extension's methods."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.extensions.development_tool import URI
from tests.fakes.agent_wire import Json, task, text
from tests.fakes.command_agents import LIFE, GeminiCliAgent, lines, lines_of_data, told
from tests.fakes.http_server import Behaviour, Exchange
from tests.fakes.hub import settle
from tests.fakes.task_instance import until
from tests.integration.slash_commands import (
    call,
    ended,
    execute,
    hub_of,
    names,
    run_elsewhere,
    tool_route,
)


def _done(data: Any) -> Behaviour:
    return lambda exchange: exchange.json({"name": "memory show", "data": data})


def _methods(agent: GeminiCliAgent) -> list[str]:
    return [each.json["method"] if each.path == "/" else f"{each.method} {each.path}" for each in agent.asked]


def test_its_commands_are_listed_in_the_extensions_form() -> None:
    with GeminiCliAgent(_done("")) as agent:
        hub = hub_of(None, tool_route("alpha", agent.url))
        listed = call(hub, "commands/get")["result"]["commands"]
    show = {"name": "show", "description": "Shows it", "arguments": [], "sub_commands": []}
    assert listed == [{"name": "memory", "description": "Memory", "arguments": [], "sub_commands": [show]}]


def test_which_way_it_has_is_found_out_once_by_executing(tmp_path: Path) -> None:
    with GeminiCliAgent(_done("x")) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        for _ in range(2):
            assert execute(hub, "memory", "show")["status"] == "STARTED"
        assert _methods(agent) == ["command/execute", *["POST /executeCommand"] * 2]


def test_which_way_it_has_is_found_out_once_by_listing(tmp_path: Path) -> None:
    with GeminiCliAgent(_done("x")) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        assert names(hub) == names(hub) == ["memory"]
        assert execute(hub, "memory", "show")["status"] == "STARTED"
        assert _methods(agent) == [
            "commands/get",
            "GET /listCommands",
            "GET /listCommands",
            "POST /executeCommand",
        ]


def test_an_agent_that_has_the_methods_by_now_is_found_to_have_them() -> None:
    with GeminiCliAgent(_done("")) as agent:
        hub = hub_of(None, tool_route("alpha", agent.url))
        assert names(hub) == ["memory"]
        agent.answers["GET /listCommands"] = lambda exchange: exchange.answer(404)
        agent.answers["commands/get"] = lambda exchange: exchange.json(
            {"jsonrpc": "2.0", "id": 1, "result": {"commands": [{"name": "new"}]}}
        )
        assert [names(hub), names(hub)] == [[], ["new"]]


@pytest.mark.parametrize(
    ("args", "words"),
    [("", []), ("a 'b c'", ["a", "b c"]), ("it's blue", ["it's", "blue"])],
)
def test_a_command_is_sent_as_it_is_called_there(args: str, words: list[str], tmp_path: Path) -> None:
    with GeminiCliAgent(_done("Known.")) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        execute(hub, "memory", "show", args=args)
        settle()
    assert agent.executed == [{"command": "memory show", "args": words}]


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ("Known: the sky is blue.", {"text": "Known: the sky is blue."}),
        ([{"name": "ext"}], {"data": [{"name": "ext"}], "mediaType": "application/json"}),
    ],
)
def test_a_result_that_is_there_at_once_is_told_as_the_extension_tells_it(
    data: Any, part: Json, tmp_path: Path
) -> None:
    with GeminiCliAgent(_done(data)) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        shown = ended(hub, execute(hub, "memory", "show")["execution_id"])
    assert shown["status"]["state"] == "TASK_STATE_COMPLETED"
    assert shown["history"][-1]["parts"] == [part]
    assert len(agent.executed) == 1


def test_a_result_whose_process_died_is_told_by_another(tmp_path: Path) -> None:
    with GeminiCliAgent(_done("Known.")) as agent:
        alpha = tool_route("alpha", agent.url)
        hub = hub_of(tmp_path, alpha, settings={"TASK_RUNS": "queued"})
        task_id = execute(hub, "memory", "show")["execution_id"]
        run_elsewhere(tmp_path, task_id, alpha)
        assert ended(hub, task_id)["history"][-1]["parts"] == [{"text": "Known."}]
    assert len(agent.executed) == 1


def test_events_come_as_they_are_said_though_no_empty_line_ends_them(tmp_path: Path) -> None:
    with GeminiCliAgent(lines_of_data(LIFE)) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        task_id = execute(hub, "init")["execution_id"]
        shown = ended(hub, task_id)
        settle()
    assert shown["status"]["state"] == "TASK_STATE_COMPLETED"
    assert shown["history"][-1]["parts"] == [{"text": "Remembered."}]
    assert task_id != "task-1"


def test_an_update_that_asks_for_nothing_is_no_question_though_its_state_says_so(tmp_path: Path) -> None:
    reads = told("input-required", "", text("Reading"))
    reads["statusUpdate"]["metadata"] = {"coderAgent": {"kind": "tool-call-update"}}
    seen = threading.Event()

    def waits(exchange: Exchange) -> None:
        lines_of_data([LIFE[0], reads])(exchange)
        assert seen.wait(20)
        exchange.send(lines([LIFE[-1]]))

    with GeminiCliAgent(waits) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        task_id = execute(hub, "init")["execution_id"]

        def shown() -> Json:
            status: Json = call(hub, "GetTask", {"id": task_id})["result"]["status"]
            return status

        status = until(lambda: status if "message" in (status := shown()) else None)
        seen.set()
        until(lambda: shown()["state"] == "TASK_STATE_COMPLETED")
    assert (status["state"], status["message"]["parts"]) == ("TASK_STATE_WORKING", [{"text": "Reading"}])


def test_an_execution_has_started_when_its_first_event_is_there(tmp_path: Path) -> None:
    left: list[Exchange] = []

    def says_one_thing(exchange: Exchange) -> None:
        lines_of_data(LIFE[:1])(exchange)
        exchange.wait_until_left()
        left.append(exchange)

    with GeminiCliAgent(says_one_thing) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        task_id = execute(hub, "init")["execution_id"]
        assert call(hub, "GetTask", {"id": task_id})["result"]["id"] == task_id
        # The agent gives up what it does when its connection ends.
        assert left == []
        state = call(hub, "CancelTask", {"id": task_id})["result"]["status"]["state"]
        assert state == "TASK_STATE_CANCELED"
        until(lambda: agent.cancelled)
    assert agent.cancelled == ["task-1"]


def test_a_question_while_a_command_is_executed_is_answered_in_the_agents_task(tmp_path: Path) -> None:
    life = [task("working"), told("input-required", "STATE_CHANGE", text("May I?"))]
    with GeminiCliAgent(lines_of_data(life)) as agent:
        agent.script = lambda _: [task("working"), told("completed", "STATE_CHANGE", text("Done."))]
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        task_id = execute(hub, "init")["execution_id"]
        assert ended(hub, task_id)["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        sent = {"messageId": "m", "role": "ROLE_USER", "taskId": task_id, "parts": [{"text": "Yes"}]}
        modes = {"acceptedOutputModes": ["text/plain", "application/json"]}
        params = {"message": sent, "configuration": modes}
        call(hub, "SendMessage", params, headers={"a2a-extensions": URI})
        settle()
    assert agent.said[-1].task_id == "task-1"


_REFUSED = "The agent “Agent alpha” did not start the command /memory"


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        (lambda e: e.json({"error": "Command not found: memory"}, 404), _REFUSED),
        (lambda e: e.json({"error": '"args" field must be an array.'}, 400), _REFUSED),
        (lambda e: e.answer(404, b"Cannot POST", content_type="text/html"), _REFUSED),
        (lambda e: e.json({"error": "KeyError in /srv/x.ts"}, 500), "had a problem"),
        (lambda e: e.json({"error": "who are you"}, 401), "did not let the hub in"),
        (lambda e: e.json(["x"]), "had a problem"),
        (lambda e: e.answer(200, b"<html>", content_type="text/html"), "had a problem"),
        (lines_of_data([]), "broke off"),
        (lambda e: e.reset(), "broke off"),
    ],
)
def test_what_goes_wrong_is_why_the_command_did_not_start(
    answers: Callable[[Exchange], None], says: str, tmp_path: Path
) -> None:
    with GeminiCliAgent(answers) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        result = execute(hub, "memory")
    assert (result["status"], result["execution_id"]) == ("FAILED_TO_START", "")
    assert says in result["message"]
    assert "/srv" not in result["message"]
    assert len(agent.executed) == 1
    assert call(hub, "ListTasks")["result"]["totalSize"] == 0


def test_a_result_that_is_too_large_to_keep_is_the_tasks_failure(tmp_path: Path) -> None:
    with GeminiCliAgent(_done("x" * 300_000)) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url), settings={"TASK_MOST_BYTES": "100000"})
        shown = ended(hub, execute(hub, "memory")["execution_id"])
    assert shown["status"]["state"] == "TASK_STATE_FAILED"
    assert "too large to keep" in shown["status"]["message"]["parts"][0]["text"]


def test_events_that_break_off_are_the_tasks_failure(tmp_path: Path) -> None:
    with GeminiCliAgent(lines_of_data(LIFE[:2])) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        shown = ended(hub, execute(hub, "init")["execution_id"])
    assert shown["status"]["state"] == "TASK_STATE_FAILED"
    assert "“Agent alpha” broke off" in shown["status"]["message"]["parts"][0]["text"]
    assert len(agent.executed) == 1
