"""The methods of the `development-tool` extension: what an agent that offers them has to be, and how a call of one is read."""

from __future__ import annotations

from typing import Protocol

from shared.a2a.call import Call
from shared.a2a.extensions.development_tool import (
    ExecuteSlashCommandRequest,
    ExecuteSlashCommandResponse,
    GetAllSlashCommandsRequest,
    GetAllSlashCommandsResponse,
)
from shared.a2a.operations import Operation

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
