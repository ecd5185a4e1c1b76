"""The answers to commands, in English and Japanese."""

from collections.abc import Mapping, Sequence

from a2a_hub.a2a.extensions.development_tool import ExecuteSlashCommandRequest, SlashCommand
from a2a_hub.a2a.model import Task, TaskState, text_of
from a2a_hub.a2a.reply import as_message
from a2a_hub.routing.routes import Route
from a2a_hub.task_store.store import StoredTask
from a2a_hub.text.language import Language, language_of

_EN, _JA = Language.EN, Language.JA
_LONGEST_TITLE = 60
_MOST_NAMES = 30
_MOST_CHARACTERS = 200

UNKNOWN_COMMAND = {_EN: "There is no such command.", _JA: "そのようなコマンドはありません。"}
NO_TASKS_KEPT = {
    _EN: "There are no tasks here: this hub does not keep them, or does not know who you are.",
    _JA: "確認できるタスクはありません。このハブではタスクを保存していないか、利用者を特定できません。",
}
NOT_COVERED = {
    _EN: "Your credential covers questions, but not tasks. Ask the hub's operator for one that does.",
    _JA: "お使いの認証情報では質問のみ可能で、タスクの操作はできません。必要な場合はハブの管理者にご相談ください。",
}
STORE_UNAVAILABLE = {
    _EN: "Your tasks cannot be reached at the moment, but none of them is lost. Please try again in a minute.",
    _JA: "現在、タスクの保存先に接続できません。タスクは失われていません。1分ほどしてからもう一度お試しください。",
}
RATED = {_EN: "Thank you. Your rating is recorded.", _JA: "評価を記録しました。ありがとうございます。"}
RATED_BAD_WITHOUT_REASON = {
    _EN: "Your rating is recorded. You can add what was wrong: /bad REASON",
    _JA: "評価を記録しました。「/悪い 理由」と入力すると、理由も伝えられます。",
}
NOTHING_TO_RATE = {
    _EN: "There is no answer in this conversation yet that you could rate. Ask something first.",
    _JA: "この会話には、評価できる回答がまだありません。まず質問を入力してください。",
}
NO_AGENT_COMMANDS = {
    _EN: "No agent that you may use offers slash commands.",
    _JA: "利用できるエージェントの中に、スラッシュコマンドを提供するものはありません。",
}
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
_WAITS_FOR_WORKER = {_EN: "waiting for a worker", _JA: "ワーカー待ち"}
# The agent asked no question.
_IDLE = {_EN: "answered; you can continue it", _JA: "回答済み（続けられます）"}
_ASK = {
    _EN: "You can ask in your own words; the hub passes your question on to one of these agents:",
    _JA: "ふだんの言葉で質問すると、次のいずれかの担当エージェントに取り次ぎます。",
}
_EXAMPLE = {_EN: " For example: “{example}”", _JA: "例：「{example}」"}
HELP = {
    _EN: "There are also commands:\n"
    "/routes: lists the agents\n"
    "/tasks: your latest tasks\n"
    "/task N: the state of task N, and its answer\n"
    "/cancel N: stops task N\n"
    "/good, /bad: rates the last answer; you can add why\n"
    "/help: this text",
    _JA: "ほかに次のコマンドがあります。\n"
    "/ルート：利用できるエージェントの一覧\n"
    "/タスク一覧：最近のタスク\n"
    "/タスク N：タスクNの状況と回答\n"
    "/キャンセル N：タスクNの中止\n"
    "/良い、/悪い：直前の回答の評価（理由も書けます）\n"
    "/ヘルプ：この説明",
}
_AGENT_COMMANDS = {_EN: "Agents have more:", _JA: "エージェントのコマンド："}
_ROUTES = {_EN: "These agents answer your questions:", _JA: "次のエージェントが質問に答えます："}
_NO_TASKS = {
    _EN: "You have no tasks. A question becomes one when its answer takes long.",
    _JA: "タスクはありません。回答に時間がかかる質問は、タスクとして保存されます。",
}
_TASKS = {_EN: "Your latest tasks:", _JA: "最近のタスク："}
_TASK_LINE = {_EN: "{number}: {state}: {title}", _JA: "{number}：{state}：{title}"}
_COMMANDS_JA = {"task": "タスク", "cancel": "キャンセル"}
_NUMBER_MISSING = {
    _EN: "Which task? Add its number, as in “/{command} 3”. “/tasks” lists them.",
    _JA: "タスク番号を付けてください（例：「/{command} 3」）。「/タスク一覧」で番号を確認できます。",
}
UNKNOWN_TASK = {
    _EN: "You have no task {number}. “/tasks” lists those that you have.",
    _JA: "タスク{number}は見つかりません。「/タスク一覧」で番号を確認できます。",
}
_TASK = {_EN: "Task {number} is {state}: {title}", _JA: "タスク{number}は{state}です：{title}"}
CANCELED = {_EN: "Task {number} is canceled: {title}", _JA: "タスク{number}を中止しました：{title}"}
CANCELING = {
    _EN: "Task {number} is being canceled; it ends when its agent stops: {title}",
    _JA: "タスク{number}に中止を伝えました。担当が処理を止め次第、終了します：{title}",
}
NOT_CANCELABLE = {
    _EN: "Task {number} cannot be stopped any more: it is {state}: {title}",
    _JA: "タスク{number}は{state}のため、中止できません：{title}",
}
_UNKNOWN_AGENT_COMMAND = {
    _EN: "No agent offers the command {command}. There are: {known}",
    _JA: "コマンド {command} を提供するエージェントはありません。利用できるコマンド：{known}",
}
REFUSED = {
    _EN: "The agent “{agent}” did not start the command {command}. Check its name and its arguments.",
    _JA: "エージェント「{agent}」はコマンド {command} を開始しませんでした。コマンド名と引数を確認してください。",
}


