"""Tool calls as the hub shows them, independent of their agent's form, and foreign text made safe to show.

Nothing in such a text is hidden, and nothing passes for what stands around it.
"""

import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.text.display import UNSEEN
from a2a_hub.text.language import Language

_LONGEST = 300
_LONGEST_NAME = 100
_LONGEST_ABOUT = 80
_MAX_LINES = 40
_MAX_CHARACTERS = 3000
_LONGEST_LINE = 500


class Dialect(StrEnum):
    """The form of an agent's tool calls, and of the decisions that it takes. The extension's has two spellings."""

    SNAKE = "snake_case"
    CAMEL = "camelCase"
    GEMINI_CLI = "gemini-cli"


class Action(StrEnum):
    """The action of a tool."""

    RUN = "RUN"
    WRITE = "WRITE"
    MCP = "MCP"
    OTHER = "OTHER"


class Stage(StrEnum):
    """The progress of a tool call."""

    PREPARED = "PREPARED"
    ASKING = "ASKING"
    EXECUTING = "EXECUTING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class Option(Struct, frozen=True):
    """A choice: the id that is sent, and the agent's name for it."""

    id: str
    name: str = ""


class ToolQuestion(Struct, frozen=True, kw_only=True):
    """A tool call that waits for a decision, cut to a length that people read, storable as JSON.

    `subject` is the object of the tool: a file, a folder, a server. `unseen` counts the lines that `body` leaves out.
    """

    call_id: str
    dialect: Dialect
    tool: str
    action: Action
    subject: str = ""
    body: str = ""
    unseen: int = 0
    options: tuple[Option, ...] = ()


class PendingTools(Struct, frozen=True, kw_only=True):
    """The tool calls that wait for a person's decision. The question about the first was sent in this language."""

    language: Language
    questions: tuple[ToolQuestion, ...]


class ToolUpdate(Struct, frozen=True, kw_only=True):
    """The current state of a tool call. `about` is one line: the command, the file. `question` is set while it is ASKING."""

    call_id: str
    stage: Stage
    tool: str
    action: Action
    about: str = ""
    question: ToolQuestion | None = None


def visible(text: str, *, longest: int = _LONGEST) -> str:
    """Return one line, with codes for control characters and for characters that turn or hide text."""
    short = text if len(text) <= longest else f"{text[:longest]}…"
    return "".join(map(_shown, short))


def name_of(text: str) -> str:
    """Return a name in one line."""
    return visible(" ".join(text.split()), longest=_LONGEST_NAME)


def first_line(text: str) -> str:
    """Return a short description of the text."""
    first, _, rest = text.strip().partition("\n")
    return visible(first, longest=_LONGEST_ABOUT) + (" …" if rest and len(first) <= _LONGEST_ABOUT else "")


def cut(text: str) -> tuple[str, int]:
    """Return the first lines, each `visible`, and the number of lines that are missing or cut."""
    lines = text.replace("\r\n", "\n").expandtabs(4).rstrip("\n").split("\n")
    shown: list[str] = []
    whole = size = 0
    for line in lines[:_MAX_LINES]:
        if size >= _MAX_CHARACTERS:
            break
        shown.append(visible(line, longest=_LONGEST_LINE))
        whole += len(line) <= _LONGEST_LINE
        size += len(shown[-1])
    return "\n".join(shown), len(lines) - whole


def listed(values: Mapping[str, Any]) -> str:
    """Return a tool's parameters, one per line, long ones last since the end may be cut. No value passes for another one."""
    lines = (f"{name}: {_written(value)}".replace("\n", "\n  ") for name, value in values.items())
    return "\n".join(sorted(lines, key=lambda line: "\n" in line or len(line) > _LONGEST_LINE))


def _written(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _shown(character: str) -> str:
    # Spaces are the only invisible characters that deceive nobody.
    if (character.isprintable() and character not in UNSEEN) or unicodedata.category(character) == "Zs":
        return character
    return f"\\u{ord(character):04x}"
