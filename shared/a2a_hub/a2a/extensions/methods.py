"""The methods of the `development-tool` extension: what an agent that offers them has to be, and how a call of one is read."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec.structs import replace

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import OUTPUT_MODES, AgentCard
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.extensions.development_tool import (
    URI,
    ExecuteSlashCommandRequest,
    ExecuteSlashCommandResponse,
    GetAllSlashCommandsRequest,
    GetAllSlashCommandsResponse,
    Schema,
)
from a2a_hub.a2a.extensions.schema_json import read, spelling_of, write
from a2a_hub.a2a.operations import Operation

GET_COMMANDS = Operation("commands/get", GetAllSlashCommandsRequest, (), "commands/get", ())
EXECUTE_COMMAND = Operation("command/execute", ExecuteSlashCommandRequest, (), "command/execute", ())
METHODS = {operation.name: operation for operation in (GET_COMMANDS, EXECUTE_COMMAND)}
"""By their names, which are the same in all versions of A2A. They exist over JSON-RPC only."""


class DevelopmentTool(Protocol):
    """What the server needs of an agent for the two methods. Each raises A2AError."""

    def commands(self, request: GetAllSlashCommandsRequest, call: Call) -> GetAllSlashCommandsResponse:
        """The commands that this caller may use."""
        ...

    def execute(self, request: ExecuteSlashCommandRequest, call: Call) -> ExecuteSlashCommandResponse:
        """Starts the command. STARTED: `execution_id` is the id of a stored task, which the caller follows like any other.

        FAILED_TO_START, with a message for the user: there is no such command, or its arguments are wrong; nothing is left.
        `call` is one of the extension, and takes data.
        """
        ...


def declared(card: AgentCard) -> bool:
    """Whether the card says that the agent has the extension."""
    return any(extension.uri == URI for extension in card.capabilities.extensions)


def read_request(operation: Operation, params: Any) -> Schema:
    """The request in a call's params. Raises INVALID_PARAMS with the field named."""
    if operation is GET_COMMANDS:
        return read(GetAllSlashCommandsRequest, {} if params is None else params)
    request = read(ExecuteSlashCommandRequest, {} if params is None else params)
    if not request.command_path:
        raise invalid_field("commandPath", 'is required: ["memory", "add"] stands for /memory add')
    for index, name in enumerate(request.command_path):
        if not name.strip():
            raise invalid_field(f"commandPath[{index}]", "must not be empty")
    return request


def activating(call: Call) -> Call:
    """The call, with the extension: whoever calls a method of it uses it, and takes its data, whatever the request says."""
    uris = call.extensions if URI in call.extensions else (*call.extensions, URI)
    return replace(call, extensions=uris, accepted_modes=OUTPUT_MODES)


def answered(tool: DevelopmentTool, request: Schema, call: Call, *, params: Any) -> dict[str, Any]:
    """The result, in the spelling of the `params` that the request was read from. Raises A2AError."""
    match request:
        case GetAllSlashCommandsRequest():
            result: Schema = tool.commands(request, call)
        case ExecuteSlashCommandRequest():
            result = tool.execute(request, call)
        case _:
            raise AssertionError(f"no method takes {type(request).__name__}")
    return write(result, spelling_of(params))
