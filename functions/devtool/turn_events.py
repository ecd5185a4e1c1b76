"""What happens in a turn, before it becomes events for one kind of client or another."""

from __future__ import annotations

from msgspec import Struct

from a2a_hub.a2a.extensions.development_tool import AgentThought, ToolCall


class Begun(Struct, frozen=True):
    """The work on a task has begun."""


class Update(Struct, frozen=True):
    """A tool call as it is now."""

    call: ToolCall


class Said(Struct, frozen=True):
    """What the agent says to the person."""

    text: str


class Waiting(Struct, frozen=True):
    """The task waits for a decision on this tool call; the turn ends."""

    call: ToolCall


class Completed(Struct, frozen=True):
    """The task has come to its end."""


class Failed(Struct, frozen=True):
    """The task has failed; the text helps the person."""

    text: str


Happening = Begun | AgentThought | Update | Said | Waiting | Completed | Failed
