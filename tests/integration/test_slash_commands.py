"""Slash commands through the hub: those of all agents in one list, and which agent executes one."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.extensions.development_tool import URI
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.command_agents import MEMORY, CommandAgent, command, method_not_found
from tests.fakes.hub import TOKEN, route, settle, text_of
from tests.integration.slash_commands import call, execute, hub_of, names, tool_route

VERSIONS = pytest.mark.parametrize("version", ["0.3", "1.0"])
_UNKNOWN = {
    "commands/get": method_not_found,
    "command/execute": method_not_found,
    "GET /listCommands": lambda exchange: exchange.answer(404),
    "POST /executeCommand": lambda exchange: exchange.answer(404),
}


@pytest.fixture
def agent() -> Iterator[CommandAgent]:
    with CommandAgent() as server:
        yield server
        server.may_go_on.set()
        settle()


@VERSIONS
def test_the_commands_of_an_agent_are_listed_in_its_own_version(version: str) -> None:
    with CommandAgent(version=version) as agent:
        hub = hub_of(None, tool_route("alpha", agent.url))
        assert call(hub, "commands/get")["result"] == {"commands": [MEMORY]}
        (asked,) = agent.asked
    assert asked.headers.get("a2a-version") == ("1.0" if version == "1.0" else None)
    assert asked.headers["a2a-extensions" if version == "1.0" else "x-a2a-extensions"] == URI
    assert (hub.log[-1]["operation"], hub.log[-1]["outcome"]) == ("commands/get", "answered")


def test_several_agents_commands_are_one_list_in_the_order_of_the_table() -> None:
    other_a = command("a") | {"description": "Another one"}
    with CommandAgent([command("b"), command("a")]) as one, CommandAgent([other_a, MEMORY]) as two:
        hub = hub_of(None, tool_route("alpha", one.url), tool_route("beta", two.url))
        assert call(hub, "commands/get")["result"]["commands"] == [command("b"), command("a"), MEMORY]
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


def test_help_names_the_commands_that_reach_their_agent_when_they_are_typed(agent: CommandAgent) -> None:
    rules = tool_route("alpha", agent.url, patterns=("^/memory",))
    for typed, above, colon in (
        ("/help", "Commands of the agents:", ": "),
        ("/ヘルプ", "エージェントのコマンド：", "："),
    ):
        told = text_of(hub_of(None, rules).send(typed))
        assert told.endswith(f"\n\n{above}\n/memory{colon}{MEMORY['description']}")
        # No rule takes it there, or nobody can be asked.
        for unreached in (
            tool_route("alpha", agent.url),
            tool_route("alpha", "http://127.0.0.1:1", patterns=("^/memory",)),
        ):
            assert above not in text_of(hub_of(None, unreached).send(typed))


@pytest.mark.parametrize(
    ("description", "english", "japanese"),
    [
        ("Shows it. Quickly. 表示します", "Shows it. Quickly.", "表示します"),
        ("Shows the 表. 表示します", *["Shows the 表. 表示します"] * 2),
        ("Shows it. All of it", *["Shows it. All of it"] * 2),
    ],
)
def test_help_tells_a_bilingual_description_in_the_language_of_the_question(
    description: str, english: str, japanese: str
) -> None:
    with CommandAgent([command("a") | {"description": description}]) as agent:
        hub = hub_of(None, tool_route("alpha", agent.url, patterns=("^/a",)))
        assert text_of(hub.send("/help")).endswith(f"\n/a: {english}")
        assert text_of(hub.send("/ヘルプ")).endswith(f"\n/a：{japanese}")


def test_an_agent_that_fails_is_left_out_and_told_to_the_operator(agent: CommandAgent) -> None:
    hub = hub_of(None, tool_route("alpha", "http://127.0.0.1:1"), tool_route("beta", agent.url))
    assert names(hub) == ["memory"]
    left_out, _ = hub.log
    assert (left_out["severity"], left_out["route"], left_out["fault"]) == (
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
    assert (hub.log[-1]["severity"], hub.log[-1]["fault"]) == ("WARNING", "UNAVAILABLE")


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


def test_what_a_caller_may_not_use_is_neither_listed_nor_executed(agent: CommandAgent, tmp_path: Path) -> None:
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
        answer = hub.request("POST", "/", json.dumps(body).encode(), token=token, headers={"a2a-extensions": URI})
        assert answer.headers.get("a2a-extensions") == activated


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
    assert hub.log[-1]["fault"] == "no_command"
    assert call(hub, "ListTasks")["result"]["totalSize"] == 0


def test_where_an_agent_does_not_say_what_it_offers_the_command_may_be_its_own(tmp_path: Path) -> None:
    with CommandAgent([command("a")]) as one:
        hub = hub_of(tmp_path, tool_route("alpha", one.url), tool_route("beta", "http://127.0.0.1:1"))
        result = execute(hub, "memory")
    assert result["status"] == "FAILED_TO_START"
    assert "“Agent beta” cannot be reached" in result["message"]


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
    assert (error["code"], "authenticated callers" in error["message"]) == (-32004, True)
    assert agent.executed == []


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


def _sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
