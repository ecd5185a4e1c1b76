"""Every message of the `development-tool` extension, each member set, as JSON in the spelling of its specification."""

from typing import Any

from a2a_hub.a2a.extensions import development_tool as tool
from a2a_hub.a2a.extensions.development_tool import Schema

_DIFF = {
    "file_name": "main.py",
    "file_path": "/w/main.py",
    "old_content": "",
    "new_content": "print()\n",
    "formatted_diff": "+print()",
}
_OPTION = {"id": "proceed_once", "name": "Allow Once", "description": "Only this time"}
_CONFIRMATION_REQUEST = {
    "options": [_OPTION, {"id": "cancel", "name": "Reject"}],
    "execute_details": {"command": "ls", "working_directory": "/w"},
}
_CALL = {
    "tool_call_id": "call-1",
    "status": "PENDING",
    "tool_name": "ShellTool",
    "description": "Lists the files",
    "input_parameters": {"dir_path": "/w", "followLinks": [True, {"max_depth": 2}]},
    "live_content": "",
}
_ARGUMENT = {"name": "fact", "description": "What to remember", "is_required": True}
_ADD: dict[str, Any] = {
    "name": "add",
    "description": "Remembers",
    "arguments": [_ARGUMENT],
    "sub_commands": [],
}

SAMPLES: tuple[tuple[type[Schema], dict[str, Any]], ...] = (
    (tool.AgentSettings, {"workspace_path": "/w"}),
    (tool.ToolCall, _CALL | {"confirmation_request": _CONFIRMATION_REQUEST}),
    (tool.ToolCall, _CALL | {"status": "SUCCEEDED", "output": {"text": "main.py"}}),
    (
        tool.ToolCall,
        _CALL | {"status": "FAILED", "error": {"message": "No", "type": "shell_error", "status_code": 1}},
    ),
    (tool.ToolOutput, {"text": ""}),
    (tool.ToolOutput, {"diff": _DIFF}),
    (tool.ToolOutput, {"structured_data": {"line_count": 3, "isLast": None}}),
    (tool.ErrorDetails, {"message": "No such file", "type": "read_content_failure", "status_code": 2}),
    (tool.ConfirmationRequest, _CONFIRMATION_REQUEST),
    (tool.ConfirmationRequest, {"options": [_OPTION], "file_edit_details": _DIFF}),
    (
        tool.ConfirmationRequest,
        {"options": [], "mcp_details": {"server_name": "github", "tool_name": "merge"}},
    ),
    (tool.ConfirmationRequest, {"options": [], "generic_details": {"description": "Fetches a page"}}),
    (tool.ConfirmationOption, _OPTION),
    (tool.ExecuteDetails, {"command": "ls", "working_directory": "/w"}),
    (tool.FileDiff, _DIFF),
    (tool.McpDetails, {"server_name": "github", "tool_name": "merge"}),
    (tool.GenericDetails, {"description": "Fetches a page"}),
    (tool.AgentThought, {"subject": "Files", "description": "I look at them"}),
    (
        tool.DevelopmentToolEvent,
        {"kind": "TOOL_CALL_UPDATE", "model": "gemini", "user_tier": "free", "error": "none"},
    ),
    (
        tool.ToolCallConfirmation,
        {
            "tool_call_id": "call-1",
            "selected_option_id": "proceed_once",
            "file_details": {"new_content": "x"},
        },
    ),
    (tool.ModifiedFileDetails, {"new_content": ""}),
    (tool.GetAllSlashCommandsRequest, {"metadata": {"skill": "devtool"}}),
    (
        tool.GetAllSlashCommandsResponse,
        {"commands": [{"name": "memory", "description": "What is known", "arguments": [], "sub_commands": [_ADD]}]},
    ),
    (tool.SlashCommand, _ADD),
    (tool.SlashCommandArgument, _ARGUMENT),
    (
        tool.ExecuteSlashCommandRequest,
        {"command_path": ["memory", "add"], "args": "a b", "metadata": {"skill": "devtool"}},
    ),
    (tool.ExecuteSlashCommandResponse, {"execution_id": "task-1", "status": "STARTED", "message": "Running"}),
)
