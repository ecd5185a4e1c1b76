"""The choices of a question about a tool call, and what they are called in either language."""

from __future__ import annotations

from a2a_hub.a2a.extensions.tool_state import Option, ToolQuestion
from a2a_hub.text.language import Language, language_of

_EN, _JA = Language.EN, Language.JA
_FEWEST = (Option("proceed_once", "Allow once"), Option("cancel", "Reject"))
_NAMES = {
    "proceed_once": {_EN: "Allow once", _JA: "今回だけ許可"},
    "proceed_always": {_EN: "Always allow this kind", _JA: "この種類は今後も常に許可"},
    "proceed_always_tool": {_EN: "Always allow this tool", _JA: "このツールは今後も常に許可"},
    "proceed_always_server": {
        _EN: "Always allow all tools of this server",
        _JA: "このサーバーのツールは今後もすべて許可",
    },
    "proceed_always_and_save": {
        _EN: "Always allow, in later sessions too",
        _JA: "今後も常に許可 (設定に保存)",
    },
    "cancel": {_EN: "Reject", _JA: "拒否"},
}


def options_of(question: ToolQuestion) -> tuple[Option, ...]:
    """The choices, in the order of their numbers."""
    return question.options or _FEWEST


def names_of(option: Option) -> tuple[str, ...]:
    """All that the choice is called, to whoever is asked in either language."""
    return tuple(filter(None, (option.name, *_NAMES.get(option.id, {}).values())))


def shown_name(option: Option, language: Language) -> str:
    """What the choice is called in the question: in Japanese with the agent's own word for it, if that is English."""
    ours = _NAMES.get(option.id, {}).get(language, "")
    if not option.name or language in (_EN, language_of(option.name)):
        return option.name or ours or option.id
    return f"{ours} ({option.name})" if ours else option.name
