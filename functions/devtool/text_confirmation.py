"""Tool calls for clients that know text only: what is asked, and which choice a reply stands for."""

from __future__ import annotations

from a2a_hub.a2a.extensions.development_tool import Spelling, ToolCall, part_of
from a2a_hub.a2a.extensions.tool_calls import tool_calls_in
from a2a_hub.a2a.extensions.tool_confirmation import chosen as chosen_of
from a2a_hub.a2a.extensions.tool_confirmation import progress_text, question_text
from a2a_hub.a2a.extensions.tool_updates import ToolQuestion, ToolUpdate
from a2a_hub.a2a.model import Message, Role
from a2a_hub.text.language import Language


def question(call: ToolCall, agent: str, language: Language) -> str:
    """What waits for a decision, and the numbered choices."""
    return question_text([_question(call)], agent, language)


def chosen(reply: str, call: ToolCall) -> str | None:
    """The id of the option; None where the reply is none."""
    return chosen_of(reply, _question(call))


def doing(call: ToolCall, language: Language) -> str:
    """One line for whoever waits."""
    return progress_text(_update(call), language)


def _question(call: ToolCall) -> ToolQuestion:
    found = _update(call).question
    assert found is not None, "what waits has asked something"
    return found


def _update(call: ToolCall) -> ToolUpdate:
    """The call as whoever is told of it reads it."""
    said = Message(message_id="", role=Role.AGENT, parts=(part_of(call, Spelling.SNAKE),))
    return next(tool_calls_in(said))
