"""Planning of the next step of a task: the protocol of planners, and the one that plans by rules."""

from collections.abc import Generator
from typing import Protocol

from msgspec import Struct

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.extensions.development_tool import AgentThought
from a2a_hub.text.language import Language
from functions.devtool import texts
from functions.devtool.actions import AnyAction
from functions.devtool.asking import slash
from functions.devtool.asking.patterns import Help
from functions.devtool.asking.slash import Wrong
from functions.devtool.asking.understanding import understood
from functions.devtool.conversation import State, ToolResult, UserText


class CallTool(Struct, frozen=True):
    """Call a tool next. `by` is the model that planned it, "" for rules; the model gets its `signature` back."""

    action: AnyAction
    by: str = ""
    signature: str = ""


class Reply(Struct, frozen=True):
    """Answer next, and end the task as completed or failed."""

    text: str
    failed: bool = False


NextStep = CallTool | Reply


class Planner(Protocol):
    """A planner of the steps of tasks. Thread-safe and stateless."""

    @property
    def model(self) -> str:
        """The model's name; "" for rules."""
        ...

    def next_step(self, state: State, call: Call) -> Generator[AgentThought, None, NextStep]:
        """Return the step after the dialogue so far; yields thoughts."""
        ...


class RulePlanner:
    """A planner without a model: one tool call, whose result is the answer."""

    model = ""

    def next_step(self, state: State, call: Call) -> Generator[AgentThought, None, NextStep]:  # noqa: ARG002 - the protocol's
        """See `Planner.next_step`."""
        yield from ()
        match state.dialogue[-1]:
            case ToolResult(text=text):
                return Reply(text)
            case UserText(text=text):
                return step_by_rules(text, state.language) or Reply(texts.NOT_UNDERSTOOD.render(state.language))
            case _:
                return Reply(texts.WITHOUT_ANSWER.render(state.language))


def step_by_rules(text: str, language: Language) -> NextStep | None:
    """Return the step for a text of a known form; None for any other text."""
    if not text.strip():
        return Reply(texts.EMPTY_REQUEST.render(language))
    match understood(text):
        case None:
            return None
        case Help():
            return Reply(texts.HELP.render(language, commands="\n".join(slash.usages(slash.COMMANDS))))
        case Wrong() as wrong:
            return Reply(usage_text(wrong, language))
        case action:
            return CallTool(action)


def usage_text(wrong: Wrong, language: Language) -> str:
    """Return why a command cannot be executed, and the right usage."""
    text = texts.WRONG_ARGUMENTS if wrong.is_known else texts.UNKNOWN_COMMAND
    return text.render(language, command=" ".join(wrong.path)[:80].strip(), usages="\n".join(wrong.usages))
