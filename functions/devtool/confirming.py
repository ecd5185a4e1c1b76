"""Tool calls for clients that know text only: what is asked, and which choice a reply stands for."""

from __future__ import annotations

from functions.devtool.texts import Key, say
from shared.a2a.extensions.development_tool import ToolCall
from shared.language import Language
from shared.normal_text import normalise

_YES = frozenset({"yes", "y", "ok", "はい", "許可"})
_NO = frozenset({"no", "n", "いいえ", "中止"})


def question(call: ToolCall, language: Language) -> str:
    """What waits for a decision, and the numbered choices."""
    request = call.confirmation_request
    assert request is not None, "what waits has asked something"
    details = request.execute_details.command if request.execute_details else ""
    if request.file_edit_details:
        details = request.file_edit_details.formatted_diff or request.file_edit_details.new_content
    options = "\n".join(f"{number}. {each.name}" for number, each in enumerate(request.options, start=1))
    return say(Key.QUESTION, language, details=details, options=options)


def chosen(reply: str, call: ToolCall) -> str | None:
    """The id of the option; None where the reply is none."""
    request = call.confirmation_request
    assert request is not None, "what waits has asked something"
    said = normalise(reply).strip(".。!")
    for number, option in enumerate(request.options, start=1):
        if said in (str(number), normalise(option.id), normalise(option.name)):
            return option.id
    if said in _YES:
        return request.options[0].id
    return request.options[-1].id if said in _NO else None


def doing(call: ToolCall, language: Language) -> str:
    """One line for whoever waits."""
    about = (call.input_parameters or {}).get("command") or (call.input_parameters or {}).get("path") or ""
    return say(Key.DOING, language, tool=call.tool_name, about=about)
