"""Slash commands through the hub: all agents' in one list, each executed by its agent and followed as a task of the hub's."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.a2a.extensions.development_tool import URI
from shared.routes import Route
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json, message, status, task, text
from tests.fakes.command_agents import LIFE, MEMORY, TOOL_CALL, CommandAgent, command, method_not_found, told
from tests.fakes.hub import OTHER_TOKEN, TOKEN, Hub, route, settle
from tests.fakes.kept_tasks import until

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


_UNKNOWN = {
    "commands/get": method_not_found,
    "command/execute": method_not_found,
    "GET /listCommands": lambda exchange: exchange.answer(404),
    "POST /executeCommand": lambda exchange: exchange.answer(404),
}
_UNSETTLED = ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")


@VERSIONS
def test_the_commands_of_an_agent_are_listed_in_its_own_version(version: str) -> None:
    with CommandAgent(version=version) as agent:
        hub = hub_of(None, tool_route("alpha", agent.url))
        assert call(hub, "commands/get")["result"] == {"commands": [MEMORY]}
        (asked,) = agent.asked
    assert asked.headers.get("a2a-version") == ("1.0" if version == "1.0" else None)
    assert asked.headers["a2a-extensions" if version == "1.0" else "x-a2a-extensions"] == URI
    assert (hub.log[-1]["operation"], hub.log[-1]["outcome"]) == ("commands/get", "ok")


def test_several_agents_commands_are_one_list_in_the_order_of_the_table() -> None:
    with CommandAgent([command("b"), command("a")]) as one, CommandAgent([command("a"), MEMORY]) as two:
        hub = hub_of(None, tool_route("alpha", one.url), tool_route("beta", two.url))
        assert names(hub) == ["b", "a", "memory"]
        assert names(hub, params={"metadata": {"skill": "beta"}}) == ["a", "memory"]


def test_only_agents_whose_own_words_are_passed_on_are_asked_for_commands(agent: CommandAgent) -> None:
    hub = hub_of(
        None,
        tool_route("alpha", agent.url),
        tool_route("beta", "http://127.0.0.1:1", passes_tasks=False),
        tool_route("gamma", "http://127.0.0.1:1", extensions=("urn:example:other",)),
    )
    assert names(hub) == ["memory"]
    assert len(hub.log) == 1


def test_an_agent_that_fails_is_left_out_and_told_to_the_operator(agent: CommandAgent) -> None:
    hub = hub_of(None, tool_route("alpha", "http://127.0.0.1:1"), tool_route("beta", agent.url))
    assert names(hub) == ["memory"]
    left_out, _ = hub.log
    assert (left_out["severity"], left_out["route"], left_out["outcome"]) == (
        "WARNING",
        "alpha",
        "unreachable",
    )
    assert left_out["cause"].startswith("alpha: ")
    assert "ALPHA_URL" in left_out["remedy"]


def test_where_all_fail_the_caller_is_told_which_agent_and_what_to_do() -> None:
    hub = hub_of(None, tool_route("alpha", "http://127.0.0.1:1"))
    error = call(hub, "commands/get")["error"]
    assert error["code"] == -32603
    assert "“Agent alpha” cannot be reached" in error["message"]
    assert hub.log[-1]["requestId"] in error["message"]
    assert (hub.log[-1]["severity"], hub.log[-1]["outcome"]) == ("WARNING", "UNAVAILABLE")


@pytest.mark.parametrize("skill", ["delta", "", 7])
@pytest.mark.parametrize("method", ["commands/get", "command/execute"])
def test_an_unknown_skill_is_refused_with_those_that_there_are(
    agent: CommandAgent, tmp_path: Path, skill: Any, method: str
) -> None:
    hub = hub_of(tmp_path, tool_route("alpha", agent.url), route("beta", agent.url))
    params = {"command_path": ["memory"], "metadata": {"skill": skill}}
    error = call(hub, method, params)["error"]
    assert (error["code"], error["data"][0]["fieldViolations"][0]["field"]) == (-32602, "metadata.skill")
    assert "alpha" in error["message"]
    assert "beta" not in error["message"]


def test_what_a_caller_may_not_use_is_neither_listed_nor_executed(
    agent: CommandAgent, tmp_path: Path
) -> None:
    clients = tmp_path / "clients.toml"
    clients.write_text(
        f'[[clients]]\nname = "few"\ntoken_sha256 = "{_sha256("few")}"\n'
        f'[[clients]]\nname = "dev"\ntoken_sha256 = "{_sha256("dev")}"\n'
    )
    hub = hub_of(
        tmp_path,
        tool_route("alpha", agent.url, allow_clients=("dev",)),
        tool_route("beta", "http://127.0.0.1:1", allow_clients=("few",)),
        settings={"CLIENTS_FILE": str(clients)},
    )
    assert names(hub, token="dev") == ["memory"]
    assert execute(hub, "memory", token="dev")["status"] == "STARTED"
    error = call(hub, "commands/get", {"metadata": {"skill": "alpha"}}, token="few")["error"]
    assert (error["code"], "alpha" in error["message"]) == (-32602, False)
    # Its card declares the extension to nobody else.
    assert call(hub, "commands/get", token=TOKEN)["error"]["code"] == -32601


def test_a_person_of_a_restricted_route_uses_its_extension(agent: CommandAgent, tmp_path: Path) -> None:
    clients = tmp_path / "clients.toml"
    clients.write_text(f'[[clients]]\nname = "dev"\ntoken_sha256 = "{_sha256("dev")}"\n')
    hub = hub_of(
        None,
        tool_route("alpha", agent.url, allow_clients=("dev",)),
        settings={"CLIENTS_FILE": str(clients)},
    )
    agent.script = lambda _: [message(text("Hello"))]
    sent = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Hello"}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": sent}}
    for token, activated in (("dev", URI), (TOKEN, None)):
        answer = hub.request(
            "POST", "/", json.dumps(body).encode(), token=token, headers={"a2a-extensions": URI}
        )
        assert answer.headers.get("a2a-extensions") == activated


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
    assert (record["route"], record["outcome"], record["agent"]) == ("alpha", "ok", "Agent alpha")
    shown = ended(hub, result["execution_id"])
    assert shown["status"]["state"] == "TASK_STATE_COMPLETED"
    assert shown["history"][0]["parts"] == [{"text": "/memory add the sky is blue"}]


def test_the_agent_that_offers_the_command_executes_it(tmp_path: Path) -> None:
    with CommandAgent([command("a")]) as one, CommandAgent() as two:
        hub = hub_of(tmp_path, tool_route("alpha", one.url), tool_route("beta", two.url))
        assert execute(hub, "memory", "add")["status"] == "STARTED"
        settle()
    assert (len(one.executed), len(two.executed)) == (0, 1)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("", "No agent offers the command /nothing. There are: /a, /memory"),
        ("空は青い", "コマンド /nothing を提供するエージェントはありません。"),
    ],
)
def test_a_command_that_nobody_offers_leaves_no_task(args: str, says: str, tmp_path: Path) -> None:
    with CommandAgent([command("a")]) as one, CommandAgent() as two:
        hub = hub_of(tmp_path, tool_route("alpha", one.url), tool_route("beta", two.url))
        result = execute(hub, "nothing", args=args)
    assert (result["status"], result["execution_id"]) == ("FAILED_TO_START", "")
    assert says in result["message"]
    assert one.executed == two.executed == []
    assert hub.log[-1]["outcome"] == "no_command"
    assert call(hub, "ListTasks")["result"]["totalSize"] == 0


def test_where_an_agent_does_not_say_what_it_offers_the_command_may_be_its_own(tmp_path: Path) -> None:
    with CommandAgent([command("a")]) as one:
        hub = hub_of(tmp_path, tool_route("alpha", one.url), tool_route("beta", "http://127.0.0.1:1"))
        result = execute(hub, "memory")
    assert result["status"] == "FAILED_TO_START"
    assert "“Agent beta” cannot be reached" in result["message"]


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
def test_cancelling_an_execution_reaches_the_agents_task(
    agent: CommandAgent, version: str, tmp_path: Path
) -> None:
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


def test_an_execution_whose_task_the_agent_has_lost_fails_and_is_not_sent_again(tmp_path: Path) -> None:
    with CommandAgent(life=LIFE[:1]) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        shown = ended(hub, execute(hub, "memory", "add")["execution_id"])
    assert shown["status"]["state"] == "TASK_STATE_FAILED"
    assert "“Agent alpha”" in shown["status"]["message"]["parts"][0]["text"]
    assert (len(agent.executed), agent.said) == (1, [])


def test_a_command_named_like_one_of_the_hubs_own_is_the_agents(tmp_path: Path) -> None:
    with CommandAgent([command("tasks")]) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        shown = ended(hub, execute(hub, "tasks")["execution_id"])
    assert shown["status"]["state"] == "TASK_STATE_COMPLETED"
    assert len(agent.executed) == 1


def test_without_a_task_store_commands_are_listed_and_none_is_executed(agent: CommandAgent) -> None:
    hub = hub_of(None, tool_route("alpha", agent.url))
    assert names(hub) == ["memory"]
    error = call(hub, "command/execute", {"command_path": ["memory", "add"]})["error"]
    assert (error["code"], "keeps no tasks" in error["message"]) == (-32004, True)
    assert agent.executed == []


def test_anonymous_callers_list_commands_and_execute_none(agent: CommandAgent, tmp_path: Path) -> None:
    hub = hub_of(tmp_path, tool_route("alpha", agent.url), anonymous=True)
    assert names(hub, token=None) == ["memory"]
    error = call(hub, "command/execute", {"command_path": ["memory", "add"]}, token=None)["error"]
    assert (error["code"], "say who they are" in error["message"]) == (-32004, True)
    assert agent.executed == []


def test_an_execution_is_its_callers_alone(agent: CommandAgent, tmp_path: Path) -> None:
    hub = hub_of(tmp_path, tool_route("alpha", agent.url))
    task_id = execute(hub, "memory", "add")["execution_id"]
    assert call(hub, "GetTask", {"id": task_id}, token=OTHER_TOKEN)["error"]["code"] == -32001


def test_an_agent_without_commands_has_none_to_list_or_to_execute(tmp_path: Path) -> None:
    # It knows neither the methods nor the paths.
    with AgentServer(answers=_UNKNOWN) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        assert names(hub) == []
        result = execute(hub, "memory")
    assert result["status"] == "FAILED_TO_START"
    assert "did not start the command /memory" in result["message"]


def test_a_hub_without_such_an_agent_has_no_such_methods() -> None:
    hub = hub_of(None, route("alpha", "http://127.0.0.1:1"))
    for method in ("commands/get", "command/execute"):
        assert call(hub, method, {"command_path": ["memory"]})["error"]["code"] == -32601


def _subscribed(hub: Hub, task_id: str, version: str) -> Iterator[Json]:
    body = {"jsonrpc": "2.0", "id": 1, "method": _TASKS[version]["subscribe"], "params": {"id": task_id}}
    stream = hub.request("POST", "/", json.dumps(body).encode()).body
    assert not isinstance(stream, bytes), stream
    for chunk in stream:
        if not chunk.startswith(b":"):
            yield json.loads(chunk.removeprefix(b"data: "))["result"]


def _sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
