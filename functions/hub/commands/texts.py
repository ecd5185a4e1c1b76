"""The answers to commands, in English and Japanese."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from a2a_hub.a2a.extensions.development_tool import ExecuteSlashCommandRequest, SlashCommand
from a2a_hub.a2a.model import Task, TaskState, text_of
from a2a_hub.a2a.reply import as_message
from a2a_hub.routing.routes import Route
from a2a_hub.task_store.store import StoredTask
from a2a_hub.text.catalog import Text
from a2a_hub.text.language import Language, language_of

_FILE = Path(__file__).with_suffix(".toml")
_EN, _JA = Language.EN, Language.JA
_LONGEST_TITLE = 60
_MOST_NAMES = 30
_MOST_CHARACTERS = 200

_UNKNOWN_COMMAND = Text(_FILE, "unknown_command")
_MEANT_COMMAND = Text(_FILE, "meant_command")
NO_TASKS_KEPT = Text(_FILE, "no_tasks_kept")
NOT_COVERED = Text(_FILE, "not_covered")
STORE_UNAVAILABLE = Text(_FILE, "store_unavailable")
RATED = Text(_FILE, "rated")
RATED_BAD_WITHOUT_REASON = Text(_FILE, "rated_bad_without_reason")
NOTHING_TO_RATE = Text(_FILE, "nothing_to_rate")
NO_AGENT_COMMANDS = Text(_FILE, "no_agent_commands")
_STATES = {each: Text(_FILE, f"states.{each.name.lower()}") for each in TaskState}
_WAITS_FOR_WORKER = Text(_FILE, "waits_for_worker")
# The agent asked no question.
_IDLE = Text(_FILE, "idle")
_ASK = Text(_FILE, "ask")
_EXAMPLE = Text(_FILE, "example")
HELP = Text(_FILE, "help")
_AGENT_COMMANDS = Text(_FILE, "agent_commands")
_ROUTES = Text(_FILE, "routes")
_NO_TASKS = Text(_FILE, "no_tasks")
_TASKS = Text(_FILE, "tasks")
_TASK_LINE = Text(_FILE, "task_line")
_COMMANDS_JA = {"task": "タスク", "cancel": "キャンセル"}
_NUMBER_MISSING = Text(_FILE, "number_missing")
UNKNOWN_TASK = Text(_FILE, "unknown_task")
_TASK = Text(_FILE, "task")
CANCELED = Text(_FILE, "canceled")
CANCELING = Text(_FILE, "canceling")
NOT_CANCELABLE = Text(_FILE, "not_cancelable")
_UNKNOWN_AGENT_COMMAND = Text(_FILE, "unknown_agent_command")
REFUSED = Text(_FILE, "refused")


def help_text(routes: Sequence[Route], agent_commands: Sequence[SlashCommand], language: Language) -> str:
    """Return the agents, each with an example, the commands of the hub, and those of agents behind it."""
    colon = ": " if language is _EN else "："
    lines = [f"/{command.name}{colon}{_in_language(command.description, language)}" for command in agent_commands]
    agents = [_ASK[language], *(_route_line(route, language) for route in routes), ""]
    return "\n".join([*agents, HELP[language], *([f"\n{_AGENT_COMMANDS[language]}", *lines] if lines else ())])


def unknown_command_text(name: str, known: Iterable[str], language: Language) -> str:
    """Return that there is no command of this name, with the one of the `known` that is spelled most like it, and all."""
    alike = get_close_matches(name, known, 1)
    meant = _MEANT_COMMAND[language].format(command=alike[0]) if alike else ""
    return f"{_UNKNOWN_COMMAND[language]}{meant}\n\n{HELP[language]}"


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
