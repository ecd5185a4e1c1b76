"""An agent's slash commands: by the methods of the `development-tool` extension or, without these, by gemini-cli's paths."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from a2a_hub.a2a.client import A2AClient, AgentCall, Endpoint, as_client_error
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.errors import METHOD_NOT_FOUND
from a2a_hub.a2a.extensions.development_tool import (
    CommandExecutionStatus,
    ExecuteSlashCommandRequest,
    ExecuteSlashCommandResponse,
    GetAllSlashCommandsRequest,
    GetAllSlashCommandsResponse,
    Schema,
    SlashCommand,
    Spelling,
    read,
    write,
)
from a2a_hub.a2a.extensions.slash_commands import EXECUTE_COMMAND, GET_COMMANDS
from a2a_hub.a2a.model import Binding, Event
from a2a_hub.a2a.operations import Operation
from functions.hub.downstream.gemini_cli_commands import GeminiCliCommands
from functions.hub.downstream.interface import AgentRequest, ExecutionReply, TransportCall

S = TypeVar("S", bound=Schema)
_STATUSES = frozenset(CommandExecutionStatus)
# Answers to JSON-RPC of an agent that speaks HTTP+JSON only.
_NO_JSONRPC = frozenset({ClientFault.NOT_FOUND, ClientFault.UNEXPECTED_STATUS, ClientFault.NOT_JSON})


class CommandLine:
    """The commands of one agent, by the way that it has. Thread-safe. Each method raises ClientError."""

    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self._gemini = GeminiCliCommands()
        self._has_methods = True

    def commands(
        self, endpoint: Endpoint, call: TransportCall, request: GetAllSlashCommandsRequest
    ) -> Sequence[SlashCommand]:
        """Return the agent's commands; none if it supports neither way."""
        if self._has_methods:
            result = self._result(endpoint, call, GET_COMMANDS, request, GetAllSlashCommandsResponse)
            if result is not None:
                return result.commands
        commands = self._gemini.commands(endpoint, call)
        self._has_methods = commands is None
        return commands or ()

    def execute(
        self, endpoint: Endpoint, call: TransportCall, request: ExecuteSlashCommandRequest
    ) -> ExecutionReply:
        """Execute the command, once: an unsupported way executes nothing."""
        if self._has_methods:
            result = self._result(endpoint, call, EXECUTE_COMMAND, request, ExecuteSlashCommandResponse)
            if result is not None:
                return _executed(result)
        executed = self._gemini.execute(endpoint, call, request)
        self._has_methods = executed is None
        return executed or ExecutionReply(refusal="")

    def live(self, agent_request: AgentRequest) -> Generator[Event] | None:
        """Return the events of an execution, if they come over the connection of its request."""
        return self._gemini.live(agent_request)

    def _result(
        self, endpoint: Endpoint, call: TransportCall, operation: Operation, request: Schema, type_: type[S]
    ) -> S | None:
        """Return the result of the method; None if the agent has no such method."""
        # The methods exist over JSON-RPC alone.
        over_jsonrpc = replace(endpoint, binding=Binding.JSONRPC)
        params = write(request, Spelling.SNAKE)
        client = A2AClient(call.http, new_id=self._new_id)
        try:
            agent_call = AgentCall(endpoint=over_jsonrpc, headers=call.headers, budget=call.budget)
            result: Any = client.result(agent_call, operation, params)
        except ClientError as error:
            speaks_none = endpoint.binding is not Binding.JSONRPC and error.fault in _NO_JSONRPC
            if error.code == METHOD_NOT_FOUND.code or speaks_none:
                return None
            raise
        with as_client_error():
            return read(type_, _known(result), "result")


def _known(result: Any) -> Any:
    """Return the result without an unknown status: the task that it names decides then."""
    if isinstance(result, dict) and isinstance(status := result.get("status"), str):
        return result if status in _STATUSES else result | {"status": None}
    return result


def _executed(response: ExecuteSlashCommandResponse) -> ExecutionReply:
    if response.status is CommandExecutionStatus.FAILED_TO_START:
        return ExecutionReply(refusal=response.message)
    if not response.execution_id:
        raise ClientError(ClientFault.NOT_A2A, "the answer names no task for the command")
    unsaid = response.status is CommandExecutionStatus.COMMAND_EXECUTION_STATUS_UNSPECIFIED
    status = CommandExecutionStatus.STARTED if unsaid else response.status
    return ExecutionReply(task_id=response.execution_id, status=status, message=response.message)
