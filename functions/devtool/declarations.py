"""The tools as functions that a model may call, in the form of the API's FunctionDeclaration."""

from __future__ import annotations

from typing import Any

_PATH = "a path relative to the workspace"
_FUNCTIONS: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {
    "list_files": (
        "Lists the entries of one folder.",
        {"path": f"{_PATH}; . is the workspace itself"},
        ("path",),
    ),
    "read_file": ("Gives the text of a file.", {"path": _PATH}, ("path",)),
    "search_text": (
        "Gives the lines that hold a text, in any case, as file:number: line.",
        {"text": "what to look for; no pattern", "path": f"{_PATH}, of a file or a folder"},
        ("text",),
    ),
    "write_file": (
        "Creates a file, or overwrites all of it. The developer confirms it first.",
        {"path": _PATH, "content": "the whole content"},
        ("path", "content"),
    ),
    "replace": (
        "Replaces each place in a file where a text stands. The developer confirms it first.",
        {
            "path": _PATH,
            "old_text": "exactly as it stands in the file, with enough around it to be the only one that is meant",
            "new_text": "what takes its place",
        },
        ("path", "old_text", "new_text"),
    ),
    "run_command": (
        "Runs one program with its arguments in the workspace, without a shell. The developer confirms it first.",
        {"command": "the program and its arguments, quoted as for a shell"},
        ("command",),
    ),
}

FUNCTIONS: tuple[dict[str, Any], ...] = tuple(
    {
        "name": name,
        "description": description,
        "parameters": {
            "type": "OBJECT",
            "properties": {
                parameter: {"type": "STRING", "description": told} for parameter, told in parameters.items()
            },
            "required": list(required),
        },
    }
    for name, (description, parameters, required) in _FUNCTIONS.items()
)
"""What is declared; adding a line is a replacement or a new content, for a model."""
