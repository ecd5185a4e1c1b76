"""The `development-tool` extension: its messages, under the names of its specification, and their JSON.

As in proto3, an absent member is empty; None stands for an absent one that is optional, or one of several. ProtoJSON writes
camelCase and reads snake_case too; the one JSON sample in the specification is in snake_case. So both are read, and what is
written is in the caller's spelling.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from a2a_hub.a2a import protojson
from a2a_hub.a2a.model import Message, Part

URI = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"
"""The name of the extension in cards, headers, `message.extensions` and the keys of metadata. It includes the version."""

_ANY_VERSION = URI.partition("/v0/")[0] + "/v"


def is_development_tool(uri: str) -> bool:
    """Return True for the extension's URI in any version."""
    return uri.startswith(_ANY_VERSION)


class Schema(Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of the extension's messages. Unknown members are ignored. At most one of `at_most_one_of` is set."""

    at_most_one_of: ClassVar[tuple[str, ...]] = ()


class ToolCallStatus(StrEnum):
    """The state of a tool call."""

    STATUS_UNSPECIFIED = "STATUS_UNSPECIFIED"
    PENDING = "PENDING"
    EXECUTING = "EXECUTING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class DevelopmentToolEventKind(StrEnum):
    """The kind of a status update."""

    DEVELOPMENT_TOOL_EVENT_KIND_UNSPECIFIED = "DEVELOPMENT_TOOL_EVENT_KIND_UNSPECIFIED"
    TOOL_CALL_CONFIRMATION = "TOOL_CALL_CONFIRMATION"
    TOOL_CALL_UPDATE = "TOOL_CALL_UPDATE"
    TEXT_CONTENT = "TEXT_CONTENT"
    STATE_CHANGE = "STATE_CHANGE"
    THOUGHT = "THOUGHT"


class CommandExecutionStatus(StrEnum):
    """The outcome of the request to execute a command."""

    COMMAND_EXECUTION_STATUS_UNSPECIFIED = "COMMAND_EXECUTION_STATUS_UNSPECIFIED"
    STARTED = "STARTED"
    FAILED_TO_START = "FAILED_TO_START"
    AWAITING_SHELL_CONFIRMATION = "AWAITING_SHELL_CONFIRMATION"
    AWAITING_ACTION_CONFIRMATION = "AWAITING_ACTION_CONFIRMATION"


class AgentSettings(Schema, frozen=True, kw_only=True):
    """The metadata of a session's first message. `workspace_path` is absolute."""

    workspace_path: str = ""


class FileDiff(Schema, frozen=True, kw_only=True):
    """A change of one file. `file_path` is absolute; `old_content` is absent where there was no file."""

    file_name: str = ""
    file_path: str = ""
    old_content: str | None = None
    new_content: str = ""
    formatted_diff: str | None = None


class ToolOutput(Schema, frozen=True, kw_only=True):
    """A tool's output."""

    at_most_one_of = ("text", "diff", "structured_data")
    text: str | None = None
    diff: FileDiff | None = None
    structured_data: dict[str, Any] | None = None


class ErrorDetails(Schema, frozen=True, kw_only=True):
    """The failure of a tool. `message` is for the user."""

    message: str = ""
    type: str | None = None
    status_code: int | None = None


class ConfirmationOption(Schema, frozen=True, kw_only=True):
    """A choice: `id` such as `proceed_once`, `name` such as "Allow Once"."""

    id: str = ""
    name: str = ""
    description: str | None = None


class ExecuteDetails(Schema, frozen=True, kw_only=True):
    """A shell command to confirm."""

    command: str = ""
    working_directory: str | None = None


class McpDetails(Schema, frozen=True, kw_only=True):
    """A tool of an MCP server to confirm."""

    server_name: str = ""
    tool_name: str = ""


class GenericDetails(Schema, frozen=True, kw_only=True):
    """Anything else to confirm."""

    description: str = ""


class ConfirmationRequest(Schema, frozen=True, kw_only=True):
    """The question to the user before a tool is called."""

    at_most_one_of = ("execute_details", "file_edit_details", "mcp_details", "generic_details")
    options: tuple[ConfirmationOption, ...] = ()
    execute_details: ExecuteDetails | None = None
    file_edit_details: FileDiff | None = None
    mcp_details: McpDetails | None = None
    generic_details: GenericDetails | None = None


class ToolCall(Schema, frozen=True, kw_only=True):
    """A tool call, whole in every update: at its end with `output` or `error`, while PENDING with its confirmation request."""

    at_most_one_of = ("output", "error")
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
    """A thought of the agent."""

    subject: str = ""
    description: str = ""


class DevelopmentToolEvent(Schema, frozen=True, kw_only=True):
    """The metadata of every status update, which says how to read it."""

    kind: DevelopmentToolEventKind = DevelopmentToolEventKind.DEVELOPMENT_TOOL_EVENT_KIND_UNSPECIFIED
    model: str = ""
    user_tier: str | None = None
    error: str | None = None


class ModifiedFileDetails(Schema, frozen=True, kw_only=True):
    """The proposed file after the user's changes."""

    new_content: str = ""


class ToolCallConfirmation(Schema, frozen=True, kw_only=True):
    """The user's decision: the `id` of the option, and their changes."""

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
    """The result of `command/execute`. `execution_id` is the id of a task; it is empty for a command that did not start."""

    execution_id: str = ""
    status: CommandExecutionStatus = CommandExecutionStatus.COMMAND_EXECUTION_STATUS_UNSPECIFIED
    message: str = ""


_CONFIRMATION_MEMBERS = frozenset({"selected_option_id", "selectedOptionId"})


class Spelling(StrEnum):
    """The spelling of members' names."""

    SNAKE = "snake_case"
    CAMEL = "camelCase"


def write(value: Schema, spelling: Spelling) -> dict[str, Any]:
    """Return `value` as JSON without absent members (None). Plain objects inside keep their keys."""
    return {
        field.name if spelling is Spelling.SNAKE else field.encode_name: _written(item, spelling)
        for field in msgspec.structs.fields(value)
        if (item := getattr(value, field.name)) is not None
    }


def spelling_of(*values: Any) -> Spelling:
    """Return the spelling of these JSON values: that of the first name that shows it, else snake_case."""
    for value in values:
        for name in value if isinstance(value, Mapping) else ():
            if "_" in name:
                return Spelling.SNAKE
            if re.fullmatch(r"[a-z]+(?:[A-Z][a-z]*)+", name):
                return Spelling.CAMEL
    return Spelling.SNAKE


def in_metadata(metadata: Mapping[str, Any] | None) -> Any:
    """Return the extension's member of a metadata object, None if there is none."""
    return (metadata or {}).get(URI)


def settings_in(message: Message) -> AgentSettings | None:
    """Return the settings in a message's metadata. Raises INVALID_PARAMS with the field named."""
    value = in_metadata(message.metadata)
    return None if value is None else protojson.read(AgentSettings, value, f"message.metadata.{URI}")


def metadata_of(value: Schema, spelling: Spelling) -> dict[str, Any]:
    """Return a metadata object that holds the value."""
    return {URI: write(value, spelling)}


def part_of(value: Schema, spelling: Spelling) -> Part:
    """Return a data part that holds the value."""
    return Part(data=write(value, spelling), media_type="application/json")


def confirmation_in(message: Message) -> ToolCallConfirmation | None:
    """Return the decision in the first data part that holds one. Raises INVALID_PARAMS with the field named."""
    for index, part in enumerate(message.parts):
        if isinstance(part.data, dict) and not _CONFIRMATION_MEMBERS.isdisjoint(part.data):
            return protojson.read(ToolCallConfirmation, part.data, f"message.parts[{index}].data")
    return None


def _written(value: Any, spelling: Spelling) -> Any:
    match value:
        case Schema():
            return write(value, spelling)
        case tuple():
            return [_written(item, spelling) for item in value]
        case StrEnum():
            return value.value
        case _:
            return value
