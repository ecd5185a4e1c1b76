"""The actions of the agent: each is one call of a tool, planned by a rule or by a model."""

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta, Struct

_Path = Annotated[str, Meta(description="a path relative to the workspace; . is the workspace itself")]


class Action(Struct, frozen=True, kw_only=True, tag_field="tool"):
    """One call of a tool. Its fields are the tool's parameters; `about` tells a model what it does."""

    about: ClassVar[str]

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

    about = "Lists the entries of one folder."
    path: _Path = "."


class ReadFile(Action, frozen=True, kw_only=True, tag="read_file"):
    """A reading of a file."""

    about = "Gives the text of a file."
    path: _Path


class SearchText(Action, frozen=True, kw_only=True, tag="search_text"):
    """A search for the lines with a text, in a file or under a folder."""

    about = "Gives the lines that hold a text, in any case, as file:number: line."
    text: Annotated[str, Meta(description="what to look for; no pattern")]
    path: _Path = "."


class WriteFile(Action, frozen=True, kw_only=True, tag="write_file"):
    """A file that is created, or whose content is replaced."""

    about = "Creates a file, or overwrites all of it. The developer confirms it first."
    path: _Path
    content: Annotated[str, Meta(description="the whole content")]


class Replace(Action, frozen=True, kw_only=True, tag="replace"):
    """A replacement of each occurrence of a text in a file."""

    about = "Replaces each place in a file where a text stands. The developer confirms it first."
    path: _Path
    old_text: Annotated[str, Meta(description="exactly as it stands in the file, with enough around it to be unique")]
    new_text: Annotated[str, Meta(description="what takes its place")]


class AddLine(Action, frozen=True, kw_only=True, tag="add_line"):
    """A line at the end of a file, which is created if need be."""

    path: str
    line: str


class RunCommand(Action, frozen=True, kw_only=True, tag="run_command"):
    """A run of a program in the workspace."""

    about = "Runs one program with its arguments in the workspace, without a shell. The developer confirms it first."
    command: Annotated[str, Meta(description="the program and its arguments, quoted as for a shell")]


AnyAction = ListFiles | ReadFile | SearchText | WriteFile | Replace | AddLine | RunCommand
Edit = WriteFile | Replace | AddLine
MEMORY = "AGENTS.md"
"""The file with a workspace's instructions for those who work on it."""


def declaration(action: type[Action]) -> dict[str, Any]:
    """Return an action as a function that a model may call."""
    schema = msgspec.json.schema(action)["$defs"][action.__name__]
    del schema["properties"]["tool"]
    schema["required"].remove("tool")
    parameters = {name: schema[name] for name in ("type", "properties", "required")}
    return {"name": action.__struct_config__.tag, "description": action.about, "parameters": parameters}
