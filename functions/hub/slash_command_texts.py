"""What people read of slash commands that did not start, in English and Japanese."""

from __future__ import annotations

from collections.abc import Sequence

from a2a_hub.a2a.extensions.development_tool import ExecuteSlashCommandRequest
from a2a_hub.routing.routes import Route
from a2a_hub.text.language import Language
from functions.hub.texts import name_of

_EN, _JA = Language.EN, Language.JA
_MOST_NAMES = 30
_MOST_CHARACTERS = 200
_UNKNOWN = {
    _EN: "No agent offers the command {command}. There are: {known}",
    _JA: "コマンド {command} を提供するエージェントはありません。利用できるコマンド: {known}",
}
_NONE = {
    _EN: "No agent that you may use offers slash commands.",
    _JA: "利用できるエージェントの中に、スラッシュコマンドを提供するものはありません。",
}
_REFUSED = {
    _EN: "The agent “{agent}” did not start the command {command}. Check its name and its arguments.",
    _JA: "エージェント「{agent}」はコマンド {command} を開始しませんでした。コマンド名と引数を確認してください。",
}


def unknown(request: ExecuteSlashCommandRequest, known: Sequence[str], language: Language) -> str:
    """No agent has the command; `known` are those that there are."""
    if not known:
        return _NONE[language]
    names = ", ".join(f"/{name}" for name in known[:_MOST_NAMES])
    return _UNKNOWN[language].format(command=_typed(request), known=names)


def refused(route: Route, request: ExecuteSlashCommandRequest, language: Language) -> str:
    """The agent did not start it, and did not say why."""
    return _REFUSED[language].format(agent=name_of(route, language), command=_typed(request))


def _typed(request: ExecuteSlashCommandRequest) -> str:
    return ("/" + " ".join(request.command_path))[:_MOST_CHARACTERS]
