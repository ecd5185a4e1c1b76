"""Tool calls as the hub shows them, in whichever form their agent reports them, and foreign text made safe to show.

Nothing in such a text is hidden, and nothing passes for what stands around it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.text.language import Language

_LONGEST = 300
_LONGEST_NAME = 100
_LONGEST_ABOUT = 80
_MOST_LINES = 40
_MOST_CHARACTERS = 3000
_LONGEST_LINE = 500


class Dialect(StrEnum):
    """In whose form the agent tells, and takes the answer; the extension's is spelt in two ways."""

    SNAKE = "snake_case"
    CAMEL = "camelCase"
    GEMINI_CLI = "gemini-cli"


class Action(StrEnum):
    """What a tool does."""

    RUN = "RUN"
    WRITE = "WRITE"
    MCP = "MCP"
    OTHER = "OTHER"


class Stage(StrEnum):
    """How far a tool call is."""

    PREPARED = "PREPARED"
    ASKING = "ASKING"
    EXECUTING = "EXECUTING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class Option(Struct, frozen=True):
    """A choice: what is sent, and what the agent calls it."""

    id: str
    name: str = ""


class ToolQuestion(Struct, frozen=True, kw_only=True):
    """A tool call that waits for a decision, cut to what a person reads. It can be kept as JSON.

    `subject` is what the tool works on: a file, a folder, a server. `unseen` counts the lines that `body` leaves out.
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
    """What waits for a person's decision: the first of these was asked, in this language."""

    language: Language
    questions: tuple[ToolQuestion, ...]


class ToolUpdate(Struct, frozen=True, kw_only=True):
    """A tool call as it is now. `about` is one line: the command, the file. `question` is there while it is ASKING."""

    call_id: str
    stage: Stage
    tool: str
    action: Action
    about: str = ""
    question: ToolQuestion | None = None


def visible(text: str, *, longest: int = _LONGEST) -> str:
    """One line; control characters, and those that turn or hide text, are written as their codes."""
    short = text if len(text) <= longest else f"{text[:longest]}…"
    return "".join(map(_shown, short))


def name_of(text: str) -> str:
    """A name in one line."""
    return visible(" ".join(text.split()), longest=_LONGEST_NAME)


def first_line(text: str) -> str:
    """What something is about, in a few words."""
    first, _, rest = text.strip().partition("\n")
    return visible(first, longest=_LONGEST_ABOUT) + (" …" if rest and len(first) <= _LONGEST_ABOUT else "")


def cut(text: str) -> tuple[str, int]:
    """The first lines, each `visible`, and how many lines are not there, or not whole."""
    lines = text.replace("\r\n", "\n").expandtabs(4).rstrip("\n").split("\n")
    shown: list[str] = []
    whole = size = 0
    for line in lines[:_MOST_LINES]:
        if size >= _MOST_CHARACTERS:
            break
        shown.append(visible(line, longest=_LONGEST_LINE))
        whole += len(line) <= _LONGEST_LINE
        size += len(shown[-1])
    return "\n".join(shown), len(lines) - whole


def listed(values: Mapping[str, Any]) -> str:
    """A tool's parameters, one a line."""
    return "\n".join(f"{name}: {_written(value)}" for name, value in values.items())


def _written(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _shown(character: str) -> str:
    # Of what prints nothing, only spaces deceive nobody.
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return f"\\u{ord(character):04x}"
