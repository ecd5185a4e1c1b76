"""What is kept with a task, so that it goes on in another process, and with the next task of its conversation."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.a2a.call import TaskInHand
from a2a_hub.a2a.extensions.development_tool import Spelling, ToolCall
from a2a_hub.text.language import Language
from functions.devtool.actions import AnyAction

_NOTE = "devtool"
# What a model has been told of the conversation; more is not kept.
_MOST_KEPT_TURNS = 6
_LONGEST_KEPT = 2_000


class Asked(Struct, frozen=True, tag="asked"):
    """What the person said."""

    text: str


class Called(Struct, frozen=True, tag="called"):
    """A tool call that was decided on. `by` is the model that did, "" for rules; `signature` is what it wants to see again."""

    call_id: str
    action: AnyAction
    by: str = ""
    signature: str = ""


class Returned(Struct, frozen=True, tag="returned"):
    """What became of a tool call, in words."""

    call_id: str
    text: str
    succeeded: bool


class Answered(Struct, frozen=True, tag="answered"):
    """What was said to the person."""

    text: str


Entry = Asked | Called | Returned | Answered


class Pending(Struct, frozen=True):
    """The tool call that waits for a confirmation, as it was shown, and what it would do."""

    call: ToolCall
    action: AnyAction


class State(Struct, kw_only=True, omit_defaults=True):
    """`workspace` is as the caller named it, "" for the default one. `allowed` needs no confirmation in this conversation.

    `finished` are the ids of tool calls that wait for nothing any more; `dialogue` is what was said and done.
    """

    workspace: str = ""
    spelling: Spelling = Spelling.SNAKE
    language: Language = Language.EN
    allowed: tuple[str, ...] = ()
    pending: Pending | None = None
    finished: tuple[str, ...] = ()
    dialogue: tuple[Entry, ...] = ()

    def following(self) -> State:
        """What the conversation's next task begins with."""
        said = tuple(
            type(each)(each.text[:_LONGEST_KEPT])
            for each in self.dialogue
            if isinstance(each, Asked | Answered)
        )
        return State(
            workspace=self.workspace,
            spelling=self.spelling,
            allowed=self.allowed,
            dialogue=said[-2 * _MOST_KEPT_TURNS :],
        )

    def keep(self, task: TaskInHand) -> None:
        """From now on it is stored with the task."""
        task.notes[_NOTE] = msgspec.to_builtins(self)


def state_in(notes: dict[str, Any]) -> State | None:
    """The state that was kept in a task's notes."""
    kept = notes.get(_NOTE)
    return None if kept is None else msgspec.convert(kept, State)
