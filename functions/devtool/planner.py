"""Planning of the next step: by rules, and what no rule understands by a language model, which calls the tools as functions."""

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.extensions.development_tool import AgentThought
from a2a_hub.gemini.failure import Cause, ModelFailed, failure_text
from a2a_hub.gemini.prompt import FunctionCall, FunctionResult, ModelTurn, Prompt, Turn, UserTurn, read_reply
from a2a_hub.language_models.model import LanguageModel
from a2a_hub.text.language import Language
from functions.devtool.actions import (
    Action,
    AnyAction,
    ListFiles,
    ReadFile,
    Replace,
    RunCommand,
    SearchText,
    WriteFile,
    declaration,
)
from functions.devtool.conversation import AgentText, CalledTool, DialogueEntry, State, ToolResult, UserText
from functions.devtool.forms import COMMANDS, Help, InvalidCommand, parsed_request, usage_text, usages
from functions.devtool.texts import DEVTOOL_TEXTS

_INSTRUCTION = Path(__file__).with_suffix(".md")
# Invalid function calls of the model in a row.
_MAX_MISTAKES = 3
_MISTAKEN = "There is no such function, or its arguments are wrong. Nothing was done."
_MAX_RESULT_CHARACTERS = 20_000
_MAX_SUBJECT_CHARACTERS = 100
_TOOLS: tuple[type[Action], ...] = (ListFiles, ReadFile, SearchText, WriteFile, Replace, RunCommand)
FUNCTIONS = tuple(map(declaration, _TOOLS))
"""The tools as functions; a model adds a line by a replacement or by new content."""


class Reply(Struct, frozen=True):
    """Answer next, and end the task as completed or failed."""

    text: str
    failed: bool = False


NextStep = CalledTool | Reply


class Planner:
    """A planner of the steps of tasks. Thread-safe and stateless. Without a model, a tool's result is the answer."""

    def __init__(self, model: LanguageModel | None) -> None:
        self._model = model

    @property
    def model(self) -> str:
        """The model's name; "" without one."""
        return self._model.name if self._model else ""

    def next_step(self, state: State, call: Call) -> Generator[AgentThought, None, NextStep]:
        """Return the step after the dialogue so far; yields the model's thoughts."""
        called = [each for each in state.dialogue if isinstance(each, CalledTool)]
        match state.dialogue[-1]:
            case UserText(text=text) if (step := step_by_rules(text, state.language)) is not None:
                return step
            case ToolResult(text=text) if self._model is None or not called or not called[-1].by:
                return Reply(text)
        if self._model is None:
            return Reply(DEVTOOL_TEXTS.not_understood.render(state.language))
        try:
            return (yield from self._plan(self._model, state, call))
        except ModelFailed as failed:
            failure = failed.failure
            call.record["failure"] = {"cause": failure.cause}
            if failure.cause is not Cause.CANCELLED:
                call.record["severity"] = "WARNING"
                operator_hint = self._model.hint("model", failure)
                call.record["failure"] = {name: operator_hint[name] for name in ("cause", "detail", "remedy")}
            return Reply(failure_text(failure.cause, state.language, is_begun=False), failed=True)

    def _plan(self, model: LanguageModel, state: State, call: Call) -> Generator[AgentThought, None, NextStep]:
        turns = list(_turns(state.dialogue))
        instruction = _INSTRUCTION.read_text(encoding="utf-8").format(language=state.language.in_english)
        call.record["model"] = self.model
        for _ in range(_MAX_MISTAKES):
            prompt = Prompt(instruction=instruction, turns=turns, functions=FUNCTIONS)
            # A model may call several functions at once: the first one is called.
            text, called = read_reply(model.stream(prompt, cancellation=call.cancellation), state.language)
            if called is None:
                return Reply(text)
            if text.strip():
                subject, _, description = text.strip().partition("\n")
                yield AgentThought(subject=subject[:_MAX_SUBJECT_CHARACTERS], description=description or subject)
            action = _action(called)
            if action is not None:
                return CalledTool("", action, by=self.model, signature=called.signature)
            turns += [called, FunctionResult(name=called.name, text=_MISTAKEN, succeeded=False)]
        return Reply(failure_text(Cause.BROKEN, state.language, is_begun=False), failed=True)


def step_by_rules(text: str, language: Language) -> NextStep | None:
    """Return the step for a text of a known form; None for any other text."""
    if not text.strip():
        return Reply(DEVTOOL_TEXTS.empty_request.render(language))
    match parsed_request(text):
        case None:
            return None
        case Help():
            return Reply(DEVTOOL_TEXTS.help.render(language, commands="\n".join(usages(COMMANDS))))
        case InvalidCommand() as wrong:
            return Reply(usage_text(wrong, language))
        case action:
            return CalledTool("", action)


def _action(called: FunctionCall) -> AnyAction | None:
    if called.arguments is None:
        return None
    try:
        action: AnyAction = msgspec.convert({**called.arguments, "tool": called.name}, AnyAction)
        return action
    except msgspec.ValidationError:
        return None


def _turns(dialogue: Sequence[DialogueEntry]) -> Iterator[Turn]:
    names: dict[str, str] = {}
    for entry in dialogue:
        match entry:
            case UserText(text=text):
                yield UserTurn(text or " ")
            case AgentText(text=text) if text:
                yield ModelTurn(text)
            case CalledTool(call_id=call_id, action=action, signature=signature):
                names[call_id] = action.tool
                yield FunctionCall(name=action.tool, arguments=action.parameters, signature=signature)
            case ToolResult(call_id=call_id, text=text, succeeded=succeeded) if call_id in names:
                result = text[:_MAX_RESULT_CHARACTERS]
                yield FunctionResult(name=names[call_id], text=result, succeeded=succeeded)
