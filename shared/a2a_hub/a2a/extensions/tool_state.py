"""A tool call as the hub knows it, in whichever form its agent tells of it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from a2a_hub.text.language import Language


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
