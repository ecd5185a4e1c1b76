"""The answers to commands, in English and Japanese."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from a2a_hub.a2a.model import Part, Task, TaskState
from a2a_hub.a2a.reply import as_message
from a2a_hub.a2a.text import text_of
from a2a_hub.routing.routes import Route
from a2a_hub.task_store.store import StoredTask
from a2a_hub.text.language import Language

if TYPE_CHECKING:
    from a2a_hub.a2a.extensions.development_tool import SlashCommand

_EN, _JA = Language.EN, Language.JA
_LONGEST_TITLE = 60

_STATES: dict[TaskState, dict[Language, str]] = {
    TaskState.UNSPECIFIED: {_EN: "unknown", _JA: "不明"},
    TaskState.SUBMITTED: {_EN: "waiting to be worked on", _JA: "受付済み"},
    TaskState.WORKING: {_EN: "being worked on", _JA: "処理中"},
    TaskState.COMPLETED: {_EN: "completed", _JA: "完了"},
    TaskState.FAILED: {_EN: "failed", _JA: "失敗"},
    TaskState.CANCELED: {_EN: "canceled", _JA: "キャンセル済み"},
    TaskState.INPUT_REQUIRED: {_EN: "waiting for your answer", _JA: "回答待ち"},
    TaskState.REJECTED: {_EN: "rejected", _JA: "拒否"},
    TaskState.AUTH_REQUIRED: {_EN: "waiting for your sign-in", _JA: "認証待ち"},
}
# It waits for nothing in particular.
_OPEN = {_EN: "answered; it can be gone on with", _JA: "回答済み（続けられます）"}
_HELP = {
    _EN: "You can ask in your own words; the hub passes your question on. There are also commands:\n"
    "/routes: which agents there are\n"
    "/tasks: your latest tasks\n"
    "/task N: the state of task N, and its answer\n"
    "/cancel N: stops task N\n"
    "/help: this text",
    _JA: "ふだんの言葉で質問すると、担当エージェントに取り次ぎます。ほかに次のコマンドがあります。\n"
    "/ルート: 利用できるエージェントの一覧\n"
    "/タスク一覧: 最近のタスク\n"
    "/タスク N: タスクNの状況と回答\n"
    "/キャンセル N: タスクNの中止\n"
    "/ヘルプ: この説明",
}
_OF_AGENTS = {_EN: "Agents have more:", _JA: "エージェントのコマンド:"}
_UNKNOWN_COMMAND = {
    _EN: "There is no such command.",
    _JA: "そのようなコマンドはありません。",
}
_NO_TASKS_KEPT = {
    _EN: "There are no tasks here: this hub does not keep them, or does not know who you are.",
    _JA: "確認できるタスクはありません。このハブではタスクを保存していないか、利用者を特定できません。",
}
_NOT_COVERED = {
    _EN: "Your credential covers questions, but not tasks. Ask the hub's operator for one that does.",
    _JA: "お使いの認証情報では質問のみ可能で、タスクの操作はできません。必要な場合はハブの管理者にご相談ください。",
}
_TASKS_AWAY = {
    _EN: "Your tasks cannot be reached at the moment, but none of them is lost. Please try again in a minute.",
    _JA: "現在、タスクの保存先に接続できません。タスクは失われていません。1分ほどしてからもう一度お試しください。",
}
_NO_TASKS = {
    _EN: "You have no tasks. A question becomes one when its answer takes long.",
    _JA: "タスクはありません。回答に時間がかかる質問は、タスクとして保存されます。",
}
_TASKS = {_EN: "Your latest tasks:", _JA: "最近のタスク:"}
_ROUTES = {_EN: "These agents answer your questions:", _JA: "次のエージェントが質問に答えます:"}
_NUMBER = {
    _EN: "Which task? Add its number, as in “/{command} 3”. “/tasks” lists them.",
    _JA: "タスク番号を付けてください（例: 「/{command} 3」）。「/タスク一覧」で番号を確認できます。",
}
_UNKNOWN = {
    _EN: "You have no task {number}. “/tasks” lists those that you have.",
    _JA: "タスク{number}は見つかりません。「/タスク一覧」で番号を確認できます。",
}
_TASK = {_EN: "Task {number} is {state}: {title}", _JA: "タスク{number}は{state}です: {title}"}
_CANCELED = {_EN: "Task {number} is canceled: {title}", _JA: "タスク{number}を中止しました: {title}"}
_CANCELING = {
    _EN: "Task {number} has been told to stop; it ends as soon as the agent at work on it stops: {title}",
    _JA: "タスク{number}に中止を伝えました。担当が処理を止め次第、終了します: {title}",
}
_NOT_CANCELABLE = {
    _EN: "Task {number} cannot be stopped any more: it is {state}: {title}",
    _JA: "タスク{number}は{state}のため、中止できません: {title}",
}


def help_text(of_agents: Sequence[SlashCommand], language: Language) -> str:
    """All commands: the hub's, and those of agents behind it."""
    lines = [f"/{command.name}: {command.description}" for command in of_agents]
    return "\n".join([_HELP[language], *([f"\n{_OF_AGENTS[language]}", *lines] if lines else ())])


