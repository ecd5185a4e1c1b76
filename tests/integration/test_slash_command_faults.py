"""Every fault of an agent is contained where its slash commands are listed and executed, too."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.extensions.development_tool import GetAllSlashCommandsRequest
from a2a_hub.boundaries.sources import CredentialSources
from a2a_hub.http.client import HttpClient
from functions.hub.downstream.a2a_transport import a2a_agent
from functions.hub.failure import DownstreamFailed
from tests.fakes.agent_server import AgentServer
from tests.fakes.command_agents import CommandAgent
from tests.fakes.faults import FAULTS, SECRETS, Fault
from tests.fakes.http_server import HttpServer
from tests.fakes.hub import Hub, person
from tests.integration.slash_commands import call, execute, hub_of, names, tool_route

# The extension has no HTTP+JSON; a task that fails has started; an agent with neither the methods nor the paths has no commands.
_OF_OTHERS = ("REST", "a task that ends", "method not found")
_OF_COMMANDS = tuple(fault for fault in FAULTS if not fault.name.startswith(_OF_OTHERS))
# An object that does not say which commands there are is a list of none.
_LISTS_NONE = ("a result that is no A2A", "a result with a wrong type", "the other version")


@pytest.mark.parametrize(
    "fault",
    [fault for fault in _OF_COMMANDS if fault.name not in _LISTS_NONE],
    ids=lambda fault: fault.name,
)
def test_an_agents_fault_is_left_out_of_the_list_of_the_others_commands(fault: Fault) -> None:
    with fault.serve() as server, CommandAgent() as other:
        _has_the_fault(server)
        hub = _hub(None, fault, server, other)
        assert names(hub) == ["memory"]
        left_out, record = hub.log
        assert (left_out["route"], left_out["fault"]) == ("alpha", fault.fault)
        assert (record["operation"], record["outcome"]) == ("commands/get", "answered")


@pytest.mark.parametrize("fault", _OF_COMMANDS, ids=lambda fault: fault.name)
def test_an_agents_fault_is_why_its_command_did_not_start(fault: Fault, tmp_path: Path) -> None:
    with fault.serve() as server, CommandAgent() as other:
        _has_the_fault(server)
        hub = _hub(tmp_path, fault, server, other)
        result = execute(hub, "memory", metadata={"skill": "alpha"})
        assert (result["status"], result["execution_id"]) == ("FAILED_TO_START", "")
        assert "“Agent alpha”" in result["message"]
        _leaks_nothing(json.dumps(result), server)
        record = hub.log[-1]
        assert (record["fault"], record["route"]) == (fault.fault, "alpha")
        assert record["requestId"] in result["message"]
        sent = [each for each in server.received if b"command/execute" in each.body]
        assert len(sent) <= 1
        assert call(hub, "ListTasks")["result"]["totalSize"] == 0


def test_an_agent_that_failed_repeatedly_is_left_alone_for_its_commands_too(tmp_path: Path) -> None:
    with HttpServer(lambda exchange: exchange.answer(500)) as server:
        hub = hub_of(tmp_path, tool_route("alpha", server.url))
        for _ in range(5):
            assert "error" in call(hub, "commands/get")
        asked = len(server.received)
        result = execute(hub, "memory")
        assert len(server.received) == asked
    assert "was not sent to it" in result["message"]
    assert hub.log[-1]["fault"] == "circuit_open"


def test_an_answer_that_names_neither_a_task_nor_a_status_is_the_agents_fault(tmp_path: Path) -> None:
    with CommandAgent(answer=lambda _: {"message": "hm"}) as agent:
        result = execute(hub_of(tmp_path, tool_route("alpha", agent.url)), "memory")
    assert (result["status"], "had a problem" in result["message"]) == ("FAILED_TO_START", True)


def test_a_defect_of_the_hub_while_an_agent_is_asked_is_contained(tmp_path: Path) -> None:
    # As when one part of it was changed, and another was not.
    changed: Any = object()
    hub = hub_of(tmp_path, tool_route("alpha", "http://127.0.0.1:1"), downstreams={"alpha": changed})
    result = execute(hub, "memory")
    assert "Something went wrong in the hub" in call(hub, "commands/get")["error"]["message"]
    assert "Something went wrong in the hub" in result["message"]
    assert "AttributeError" in next(line["stack_trace"] for line in hub.log if "stack_trace" in line)


def test_a_list_may_have_less_time_than_the_route_gives_an_answer() -> None:
    with HttpServer(lambda exchange: exchange.wait_until_left()) as silent:
        http = HttpClient()
        agent = a2a_agent(
            tool_route("alpha", silent.url, timeout_seconds=60.0),
            http=http,
            sources=CredentialSources(),
        )
        started = time.monotonic()
        with pytest.raises(DownstreamFailed) as failed:
            agent.commands(GetAllSlashCommandsRequest(), person(), seconds=0.1)
    assert failed.value.failure.fault == "timeout"
    assert time.monotonic() - started < 30


def _hub(folder: Path | None, fault: Fault, server: HttpServer, other: CommandAgent) -> Hub:
    url = server.url.replace("http", fault.scheme, 1)
    seconds = 0.15 if fault.fault == "timeout" else 20.0
    changes = {
        "timeout_seconds": seconds,
        "stream_idle_timeout_seconds": seconds,
        "max_response_bytes": 1 << 20,
    }
    return hub_of(folder, tool_route("alpha", url, **changes), tool_route("beta", other.url))


def _has_the_fault(server: HttpServer) -> None:
    if isinstance(server, AgentServer):
        assert server.serve_message is not None
        server.answers |= dict.fromkeys(("commands/get", "command/execute"), server.serve_message)


def _leaks_nothing(text: str, server: HttpServer) -> None:
    for secret in (*SECRETS, str(server.port), "127.0.0.1"):
        assert secret not in text
