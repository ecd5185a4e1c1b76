"""Agents with slash commands: one that speaks the `development-tool` extension, and one that does it as gemini-cli does."""

import json
import threading
from collections.abc import Callable, Iterable
from typing import Any

from a2a_hub.a2a.extensions.development_tool import URI
from tests.fakes import agent_wire
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json
from tests.fakes.http_server import Behaviour, Exchange

MEMORY = {
    "name": "memory",
    "description": "What is remembered",
    "arguments": [],
    "sub_commands": [
        {
            "name": "add",
            "description": "Remembers",
            "arguments": [{"name": "fact", "description": "What", "is_required": True}],
            "sub_commands": [],
        }
    ],
}


def command(name: str) -> Json:
    """A command at the top, as the hub lists it."""
    return {"name": name, "description": f"Does {name}", "arguments": [], "sub_commands": []}


def told(state: str, kind: str, *parts: Json) -> Json:
    """A status update of task-1 with the extension's metadata."""
    event = agent_wire.status(state)
    event["statusUpdate"]["metadata"] = {URI: {"kind": kind, "model": "fake"}}
    if parts:
        event["statusUpdate"]["status"]["message"] = agent_wire.message(*parts)["message"]
    return event


TOOL_CALL = {"tool_call_id": "call-1", "status": "EXECUTING", "tool_name": "memory", "of_tomorrow": [1]}
LIFE = (
    agent_wire.task("working"),
    told("working", "TOOL_CALL_UPDATE", agent_wire.data(TOOL_CALL)),
    told("working", "TEXT_CONTENT", agent_wire.text("Remembered.")),
    told("completed", "STATE_CHANGE"),
)


class CommandAgent(AgentServer):
    """Has `commands` and executes them: each becomes its task-1, whose life is `life` and goes on when `may_go_on` is set.

    `executed` are the params that it was asked to execute.
    """

    def __init__(
        self,
        commands: Iterable[Json] = (MEMORY,),
        *,
        life: Iterable[Json] = LIFE,
        answer: Callable[[Json], Json] | None = None,
        version: str = "1.0",
        **options: Any,
    ) -> None:
        super().__init__(version=version, **options)
        self.executed: list[Json] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self._commands = list(commands)
        self._life = list(life)
        self._executed = answer or (lambda _: {"execution_id": "task-1", "status": "STARTED", "message": ""})
        subscribe = "SubscribeToTask" if version == "1.0" else "tasks/resubscribe"
        self.answers |= {
            "commands/get": self._list,
            "command/execute": self._execute,
            subscribe: self._follow,
        }

    def _list(self, exchange: Exchange) -> None:
        _result(exchange, {"commands": self._commands})

    def _execute(self, exchange: Exchange) -> None:
        params = exchange.received.json["params"]
        self.executed.append(params)
        _result(exchange, self._executed(params))

    def _follow(self, exchange: Exchange) -> None:
        first, *others = self._life
        exchange.start_stream()
        exchange.event(self.written(exchange, first))
        self.may_go_on.wait(20)
        for event in others:
            exchange.event(self.written(exchange, event))


class GeminiCliAgent(AgentServer):
    """Speaks 0.3, and has gemini-cli's own paths for commands. `serve_command` answers what is executed."""

    def __init__(self, serve_command: Behaviour, **options: Any) -> None:
        super().__init__(version="0.3", **options)
        self.executed: list[Json] = []
        self._serve_command = serve_command
        self.answers |= {
            "commands/get": method_not_found,
            "command/execute": method_not_found,
            "GET /listCommands": self._list,
            "POST /executeCommand": self._execute,
        }

    def _list(self, exchange: Exchange) -> None:
        show = {"name": "memory show", "description": "Shows it", "arguments": [], "subCommands": []}
        memory = {"name": "memory", "description": "Memory", "arguments": [], "subCommands": [show]}
        exchange.json({"commands": [memory]})

    def _execute(self, exchange: Exchange) -> None:
        self.executed.append(exchange.received.json)
        self._serve_command(exchange)


def method_not_found(exchange: Exchange) -> None:
    """A JSON-RPC error."""
    error = {"code": -32601, "message": "Method not found"}
    exchange.json({"jsonrpc": "2.0", "id": exchange.received.json["id"], "error": error})


def lines_of_data(events: Iterable[Json]) -> Behaviour:
    """The events as gemini-cli streams those of a command."""

    def behave(exchange: Exchange) -> None:
        exchange.start_stream()
        exchange.send(lines(events))

    return behave


def lines(events: Iterable[Json]) -> bytes:
    """Each event on a line, without the empty line that ends an event."""
    written = [{"jsonrpc": "2.0", "id": "task-1", "result": agent_wire.in_v0_3_jsonrpc(each)} for each in events]
    return b"".join(b"data: " + json.dumps(each).encode() + b"\n" for each in written)


def _result(exchange: Exchange, result: Json) -> None:
    exchange.json({"jsonrpc": "2.0", "id": exchange.received.json["id"], "result": result})
