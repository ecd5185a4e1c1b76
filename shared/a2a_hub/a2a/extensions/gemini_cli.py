"""The dialect of Gemini CLI's own server, which differs from the extension that its project has specified.

It has its own record of tool calls, and takes `{callId, outcome}` for a decision. Its updates have the metadata key `coderAgent`
and kinds in kebab-case; some say `input-required` while the agent works on.
"""

from typing import Any

from msgspec.structs import replace

from a2a_hub.a2a.extensions import tool_updates
from a2a_hub.a2a.model import Event, Task, TaskState, TaskStatusUpdateEvent

KEY = "coderAgent"
_OWN_STATE = "__persistedState"
_STAGES = {
    "executing": tool_updates.Stage.EXECUTING,
    "success": tool_updates.Stage.SUCCEEDED,
    "error": tool_updates.Stage.FAILED,
    "cancelled": tool_updates.Stage.CANCELLED,
}
_ACTIONS = {
    "exec": tool_updates.Action.RUN,
    "sandbox_expansion": tool_updates.Action.RUN,
    "edit": tool_updates.Action.WRITE,
    "mcp": tool_updates.Action.MCP,
}
# The choices of its own interface, except `modify_with_editor`, which opens an editor beside the agent.
_OPTIONS = {
    "edit": ("proceed_once", "proceed_always", "cancel"),
    "exec": ("proceed_once", "proceed_always", "cancel"),
    "mcp": ("proceed_once", "proceed_always_tool", "proceed_always_server", "cancel"),
    "info": ("proceed_once", "proceed_always", "cancel"),
}
_FEWEST_OPTIONS = ("proceed_once", "cancel")


def is_tool_call(data: dict[str, Any]) -> bool:
    """Return True if the data is its record of a tool call."""
    return isinstance(data.get("request"), dict) and "callId" in data["request"] and "status" in data


def tool_call(data: dict[str, Any]) -> tool_updates.ToolUpdate:
    """Return the tool call in the data."""
    request, tool, details = data["request"], _object(data, "tool"), _object(data, "confirmationDetails")
    given = _object(request, "args")
    call_id = _text(request, "callId")
    name = tool_updates.name_of(_text(tool, "displayName") or _text(request, "name"))
    command, file = _text(given, "command"), _text(given, "file_path")
    action = _ACTIONS.get(_text(details, "type"))
    if action is None:
        writes = _text(tool, "kind") == "edit"
        action = (
            tool_updates.Action.RUN if command else tool_updates.Action.WRITE if writes else tool_updates.Action.OTHER
        )
    asks = data["status"] == "awaiting_approval" and bool(details)
    return tool_updates.ToolUpdate(
        call_id=call_id,
        stage=tool_updates.Stage.ASKING if asks else _STAGES.get(str(data["status"]), tool_updates.Stage.PREPARED),
        tool=name,
        action=action,
        about=tool_updates.first_line(command or file or _text(given, "description")),
        question=_question(call_id, name, action, details, given) if asks else None,
    )


def _question(
    call_id: str, tool: str, action: tool_updates.Action, details: dict[str, Any], given: dict[str, Any]
) -> tool_updates.ToolQuestion:
    match action:
        case tool_updates.Action.RUN:
            subject, body = _text(given, "dir_path"), _text(details, "command")
        case tool_updates.Action.WRITE:
            subject = _text(details, "filePath") or _text(details, "fileName")
            body = _hunks(_text(details, "fileDiff"))
        case tool_updates.Action.MCP:
            subject, body = _text(details, "serverName"), tool_updates.listed(given)
            tool = tool_updates.name_of(_text(details, "toolDisplayName") or _text(details, "toolName"))
        case tool_updates.Action.OTHER:
            urls = details.get("urls")
            lines = [str(each) for each in urls] if isinstance(urls, list) else []
            subject = ""
            body = "\n".join([_text(details, "prompt") or _text(details, "title"), *lines])
    shown, unseen = tool_updates.cut(body)
    options = _OPTIONS.get(_text(details, "type"), _FEWEST_OPTIONS)
    return tool_updates.ToolQuestion(
        call_id=call_id,
        dialect=tool_updates.Dialect.GEMINI_CLI,
        tool=tool,
        action=action,
        subject=tool_updates.visible(subject),
        body=shown,
        unseen=unseen,
        options=tuple(map(tool_updates.Option, options)),
    )


def _hunks(diff: str) -> str:
    """Return a diff from its first hunk on, since the file is named already. A diff without a hunk changes nothing."""
    start = diff.find("@@")
    return diff[start:] if start >= 0 else ""


def _object(data: dict[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def _text(data: dict[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def with_working_state(event: Event) -> Event:
    """Return the event, with WORKING for INPUT_REQUIRED if the agent works on, which it shows by 0.3's `final` alone."""
    if not isinstance(event, TaskStatusUpdateEvent) or event.status.state is not TaskState.INPUT_REQUIRED:
        return event
    update = (event.metadata or {}).get(KEY)
    if not isinstance(update, dict) or update.get("kind") == "state-change":
        return event
    return replace(event, status=replace(event.status, state=TaskState.WORKING))


def is_task(task: Task) -> bool:
    """Return True if the task is one of its own: its metadata holds the server's state."""
    return _OWN_STATE in (task.metadata or {})


def is_output(artifact_id: str) -> bool:
    """Return True if the artifact is the output of a running tool."""
    return artifact_id.startswith("tool-") and artifact_id.endswith("-output")
