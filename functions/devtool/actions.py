"""What can be asked for: one action is one call of a tool, whoever found out that it is meant."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


class Action(Struct, frozen=True, kw_only=True, tag_field="tool"):
    """One call of a tool: its fields are the tool's parameters."""

    @property
    def tool(self) -> str:
        """The tool's name."""
        return str(type(self).__struct_config__.tag)

    @property
    def parameters(self) -> dict[str, Any]:
        """What the tool is called with."""
        return msgspec.structs.asdict(self)


class ListFiles(Action, frozen=True, kw_only=True, tag="list_files"):
    """What a folder holds."""

    path: str = "."


class ReadFile(Action, frozen=True, kw_only=True, tag="read_file"):
    """The text of a file."""

    path: str


class SearchText(Action, frozen=True, kw_only=True, tag="search_text"):
    """The lines that hold a text, in a file or under a folder."""

    text: str
    path: str = "."


class WriteFile(Action, frozen=True, kw_only=True, tag="write_file"):
    """A file has this content afterwards, whether it is there or not."""

    path: str
    content: str


class Replace(Action, frozen=True, kw_only=True, tag="replace"):
    """Each place in a file where the old text stands holds the new one."""

    path: str
    old_text: str
    new_text: str


class AddLine(Action, frozen=True, kw_only=True, tag="add_line"):
    """A file ends with this line, whether it is there or not."""

    path: str
    line: str


class RunCommand(Action, frozen=True, kw_only=True, tag="run_command"):
    """A program runs in the workspace."""

    command: str


AnyAction = ListFiles | ReadFile | SearchText | WriteFile | Replace | AddLine | RunCommand
Edit = WriteFile | Replace | AddLine
MEMORY = "AGENTS.md"
"""The file in which a workspace keeps what those who work on it should know."""