def unknown_command(language: Language) -> str:
    """There is no such command; these there are."""
    return f"{_UNKNOWN_COMMAND[language]}\n\n{_HELP[language]}"


def routes_text(routes: Sequence[Route], language: Language) -> str:
    """The agents, one a line."""
    japanese = language is _JA
    lines = [
        f"- {route.name_ja}: {route.description_ja}" if japanese else f"- {route.name}: {route.description}"
        for route in routes
    ]
    return "\n".join([_ROUTES[language], *lines])


def no_tasks_kept(language: Language) -> str:
    """Nothing is stored for this caller."""
    return _NO_TASKS_KEPT[language]


def not_covered(language: Language) -> str:
    """The caller may not do this."""
    return _NOT_COVERED[language]


def tasks_away(language: Language) -> str:
    """Where tasks are kept does not answer."""
    return _TASKS_AWAY[language]


def tasks_text(tasks: Sequence[StoredTask], language: Language) -> str:
    """The tasks, one a line."""
    if not tasks:
        return _NO_TASKS[language]
    lines = [f"{stored.number}: {_state(stored.task, language)}: {_title(stored)}" for stored in tasks]
    return "\n".join([_TASKS[language], *lines])


def number_missing(command: str, language: Language) -> str:
    """The command needs a number."""
    return _NUMBER[language].format(command=command)


def unknown_task(number: int, language: Language) -> str:
    """The caller has no such task."""
    return _UNKNOWN[language].format(number=number)


def task_text(stored: StoredTask, language: Language) -> str:
    """How the task stands, and what has been answered so far."""
    head = _filled(_TASK, stored, stored.task, language)
    answer = _text(as_message(stored.task, before=None, message_id="").parts)
    return f"{head}\n\n{answer}" if answer else head


def cancelled(stored: StoredTask, now: Task, language: Language) -> str:
    """The task is canceled, or will be."""
    return _filled(_CANCELED if now.status.state.terminal else _CANCELING, stored, now, language)


def not_cancelable(stored: StoredTask, language: Language) -> str:
    """The task has ended."""
    return _filled(_NOT_CANCELABLE, stored, stored.task, language)


def _filled(form: dict[Language, str], stored: StoredTask, task: Task, language: Language) -> str:
    return form[language].format(number=stored.number, state=_state(task, language), title=_title(stored))


def _state(task: Task, language: Language) -> str:
    if task.status.state is TaskState.INPUT_REQUIRED and task.status.message is None:
        return _OPEN[language]
    return _STATES[task.status.state][language]


def _title(stored: StoredTask) -> str:
    """What the task's owner asked, cut to one line."""
    history = stored.task.history
    text = " ".join(text_of(history[0]).split()) if history else ""
    return text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 1]}…"


def _text(parts: Sequence[Part]) -> str:
    return "\n".join(part.text for part in parts if part.text)
