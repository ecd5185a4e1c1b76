"""`commands/get` and `command/execute` of the `development-tool` extension, which are the same in both versions."""

import json
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.identity.principal import Principal
from tests.contract.a2a.served_commands import ADA, Served
from tests.fakes.task_instance import until

_TASK_METHODS = {
    "1.0": ("GetTask", "CancelTask", "SubscribeToTask"),
    "0.3": ("tasks/get", "tasks/cancel", "tasks/resubscribe"),
}
VERSIONS = pytest.mark.parametrize("version", _TASK_METHODS)
HEADERS = pytest.mark.parametrize("headers", [{}, {"a2a-version": "0.3"}, {"a2a-version": "1.0"}], ids=str)


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return Served(tmp_path)


@HEADERS
def test_the_commands_are_listed_whatever_version_is_named(served: Served, headers: dict[str, str]) -> None:
    record: dict[str, Any] = {}
    answer = served.ask("commands/get", headers=headers, record=record)
    add = {"name": "add", "description": "", "arguments": [], "sub_commands": []}
    assert answer["result"] == {
        "commands": [{"name": "memory", "description": "", "arguments": [], "sub_commands": [add]}]
    }
    assert (record["operation"], record["outcome"]) == ("commands/get", "answered")
    assert record["version"] == headers.get("a2a-version", "0.3")
    named = "a2a-extensions" if record["version"] == "1.0" else "x-a2a-extensions"
    assert served.headers[named] == URI


@HEADERS
@VERSIONS
def test_an_execution_is_a_task_that_its_caller_follows_in_either_version(
    served: Served, headers: dict[str, str], version: str
) -> None:
    get, *_ = _TASK_METHODS[version]
    params = {"command_path": ["memory", "add"], "args": "the sky is blue"}
    record: dict[str, Any] = {}
    result = served.ask("command/execute", params, headers=headers, record=record)["result"]
    assert result == {"execution_id": result["execution_id"], "status": "STARTED", "message": ""}
    assert (record["operation"], record["outcome"]) == ("command/execute", "answered")
    task_id = result["execution_id"]
    assert served.ask(get, {"id": task_id})["result"]["id"] == task_id
    served.memory.may_end.set()
    until(lambda: served.memory.remembered)
    task = until(lambda: _ended(served.ask(get, {"id": task_id})["result"]))
    assert task["artifacts"][0]["parts"][0]["text"] == "Remembered: the sky is blue"
    assert served.memory.remembered == ["the sky is blue"]
    assert task["history"][0]["parts"][0]["text"] == "/memory add the sky is blue"


def test_the_answer_is_spelt_as_the_request(served: Served) -> None:
    result = served.ask("command/execute", {"commandPath": ["memory", "ask"], "args": ""})["result"]
    assert result.keys() == {"executionId", "status", "message"}


def test_whoever_calls_a_method_of_the_extension_uses_it_and_takes_data(served: Served) -> None:
    served.ask("commands/get", {"metadata": {"skill": "other"}})
    (call,) = served.memory.calls
    assert (call.extensions, call.wants_data, call.for_ui) == ((URI,), True, False)


def test_the_turn_has_the_requests_metadata_and_goes_on_as_a_message_does(served: Served) -> None:
    metadata = {URI: {"workspace_path": "/w"}}
    params = {"command_path": ["memory", "ask"], "args": "me", "metadata": metadata}
    task_id = served.ask("command/execute", params)["result"]["execution_id"]
    asked = until(lambda: _ended(served.ask("tasks/get", {"id": task_id})["result"]))
    assert asked["status"]["state"] == "input-required"
    assert served.memory.requests[0].message.metadata == metadata
    message = {"messageId": "m", "role": "ROLE_USER", "taskId": task_id, "parts": [{"text": "blue"}]}
    modes = {"acceptedOutputModes": ["text/plain"]}
    told = served.ask("SendMessage", {"message": message, "configuration": modes})["result"]["task"]
    assert (told["id"], told["status"]["state"]) == (task_id, "TASK_STATE_COMPLETED")
    assert "Told: blue" in json.dumps(told)


@VERSIONS
def test_an_execution_is_cancelled_like_any_task(served: Served, version: str) -> None:
    _, cancel, _ = _TASK_METHODS[version]
    params = {"command_path": ["memory", "add"], "args": ""}
    task_id = served.ask("command/execute", params)["result"]["execution_id"]
    until(lambda: served.memory.calls)
    state = served.ask(cancel, {"id": task_id})["result"]["status"]["state"]
    assert state in ("canceled", "TASK_STATE_CANCELED")


