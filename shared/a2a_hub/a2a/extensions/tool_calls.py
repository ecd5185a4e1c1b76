"""Tool calls in an agent's updates, in the extension's form or in Gemini CLI's.

An answer with a whole task lacks the kinds of its updates: a tool call is recognised by its shape.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from a2a_hub.a2a import protojson
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.extensions import development_tool, gemini_cli
from a2a_hub.a2a.extensions.tool_updates import (
    Action,
    Dialect,
    Option,
    Stage,
    ToolQuestion,
    ToolUpdate,
    cut,
    first_line,
    listed,
    name_of,
    visible,
)
from a2a_hub.a2a.model import Message
from a2a_hub.text.diffs import unified_diff

_LONGEST_ID = 1000
_MAX_OPTIONS = 20
_NOT_BEGUN = (development_tool.ToolCallStatus.STATUS_UNSPECIFIED, development_tool.ToolCallStatus.PENDING)


class Kind(StrEnum):
    """The kind of a status update."""

    TOOL_CALL = "TOOL_CALL"
    THOUGHT = "THOUGHT"
    TEXT = "TEXT"
    STATE = "STATE"


_KINDS = {
    "TOOL_CALL_CONFIRMATION": Kind.TOOL_CALL,
    "TOOL_CALL_UPDATE": Kind.TOOL_CALL,
    "TEXT_CONTENT": Kind.TEXT,
    "CITATION": Kind.TEXT,
    "STATE_CHANGE": Kind.STATE,
    "THOUGHT": Kind.THOUGHT,
}


def kind_of(metadata: Mapping[str, Any] | None) -> Kind | None:
    """Return the kind of an update with this metadata, None if it is unknown."""
    for key in (development_tool.URI, gemini_cli.KEY):
        event = (metadata or {}).get(key)
        if isinstance(event, dict):
            return _KINDS.get(str(event.get("kind")).upper().replace("-", "_"))
    return None


def is_tool_call(data: Any) -> bool:
    """Return True if the data is a tool call in one of the two forms."""
    return isinstance(data, dict) and (_is_schema(data) or gemini_cli.is_tool_call(data))


def tool_calls_in(message: Message | None) -> Iterator[ToolUpdate]:
    """Yield the tool calls in a message's data, among any other data."""
    for part in message.parts if message else ():
        if isinstance(part.data, dict):
            update = None
            if _is_schema(part.data):
                update = _tool_call(part.data)
            elif gemini_cli.is_tool_call(part.data):
                update = gemini_cli.tool_call(part.data)
            if update is not None and 0 < len(update.call_id) <= _LONGEST_ID:
                yield update


def thought_in(message: Message | None) -> str:
    """Return the subject of the thought in a message of that kind."""
    for part in message.parts if message else ():
        if isinstance(part.data, dict) and isinstance(subject := part.data.get("subject"), str):
            return name_of(subject)
    return ""


def _is_schema(data: dict[str, Any]) -> bool:
    return ("tool_call_id" in data or "toolCallId" in data) and "status" in data


def _tool_call(data: dict[str, Any]) -> ToolUpdate | None:
    try:
        call = protojson.read(development_tool.ToolCall, data, "data")
    except A2AError:
        # A newer version, perhaps: programs get it as it is.
        return None
    request = call.confirmation_request if call.status is development_tool.ToolCallStatus.PENDING else None
    dialect = Dialect(development_tool.spelling_of(data).value)
    action, about = _done(call)
    return ToolUpdate(
        call_id=call.tool_call_id,
        stage=Stage.ASKING if request else Stage.PREPARED if call.status in _NOT_BEGUN else Stage(call.status),
        tool=name_of(call.tool_name),
        action=action,
        about=first_line(about),
        question=_question(call, request, action, dialect) if request else None,
    )


def _done(call: development_tool.ToolCall) -> tuple[Action, str]:
    match call.confirmation_request:
        case development_tool.ConfirmationRequest(execute_details=details) if details is not None:
            return Action.RUN, details.command
        case development_tool.ConfirmationRequest(file_edit_details=file) if file is not None:
            return Action.WRITE, file.file_path or file.file_name
        case development_tool.ConfirmationRequest(mcp_details=mcp) if mcp is not None:
            return Action.MCP, call.description or ""
    given = call.input_parameters or {}
    command, file_path = given.get("command"), given.get("file_path") or given.get("path")
    if isinstance(command, str):
        return Action.RUN, command
    return Action.OTHER, file_path if isinstance(file_path, str) else call.description or ""


def _question(
    call: development_tool.ToolCall, request: development_tool.ConfirmationRequest, action: Action, dialect: Dialect
) -> ToolQuestion:
    tool, subject = call.tool_name, ""
    given = "" if call.input_parameters is None else listed(call.input_parameters)
    if request.execute_details is not None:
        subject, body = request.execute_details.working_directory or "", request.execute_details.command
    elif request.file_edit_details is not None:
        subject, body = _done(call)[1], _diff(request.file_edit_details)
    elif request.mcp_details is not None:
        tool, subject = request.mcp_details.tool_name, request.mcp_details.server_name
        body = given or call.description or ""
    else:
        described = request.generic_details.description if request.generic_details is not None else ""
        body = "\n".join(filter(None, (described or call.description, given)))
    shown, unseen = cut(body)
    return ToolQuestion(
        call_id=call.tool_call_id,
        dialect=dialect,
        tool=name_of(tool),
        action=action,
        subject=visible(subject),
        body=shown,
        unseen=unseen,
        options=tuple(Option(each.id, name_of(each.name)) for each in request.options[:_MAX_OPTIONS] if each.id),
    )


def _diff(file: development_tool.FileDiff) -> str:
    # Without its first lines, since the file is named already.
    return file.formatted_diff or unified_diff("", file.old_content, file.new_content).split("\n", 2)[2]
