"""Tool calls that wait for a decision, for people who can only read and write text: the question, and the answer to the agent.

They are asked one by one: a "yes" is consent to what stands right above it, and to nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from a2a_hub.a2a.extensions.development_tool import URI, ToolCallConfirmation
from a2a_hub.a2a.extensions.schema_json import Spelling, write
from a2a_hub.a2a.extensions.tool_options import options_of, shown_name
from a2a_hub.a2a.extensions.tool_reply import plain_choices
from a2a_hub.a2a.extensions.tool_state import Action, Dialect, ToolQuestion, ToolUpdate
from a2a_hub.a2a.model import Message, Part
from a2a_hub.text.language import Language

_EN, _JA = Language.EN, Language.JA
_INDENT = "    "
_WANTS = {
    Action.RUN: {
        _EN: "The agent “{agent}” wants to run this command:",
        _JA: "エージェント「{agent}」が次のコマンドの実行を求めています:",
    },
    Action.WRITE: {
        _EN: "The agent “{agent}” wants to change the file {subject}:",
        _JA: "エージェント「{agent}」がファイル {subject} の変更を求めています:",
    },
    Action.MCP: {
        _EN: "The agent “{agent}” wants to use the tool “{tool}” of the MCP server “{subject}”:",
        _JA: "エージェント「{agent}」が MCP サーバー「{subject}」のツール「{tool}」の使用を求めています:",
    },
    Action.OTHER: {
        _EN: "The agent “{agent}” wants to use the tool “{tool}”:",
        _JA: "エージェント「{agent}」がツール「{tool}」の使用を求めています:",
    },
}
_WHERE = {_EN: "(in the folder {subject})", _JA: "(フォルダー: {subject})"}
_UNSEEN = {
    _EN: "(Not everything is shown; lines missing or cut: {unseen})",
    _JA: "(全体は表示していません: {unseen}行を省略または短縮しています。)",
}
_OTHERS = {
    _EN: "({others} more will be asked after this one.)",
    _JA: "(このあと、ほかに{others}件を確認します。)",
}
_HOW = {_EN: "Please reply with the number of your choice.", _JA: "番号でお答えください。"}
_YES = {_EN: " “Yes” stands for {number}.", _JA: "「はい」は {number} として扱います。"}
_NO = {_EN: " “No” stands for {number}.", _JA: "「いいえ」は {number} として扱います。"}
_NOT_UNDERSTOOD = {
    _EN: "Your reply is none of the choices, so nothing was done yet.",
    _JA: "ご返信を選択肢のどれとも判断できなかったため、まだ何も実行していません。",
}
_LATE = {
    _EN: "The agent “{agent}” was not waiting for your decision any more, so this was not done. Please ask again.",
    _JA: "エージェント「{agent}」はすでに回答を待っていなかったため、実行していません。もう一度ご依頼ください。",
}
_REJECTED = {_EN: "Rejected: this was not done.", _JA: "拒否しました。実行していません。"}
_DOING = {
    Action.RUN: {_EN: "Running: {about}", _JA: "実行中: {about}"},
    Action.WRITE: {_EN: "Writing: {about}", _JA: "書き込み中: {about}"},
    Action.MCP: {_EN: "Using {tool}", _JA: "{tool} を使用中"},
    Action.OTHER: {_EN: "Using {tool}: {about}", _JA: "{tool} を使用中: {about}"},
}


def question_text(questions: Sequence[ToolQuestion], agent: str, language: Language) -> str:
    """Asks for a decision on the first of them."""
    first, *others = questions
    options = options_of(first)
    names = {"agent": agent, "tool": first.tool, "subject": first.subject}
    paragraphs = [_WANTS[first.action][language].format(**names)]
    if first.action is Action.RUN and first.subject not in ("", "."):
        paragraphs[0] += f"\n{_WHERE[language].format(**names)}"
    if first.body:
        # Indented, no line of it can be taken for one of the choices.
        paragraphs.append("\n".join(f"{_INDENT}{line}" for line in first.body.split("\n")))
    if first.unseen:
        paragraphs.append(_UNSEEN[language].format(unseen=first.unseen))
    if others:
        paragraphs.append(_OTHERS[language].format(others=len(others)))
    paragraphs.append(
        "\n".join(f"{number}. {shown_name(option, language)}" for number, option in enumerate(options, 1))
    )
    numbers = {option.id: number for number, option in enumerate(options, 1)}
    how = _HOW[language]
    for choice, stands_for in zip(plain_choices(first), (_YES, _NO), strict=True):
        if choice is not None:
            how += stands_for[language].format(number=numbers[choice])
    return "\n\n".join([*paragraphs, how])


def not_understood_text(language: Language) -> str:
    """Stands above the question when it is asked again."""
    return _NOT_UNDERSTOOD[language]


def late_text(agent: str, language: Language) -> str:
    """The decision came too late."""
    return _LATE[language].format(agent=agent)


def rejected_text(language: Language) -> str:
    """What an agent that says nothing more has done: nothing."""
    return _REJECTED[language]


def progress_text(update: ToolUpdate, language: Language) -> str:
    """The one line that tells that the tool is at work."""
    return _DOING[update.action][language].format(about=update.about, tool=update.tool).rstrip(": ")


def confirmation(asked: Message, question: ToolQuestion, option_id: str) -> Message:
    """The person's message as the agent gets it: their decision."""
    if question.dialect is Dialect.GEMINI_CLI:
        data: dict[str, Any] = {"callId": question.call_id, "outcome": option_id}
        return _with(asked, data, extensions=())
    said = ToolCallConfirmation(tool_call_id=question.call_id, selected_option_id=option_id)
    return _with(asked, write(said, Spelling(question.dialect.value)), extensions=(URI,))


def _with(asked: Message, data: dict[str, Any], *, extensions: tuple[str, ...]) -> Message:
    return Message(
        message_id=asked.message_id,
        role=asked.role,
        parts=(Part(data=data, media_type="application/json"),),
        context_id=asked.context_id,
        task_id=asked.task_id,
        metadata=asked.metadata,
        extensions=extensions,
    )
