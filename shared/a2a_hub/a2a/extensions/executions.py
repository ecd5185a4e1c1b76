"""A slash command's execution as a stored task: a turn of the agent like any other, begun by `command/execute`.

So it goes on when its caller leaves and when its process dies, and is followed, answered and cancelled like any task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from a2a_hub.a2a.call import Call, TaskInHand
from a2a_hub.a2a.card import OUTPUT_MODES
from a2a_hub.a2a.errors import UNSUPPORTED_OPERATION, A2AError
from a2a_hub.a2a.extensions.development_tool import (
    URI,
    CommandExecutionStatus,
    ExecuteSlashCommandRequest,
    ExecuteSlashCommandResponse,
)
from a2a_hub.a2a.extensions.schema_json import Spelling, read, write
from a2a_hub.a2a.model import Message, Part, Role, SendMessageConfiguration, SendMessageRequest
from a2a_hub.a2a.task_service_protocol import Sending

_COMMAND = "command"


def as_typed(request: ExecuteSlashCommandRequest) -> str:
    """The command as a person types it: `/memory add the sky is blue`."""
    return " ".join(("/" + request.command_path[0], *request.command_path[1:], request.args)).strip()


def kept(sending: Sending | None, call: Call) -> Sending:
    """What starts the task of an execution. Raises UNSUPPORTED_OPERATION where none can be kept."""
    if sending is None:
        raise A2AError(
            UNSUPPORTED_OPERATION, "A command is executed as a stored task, and this agent keeps no tasks"
        )
    if call.principal is None:
        raise A2AError(
            UNSUPPORTED_OPERATION,
            "A command is executed as a stored task, which is kept only for callers who say who they are",
        )
    return sending


def started(
    request: ExecuteSlashCommandRequest,
    call: Call,
    sending: Sending | None,
    *,
    new_id: Callable[[], str],
    notes: Mapping[str, Any] | None = None,
) -> ExecuteSlashCommandResponse:
    """The answer that says STARTED: a task of the caller is stored, and its turn executes the command.

    The agent's `send` gets a message that says the command as it is typed, with the request's metadata; `notes` are with its
    task, and `command_of(call)` is the request. Raises UNSUPPORTED_OPERATION where no task can be kept, and what `send` raises.
    """
    sending = kept(sending, call)
    message = Message(
        message_id=new_id(),
        role=Role.USER,
        parts=(Part(text=as_typed(request)),),
        metadata=request.metadata,
        extensions=(URI,),
    )
    configuration = SendMessageConfiguration(accepted_output_modes=OUTPUT_MODES, return_immediately=True)
    noted = {_COMMAND: write(replace(request, metadata=None), Spelling.SNAKE), **(notes or {})}
    call = replace(call, task=TaskInHand(id=new_id(), notes=noted))
    try:
        task = sending.send(SendMessageRequest(message=message, configuration=configuration), call)
    except A2AError as error:
        raise _of_params(error) from None
    assert not isinstance(task, Message), "who asks for it at once gets the task"
    return ExecuteSlashCommandResponse(execution_id=task.id, status=CommandExecutionStatus.STARTED)


def _of_params(error: A2AError) -> A2AError:
    """The error with its fields as they stand in the params: what is a message's in the turn is the request's own there."""
    fields = tuple((path.removeprefix("message."), text) for path, text in error.fields)
    said = error.message.replace("message.metadata", "metadata") if fields else error.message
    return A2AError(error.kind, said, fields=fields, metadata=error.metadata, headers=error.headers)


def command_of(call: Call) -> ExecuteSlashCommandRequest | None:
    """The command that this turn executes; None for a turn that a message began."""
    if call.task is None or call.task.turn > 1:
        return None
    note = call.task.notes.get(_COMMAND)
    return None if note is None else read(ExecuteSlashCommandRequest, note)


def not_started(message: str) -> ExecuteSlashCommandResponse:
    """The answer that says FAILED_TO_START, and why."""
    return ExecuteSlashCommandResponse(status=CommandExecutionStatus.FAILED_TO_START, message=message)
