"""An agent with slash commands behind the protocol, in the process of the tests."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from a2a_hub.a2a.agent import AnsweringAgent, MessageOperations, Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import AgentCapabilities, AgentExtension
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.extensions import slash_commands
from a2a_hub.a2a.extensions.development_tool import (
    URI,
    ExecuteSlashCommandRequest,
    ExecuteSlashCommandResponse,
    GetAllSlashCommandsRequest,
    GetAllSlashCommandsResponse,
    SlashCommand,
)
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Piece, Question, Text
from a2a_hub.a2a.server import A2AServer
from a2a_hub.http.messages import Request, body_of
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import Principal
from a2a_hub.runtime.ids import new_id
from a2a_hub.telemetry.log import Log
from tests.contract.a2a.served import CARD
from tests.fakes.task_instance import Instance

ADA = Principal(subject="ada")


class Memory:
    """An agent with one command, `/memory add WHAT`, which remembers; `/memory ask` waits for an answer."""

    def __init__(self) -> None:
        self.remembered: list[str] = []
        self.calls: list[Call] = []
        self.requests: list[SendMessageRequest] = []
        self.may_end = threading.Event()

    def commands(self, request: GetAllSlashCommandsRequest, call: Call) -> GetAllSlashCommandsResponse:
        self.calls.append(call)
        skill = (request.metadata or {}).get("skill", "memory")
        return GetAllSlashCommandsResponse(
            commands=(SlashCommand(name=skill, sub_commands=(SlashCommand(name="add"),)),)
        )

    def execute(
        self, request: ExecuteSlashCommandRequest, call: Call, operations: MessageOperations
    ) -> ExecuteSlashCommandResponse:
        if request.command_path[0] != "memory":
            return slash_commands.not_started(f"There is no command /{request.command_path[0]}.")
        return slash_commands.start_execution(request, call, operations)

    def answer(self, request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        self.calls.append(call)
        self.requests.append(request)
        command = slash_commands.command_of(call)
        match command and command.command_path[1]:
            case "add":
                assert command
                call.cancellation.on_cancel(self.may_end.set)
                assert self.may_end.wait(20)
                self.remembered.append(command.args)
                yield Text(f"Remembered: {command.args}")
            case "ask":
                yield Question("What?")
            case _:
                yield Text(f"Told: {text_of(request.message)}")


class MemoryAgent(AnsweringAgent):
    """It works in no folder: `/memory elsewhere` is refused."""

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        command = slash_commands.command_of(call)
        if command and command.command_path[1] == "elsewhere":
            raise invalid_field(f"message.metadata.{URI}.workspace_path", "names no folder")
        return super().send(request, call)


class Served:
    """The agent behind the protocol; `instance` keeps its tasks."""

    def __init__(self, path: Path, *, declares: bool = True, keeps_tasks: bool = True, **options: Any) -> None:
        self.memory = Memory()
        agent = MemoryAgent(self.memory.answer)
        self.instance = Instance(path / "tasks.db", lambda _: (), answers=agent, **options)
        capabilities = AgentCapabilities(streaming=True, extensions=(AgentExtension(uri=URI),) if declares else ())
        card = replace(CARD, capabilities=capabilities)
        log = Log(list[bytes]().append, clock=lambda: 0.0, new_id=new_id, function="memory")
        self._server = A2AServer(
            agent,
            card=lambda: card,
            log=log,
            tasks=self.instance.kept if keeps_tasks else None,
            development_tool=self.memory,
        )

    def ask(
        self,
        method: str,
        params: Any = None,
        *,
        principal: Principal | None = ADA,
        headers: dict[str, str] | None = None,
        record: dict[str, Any] | None = None,
    ) -> Any:
        """The JSON of the answer."""
        body = {"jsonrpc": "2.0", "id": 7, "method": method} | ({} if params is None else {"params": params})
        request = Request(
            method="POST",
            path="/",
            headers={"content-type": "application/json"} | (headers or {}),
            read_body=body_of(json.dumps(body).encode()),
        )
        record = {} if record is None else record
        record["requestId"] = "r"
        response = self._server.handle(request, Caller(principal=principal), record)
        assert response is not None
        assert isinstance(response.body, bytes)
        answer = json.loads(response.body)
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
        self.headers = response.headers
        self.status = response.status
        return answer
