"""Slash commands: the methods `commands/get` and `command/execute` of the `development-tool` extension.

An execution is a stored task: a turn of the agent like any other, begun by `command/execute`. So it outlives its caller and its
process, and is followed, answered and cancelled like any task.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a import protojson
from a2a_hub.a2a.agent import MessageOperations
from a2a_hub.a2a.bindings.jsonrpc import Methods
from a2a_hub.a2a.call import Call, CurrentTask
from a2a_hub.a2a.card import OUTPUT_MODES
from a2a_hub.a2a.errors import UNSUPPORTED_OPERATION, A2AError, invalid_field
from a2a_hub.a2a.extensions.development_tool import (
    URI,
    CommandExecutionStatus,
    ExecuteSlashCommandRequest,
    ExecuteSlashCommandResponse,
    GetAllSlashCommandsRequest,
    GetAllSlashCommandsResponse,
    Schema,
    Spelling,
    spelling_of,
    write,
)
from a2a_hub.a2a.model import Binding, Message, Part, Role, SendMessageConfiguration, SendMessageRequest, Version
from a2a_hub.a2a.operations import Operation
from a2a_hub.a2a.versions import VersionCodec
from a2a_hub.runtime.ids import new_id

_COMMAND = "command"

GET_COMMANDS = Operation("commands/get", GetAllSlashCommandsRequest, extension=URI)
EXECUTE_COMMAND = Operation("command/execute", ExecuteSlashCommandRequest, extension=URI)


class CommandCall(Struct, frozen=True):
    """A call of one of the methods, with the spelling of its params, which is that of its result."""

    request: Schema
    spelling: Spelling


class CommandCodec(VersionCodec):
    """The methods' requests and results, which are the same in all versions of A2A. They exist over JSON-RPC only."""

    def __init__(self, version: Version) -> None:
        self.version = version

    def read_request(
        self, operation: Operation, params: Any, binding: Binding = Binding.JSONRPC, *, completes: bool = False
    ) -> CommandCall:
        if operation is GET_COMMANDS:
            return CommandCall(protojson.read(GetAllSlashCommandsRequest, params), spelling_of(params))
        request = protojson.read(ExecuteSlashCommandRequest, params)
        if not request.command_path:
            raise invalid_field("commandPath", 'is required: ["memory", "add"] stands for /memory add')
        for index, name in enumerate(request.command_path):
            if not name.strip():
                raise invalid_field(f"commandPath[{index}]", "must not be empty")
        return CommandCall(request, spelling_of(params))

    def write_result(self, operation: Operation, value: Any, binding: Binding) -> bytes:
        """See `VersionCodec.write_result`. The value is JSON."""
        return protojson.encode(value)


METHODS: Methods = {
    operation.name: {version: (operation, CommandCodec(version)) for version in Version}
    for operation in (GET_COMMANDS, EXECUTE_COMMAND)
}
"""The methods by their names."""


class SlashCommands(Protocol):
    """An agent with slash commands. Each method raises A2AError."""

    def commands(self, request: GetAllSlashCommandsRequest, call: Call) -> GetAllSlashCommandsResponse:
        """Return the commands that this caller may use."""

    def execute(
        self, request: ExecuteSlashCommandRequest, call: Call, operations: MessageOperations
    ) -> ExecuteSlashCommandResponse:
        """Start the command; `operations` is for `start_execution`.

        With STARTED, `execution_id` is the id of a stored task of the caller. With FAILED_TO_START, `message` tells the user that
        there is no such command or that its arguments are wrong; nothing is left. `call` has the extension active and takes data.
        """


def answer(
    commands: SlashCommands, command_call: CommandCall, call: Call, operations: MessageOperations | None
) -> dict[str, Any]:
    """Return the result of a method as JSON; `operations` starts tasks. Raises A2AError."""
    match command_call.request:
        case GetAllSlashCommandsRequest() as request:
            result: Schema = commands.commands(request, call)
        case ExecuteSlashCommandRequest() as request:
            result = commands.execute(request, call, _require_operations(operations, call))
        case _:
            raise AssertionError(f"no method takes {type(command_call.request).__name__}")
    return write(result, command_call.spelling)


def command_line(request: ExecuteSlashCommandRequest) -> str:
    """Return the command as a person types it: `/memory add the sky is blue`."""
    return " ".join(("/" + request.command_path[0], *request.command_path[1:], request.args)).strip()


def _require_operations(operations: MessageOperations | None, call: Call) -> MessageOperations:
    if operations is None:
        raise A2AError(UNSUPPORTED_OPERATION, "A command is executed as a stored task, and this agent keeps no tasks")
    if call.principal is None:
        raise A2AError(
            UNSUPPORTED_OPERATION,
            "A command is executed as a stored task, which is kept only for authenticated callers",
        )
    return operations


def start_execution(
    request: ExecuteSlashCommandRequest,
    call: Call,
    operations: MessageOperations,
    *,
    notes: Mapping[str, Any] | None = None,
) -> ExecuteSlashCommandResponse:
    """Store a task of the caller, whose turn executes the command, and return the answer STARTED.

    The agent's `send` gets a message with the command line and the request's metadata; `notes` are with its task, and
    `command_of(call)` is the request. Raises what `send` raises.
    """
    message = Message(
        message_id=new_id(),
        role=Role.USER,
        parts=(Part(text=command_line(request)),),
        metadata=request.metadata,
        extensions=(URI,),
    )
    configuration = SendMessageConfiguration(accepted_output_modes=OUTPUT_MODES, return_immediately=True)
    noted = {_COMMAND: write(replace(request, metadata=None), Spelling.SNAKE), **(notes or {})}
    call = replace(call, task=CurrentTask(id=new_id(), notes=noted))
    try:
        task = operations.send(SendMessageRequest(message=message, configuration=configuration), call)
    except A2AError as error:
        raise _with_params_fields(error) from None
    assert not isinstance(task, Message), "return_immediately gives a task"
    return ExecuteSlashCommandResponse(execution_id=task.id, status=CommandExecutionStatus.STARTED)


def _with_params_fields(error: A2AError) -> A2AError:
    """Return the error with its fields as they stand in the params: the message's metadata is the request's own there."""
    fields = tuple((path.removeprefix("message."), text) for path, text in error.fields)
    text = error.message.replace("message.metadata", "metadata") if fields else error.message
    return A2AError(error.kind, text, fields=fields, metadata=error.metadata, headers=error.headers)


def command_of(call: Call) -> ExecuteSlashCommandRequest | None:
    """Return the command that this turn executes, None for a turn that a message began."""
    if call.task is None or call.task.turn > 1:
        return None
    note = call.task.notes.get(_COMMAND)
    return None if note is None else protojson.read(ExecuteSlashCommandRequest, note)


def not_started(message: str) -> ExecuteSlashCommandResponse:
    """Return the answer FAILED_TO_START with its reason."""
    return ExecuteSlashCommandResponse(status=CommandExecutionStatus.FAILED_TO_START, message=message)