def test_an_execution_is_its_callers_alone(served: Served) -> None:
    params = {"command_path": ["memory", "ask"], "args": ""}
    task_id = served.ask("command/execute", params)["result"]["execution_id"]
    error = served.ask("tasks/get", {"id": task_id}, principal=Principal(subject="bob"))["error"]
    assert error["code"] == -32001


def test_an_execution_that_another_process_runs_is_the_same_command(tmp_path: Path) -> None:
    served = Served(tmp_path, runs_at_once=False)
    params = {"command_path": ["memory", "add"], "args": "blue"}
    task_id = served.ask("command/execute", params)["result"]["execution_id"]
    assert served.memory.calls == []
    served.memory.may_end.set()
    served.instance.run_again(task_id)
    assert served.memory.remembered == ["blue"]


def test_a_command_that_does_not_exist_leaves_no_task(served: Served) -> None:
    result = served.ask("command/execute", {"command_path": ["nothing"]})["result"]
    assert result == {
        "execution_id": "",
        "status": "FAILED_TO_START",
        "message": "There is no command /nothing.",
    }
    assert served.ask("ListTasks")["result"]["totalSize"] == 0


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("command/execute", None, "commandPath"),
        ("command/execute", {}, "commandPath"),
        ("command/execute", {"commandPath": []}, "commandPath"),
        ("command/execute", {"command_path": ["memory", " "]}, "commandPath[1]"),
        ("command/execute", {"command_path": "memory"}, "commandPath"),
        ("command/execute", {"command_path": ["memory"], "args": ["x"]}, "args"),
        ("command/execute", {"command_path": ["memory"], "metadata": "x"}, "metadata"),
        ("command/execute", [], "params"),
        ("commands/get", [], "params"),
        ("commands/get", {"metadata": 1}, "metadata"),
    ],
)
def test_params_that_do_not_fit_are_named(served: Served, method: str, params: Any, field: str) -> None:
    error = served.ask(method, params)["error"]
    assert error["code"] == -32602
    (details,) = error["data"]
    assert [each["field"] for each in details["fieldViolations"]] == [field]


def test_what_the_turn_does_not_accept_is_named_as_it_stands_in_the_params(served: Served) -> None:
    error = served.ask("command/execute", {"command_path": ["memory", "elsewhere"]})["error"]
    field = f"metadata.{URI}.workspace_path"
    assert error["code"] == -32602
    assert error["message"] == f"Invalid parameters: {field} names no folder"
    assert [each["field"] for each in error["data"][0]["fieldViolations"]] == [field]
    assert served.ask("ListTasks")["result"]["totalSize"] == 0


@pytest.mark.parametrize("method", ["commands/get", "command/execute"])
def test_a_card_that_does_not_declare_the_extension_has_none_of_its_methods(tmp_path: Path, method: str) -> None:
    answer = Served(tmp_path, declares=False).ask(method, {"command_path": ["memory"]})
    assert answer["error"]["code"] == -32601


def test_a_method_that_is_none_of_the_extension_is_not_found(served: Served) -> None:
    assert served.ask("commands/put")["error"]["code"] == -32601


@pytest.mark.parametrize("method", ["commands/get", "command/execute"])
def test_a_version_that_is_not_served_is_refused(served: Served, method: str) -> None:
    error = served.ask(method, {"command_path": ["memory"]}, headers={"a2a-version": "2.0"})["error"]
    assert error["code"] == -32009


@pytest.mark.parametrize("method", ["commands/get", "command/execute"])
def test_a_credential_that_does_not_cover_the_method_is_refused(served: Served, method: str) -> None:
    limited = Principal(subject="ada", operations=frozenset({"SendMessage"}))
    error = served.ask(method, {"command_path": ["memory"]}, principal=limited)["error"]
    assert (served.status, error["message"]) == (403, f"Your credential does not cover {method}")


@pytest.mark.parametrize(("keeps_tasks", "says"), [(False, "keeps no tasks"), (True, "authenticated callers")])
def test_where_no_task_can_be_kept_no_command_is_executed(tmp_path: Path, keeps_tasks: bool, says: str) -> None:
    served = Served(tmp_path, keeps_tasks=keeps_tasks)
    principal = None if keeps_tasks else ADA
    error = served.ask("command/execute", {"command_path": ["memory", "ask"]}, principal=principal)["error"]
    assert error["code"] == -32004
    assert says in error["message"]
    assert "result" in served.ask("commands/get", principal=principal)


def _ended(task: dict[str, Any]) -> dict[str, Any] | None:
    state = task["status"]["state"].lower().removeprefix("task_state_").replace("_", "-")
    return task if state in ("completed", "failed", "canceled", "input-required") else None