def help_text(routes: Sequence[Route], agent_commands: Sequence[SlashCommand], language: Language) -> str:
    """Return the agents, each with an example, the commands of the hub, and those of agents behind it."""
    colon = ": " if language is _EN else "："
    lines = [f"/{command.name}{colon}{_in_language(command.description, language)}" for command in agent_commands]
    agents = [_ASK[language], *(_route_line(route, language) for route in routes), ""]
    return "\n".join([*agents, HELP[language], *([f"\n{_AGENT_COMMANDS[language]}", *lines] if lines else ())])


def routes_text(routes: Sequence[Route], language: Language) -> str:
    """Return the agents, one a line."""
    return "\n".join([_ROUTES[language], *(_route_line(route, language) for route in routes)])


def _in_language(description: str, language: Language) -> str:
    """Return the half that is in `language` of a description in English and then Japanese; any other as it is."""
    english, stop, japanese = description.rpartition(". ")
    if not stop or (language_of(english), language_of(japanese)) != (_EN, _JA):
        return description
    return japanese if language is _JA else f"{english}."


def _route_line(route: Route, language: Language) -> str:
    line = f"- {route.name_ja}：{route.description_ja}" if language is _JA else f"- {route.name}: {route.description}"
    examples = [each for each in route.examples if language_of(each) is language] or route.examples
    return line + (_EXAMPLE[language].format(example=examples[0]) if examples else "")


def filled(template: Mapping[Language, str], stored: StoredTask, task: Task, language: Language) -> str:
    """Return a sentence on a stored task, with the state that it has now as `task`."""
    idle = task.status.state is TaskState.INPUT_REQUIRED and task.status.message is None
    waits = stored.waits_for_worker and not task.status.state.settled
    state = (_IDLE if idle else _WAITS_FOR_WORKER if waits else _STATES[task.status.state])[language]
    return template[language].format(number=stored.number, state=state, title=_title(stored))


def tasks_text(tasks: Sequence[StoredTask], language: Language) -> str:
    """Return the tasks, one a line."""
    if not tasks:
        return _NO_TASKS[language]
    lines = [filled(_TASK_LINE, stored, stored.task, language) for stored in tasks]
    return "\n".join([_TASKS[language], *lines])


def number_missing_text(command: str, language: Language) -> str:
    """Return that the command needs a number."""
    name = _COMMANDS_JA.get(command, command) if language is _JA else command
    return _NUMBER_MISSING[language].format(command=name)


def task_text(stored: StoredTask, language: Language) -> str:
    """Return the state of the task, and its answer so far."""
    head = filled(_TASK, stored, stored.task, language)
    parts = as_message(stored.task, before=None).parts
    answer = "\n".join(part.text for part in parts if part.text)
    return f"{head}\n\n{answer}" if answer else head


def unknown_agent_command_text(request: ExecuteSlashCommandRequest, known: Sequence[str], language: Language) -> str:
    """Return that no agent has the command, and the `known` ones."""
    if not known:
        return NO_AGENT_COMMANDS[language]
    names = ", ".join(f"/{name}" for name in known[:_MOST_NAMES])
    return _UNKNOWN_AGENT_COMMAND[language].format(command=typed(request), known=names)


def typed(request: ExecuteSlashCommandRequest) -> str:
    """Return the command's name as a person types it."""
    return ("/" + " ".join(request.command_path))[:_MOST_CHARACTERS]


def _title(stored: StoredTask) -> str:
    history = stored.task.history
    text = " ".join(text_of(history[0]).split()) if history else ""
    return text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 1]}…"
