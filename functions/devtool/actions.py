"""The actions of the agent: each is one call of a tool, planned by a rule or by a model."""

from typing import Any

import msgspec
from msgspec import Struct


class Action(Struct, frozen=True, kw_only=True, tag_field="tool"):
    """One call of a tool. Its fields are the tool's parameters."""

    @property
    def tool(self) -> str:
        """The tool's name."""
        return str(type(self).__struct_config__.tag)

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the call."""
        return msgspec.structs.asdict(self)


class ListFiles(Action, frozen=True, kw_only=True, tag="list_files"):
    """A listing of a folder."""

    path: str = "."


class ReadFile(Action, frozen=True, kw_only=True, tag="read_file"):
    """A reading of a file."""

    path: str


class SearchText(Action, frozen=True, kw_only=True, tag="search_text"):
    """A search for the lines with a text, in a file or under a folder."""

    text: str
    path: str = "."


class WriteFile(Action, frozen=True, kw_only=True, tag="write_file"):
    """A file that is created, or whose content is replaced."""

    path: str
    content: str


class Replace(Action, frozen=True, kw_only=True, tag="replace"):
    """A replacement of each occurrence of a text in a file."""

    path: str
    old_text: str
    new_text: str


class AddLine(Action, frozen=True, kw_only=True, tag="add_line"):
    """A line at the end of a file, which is created if need be."""

    path: str
    line: str


class RunCommand(Action, frozen=True, kw_only=True, tag="run_command"):
    """A run of a program in the workspace."""

    command: str


AnyAction = ListFiles | ReadFile | SearchText | WriteFile | Replace | AddLine | RunCommand
Edit = WriteFile | Replace | AddLine
MEMORY = "AGENTS.md"
"""The file with a workspace's instructions for those who work on it."""
