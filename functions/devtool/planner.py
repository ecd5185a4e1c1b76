"""The seam between what is asked for and what is done: rules, or a language model, decide on the next step."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from msgspec import Struct

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.extensions.development_tool import AgentThought
from functions.devtool.actions import AnyAction
from functions.devtool.state import State


class Act(Struct, frozen=True):
    """A tool is to be called. `by` is the model that decided so, "" for rules; `signature` is what it wants to see again."""

    action: AnyAction
    by: str = ""
    signature: str = ""


class Say(Struct, frozen=True):
    """The answer stands: the task is done, or has failed."""

    text: str
    failed: bool = False


Decision = Act | Say


class Mind(Protocol):
    """Decides. Thread-safe; holds nothing between decisions."""

    @property
    def model(self) -> str:
        """The model's name; "" where rules decide."""
        ...

    def decide(self, state: State, call: Call) -> Generator[AgentThought, None, Decision]:
        """What to do after the dialogue so far; yields thoughts."""
        ...
