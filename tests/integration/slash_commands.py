"""A hub with agents that have slash commands, and what a program asks of it."""

import json
from pathlib import Path
from typing import Any

from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.identity.principal import TASKS_FUNCTION, Principal
from a2a_hub.routing.routes import Route
from functions.hub.endpoints import RUN_PATH
from tests.fakes.agent_wire import Json
from tests.fakes.hub import Hub, route
from tests.fakes.signatures import signed
from tests.fakes.task_instance import until

_UNSETTLED = ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")


def tool_route(id: str, url: str, **changes: Any) -> Route:
    return route(id, url, **{"extensions": (URI,), "passes_tasks": True} | changes)


def hub_of(folder: Path | None, *routes: Route, **options: Any) -> Hub:
    settings = {"TASK_STORE": f"sqlite:{folder / 'tasks.db'}"} if folder else {}
    return Hub(*routes, settings=settings | options.pop("settings", {}), **options)


def call(hub: Hub, method: str, params: Any = None, **options: Any) -> Json:
    """The whole JSON-RPC answer."""
    envelope = {"jsonrpc": "2.0", "id": 1, "method": method} | ({} if params is None else {"params": params})
    answer: Json = hub.post("/", envelope, **options)[1]
    return answer


def execute(hub: Hub, *path: str, args: str = "", **options: Any) -> Json:
    """The result of command/execute."""
    metadata = options.pop("metadata", None)
    params = {"command_path": list(path), "args": args} | ({"metadata": metadata} if metadata else {})
    answer = call(hub, "command/execute", params, **options)
    assert "result" in answer, answer
    result: Json = answer["result"]
    return result


def names(hub: Hub, **options: Any) -> list[str]:
    return [each["name"] for each in call(hub, "commands/get", **options)["result"]["commands"]]


def ended(hub: Hub, task_id: str) -> Json:
    """The task, in 1.0's form, when its turn has ended."""

    def look() -> Json | None:
        found: Json = call(hub, "GetTask", {"id": task_id})["result"]
        return found if found["status"]["state"] not in _UNSETTLED else None

    return until(look)


def run_elsewhere(folder: Path, task_id: str, *routes: Route) -> None:
    """Another process of the hub is told to run the task, and has run it."""
    hub = hub_of(folder, *routes, behind_gate=True)
    body = json.dumps({"taskId": task_id}).encode()
    headers = signed(Principal(subject=TASKS_FUNCTION), "POST", RUN_PATH, body, function="tasks")
    status, answer = hub.post(RUN_PATH, {"taskId": task_id}, token=None, headers=headers)
    assert (status, bool(answer["state"])) == (200, True), answer
