"""The `development-tool` extension: its messages, under the names that its specification gives them.

As in proto3, what is absent is empty. None is what is marked optional, or is one of several, and is not there.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

URI = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"
"""What the card, the header, `message.extensions` and the keys of metadata name the extension by. It holds the version."""


class Schema(Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of the extension's messages. `schema_json.py` reads and writes them; members that are not known are not read."""


class ToolCallStatus(StrEnum):
    """The state of a tool call."""

    STATUS_UNSPECIFIED = "STATUS_UNSPECIFIED"
    PENDING = "PENDING"
    EXECUTING = "EXECUTING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class DevelopmentToolEventKind(StrEnum):
    """What a status update tells."""

    DEVELOPMENT_TOOL_EVENT_KIND_UNSPECIFIED = "DEVELOPMENT_TOOL_EVENT_KIND_UNSPECIFIED"
    TOOL_CALL_CONFIRMATION = "TOOL_CALL_CONFIRMATION"
    TOOL_CALL_UPDATE = "TOOL_CALL_UPDATE"
    TEXT_CONTENT = "TEXT_CONTENT"
    STATE_CHANGE = "STATE_CHANGE"
    THOUGHT = "THOUGHT"


class CommandExecutionStatus(StrEnum):
    """What became of the request to execute a command."""

    COMMAND_EXECUTION_STATUS_UNSPECIFIED = "COMMAND_EXECUTION_STATUS_UNSPECIFIED"
    STARTED = "STARTED"
    FAILED_TO_START = "FAILED_TO_START"
    AWAITING_SHELL_CONFIRMATION = "AWAITING_SHELL_CONFIRMATION"
    AWAITING_ACTION_CONFIRMATION = "AWAITING_ACTION_CONFIRMATION"


class AgentSettings(Schema, frozen=True, kw_only=True):
    """In the metadata of a session's first message. `workspace_path` is absolute."""

    workspace_path: str = ""


class FileDiff(Schema, frozen=True, kw_only=True):
    """A change of one file. `file_path` is absolute; `old_content` is absent where there was no file."""

    file_name: str = ""
    file_path: str = ""
    old_content: str | None = None
    new_content: str = ""
    formatted_diff: str | None = None


class ToolOutput(Schema, frozen=True, kw_only=True):
    """What a tool gave: one of the three."""

    text: str | None = None
    diff: FileDiff | None = None
    structured_data: dict[str, Any] | None = None


class ErrorDetails(Schema, frozen=True, kw_only=True):
    """Why a tool failed. `message` is for the user."""

    message: str = ""
    type: str | None = None
    status_code: int | None = None


class ConfirmationOption(Schema, frozen=True, kw_only=True):
    """A choice: `id` such as `proceed_once`, `name` such as "Allow Once"."""

    id: str = ""
    name: str = ""
    description: str | None = None


class ExecuteDetails(Schema, frozen=True, kw_only=True):
    """A shell command that wants to be confirmed."""

    command: str = ""
    working_directory: str | None = None


class McpDetails(Schema, frozen=True, kw_only=True):
    """A tool of an MCP server that wants to be confirmed."""

    server_name: str = ""
    tool_name: str = ""


class GenericDetails(Schema, frozen=True, kw_only=True):
    """Anything else that wants to be confirmed."""

    description: str = ""


class ConfirmationRequest(Schema, frozen=True, kw_only=True):
    """What the user is asked before a tool is called; at most one of the details."""

    options: tuple[ConfirmationOption, ...] = ()
    execute_details: ExecuteDetails | None = None
    file_edit_details: FileDiff | None = None
    mcp_details: McpDetails | None = None
    generic_details: GenericDetails | None = None


class ToolCall(Schema, frozen=True, kw_only=True):
    """A tool call as it is now, whole in every update: at its end with `output` or `error`, while PENDING with what it asks."""

    tool_call_id: str = ""
    status: ToolCallStatus = ToolCallStatus.STATUS_UNSPECIFIED
    tool_name: str = ""
    description: str | None = None
    input_parameters: dict[str, Any] | None = None
    live_content: str | None = None
    output: ToolOutput | None = None
    error: ErrorDetails | None = None
    confirmation_request: ConfirmationRequest | None = None


class AgentThought(Schema, frozen=True, kw_only=True):
    """What the agent thinks."""

    subject: str = ""
    description: str = ""


class DevelopmentToolEvent(Schema, frozen=True, kw_only=True):
    """In the metadata of every status update, which it tells how to read."""

    kind: DevelopmentToolEventKind = DevelopmentToolEventKind.DEVELOPMENT_TOOL_EVENT_KIND_UNSPECIFIED
    model: str = ""
    user_tier: str | None = None
    error: str | None = None


class ModifiedFileDetails(Schema, frozen=True, kw_only=True):
    """A file as the user changed what was proposed."""

    new_content: str = ""


class ToolCallConfirmation(Schema, frozen=True, kw_only=True):
    """The user's decision: the `id` of the option, and what they changed."""

    tool_call_id: str = ""
    selected_option_id: str = ""
    file_details: ModifiedFileDetails | None = None


class SlashCommandArgument(Schema, frozen=True, kw_only=True):
    """An argument of a command."""

    name: str = ""
    description: str = ""
    is_required: bool = False


class SlashCommand(Schema, frozen=True, kw_only=True):
    """A command, and those below it."""

    name: str = ""
    description: str = ""
    arguments: tuple[SlashCommandArgument, ...] = ()
    sub_commands: tuple[SlashCommand, ...] = ()


class GetAllSlashCommandsRequest(Schema, frozen=True, kw_only=True):
    """The params of `commands/get`, which the specification leaves open; `metadata` as in the protocol's own requests."""

    metadata: dict[str, Any] | None = None


class GetAllSlashCommandsResponse(Schema, frozen=True, kw_only=True):
    """The result of `commands/get`: the commands at the top."""

    commands: tuple[SlashCommand, ...] = ()


class ExecuteSlashCommandRequest(Schema, frozen=True, kw_only=True):
    """The params of `command/execute`: `("memory", "add")` for `/memory add`. `metadata` as in the protocol's own requests."""

    command_path: tuple[str, ...] = ()
    args: str = ""
    metadata: dict[str, Any] | None = None


class ExecuteSlashCommandResponse(Schema, frozen=True, kw_only=True):
    """The result of `command/execute`. `execution_id` is the id of a task; of a command that did not start, it is empty."""

    execution_id: str = ""
    status: CommandExecutionStatus = CommandExecutionStatus.COMMAND_EXECUTION_STATUS_UNSPECIFIED
    message: str = ""


ONE_OF: dict[type[Schema], tuple[str, ...]] = {
    ToolCall: ("output", "error"),
    ToolOutput: ("text", "diff", "structured_data"),
    ConfirmationRequest: ("execute_details", "file_edit_details", "mcp_details", "generic_details"),
}
"""Fields of which at most one is there."""
