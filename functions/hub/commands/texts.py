"""The answers to commands, in English and Japanese."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from a2a_hub.a2a.extensions.development_tool import ExecuteSlashCommandRequest, SlashCommand
from a2a_hub.a2a.model import Task, TaskState, text_of
from a2a_hub.a2a.reply import as_message
from a2a_hub.routing.routes import Route
from a2a_hub.task_store.store import StoredTask
from a2a_hub.text.catalog import Catalog
from a2a_hub.text.language import Language, language_of

COMMAND_TEXTS = Catalog(Path(__file__).with_suffix(".toml"))
_EN, _JA = Language.EN, Language.JA
_LONGEST_TITLE = 60
_MAX_NAMES = 30
_MAX_CHARACTERS = 200

_STATES = {each: COMMAND_TEXTS[f"states.{each.name.lower()}"] for each in TaskState}
_COMMANDS_JA = {"task": "タスク", "cancel": "キャンセル"}


def help_text(routes: Sequence[Route], agent_commands: Sequence[SlashCommand], language: Language) -> str:
    """Return the agents, each with an example, the commands of the hub, and those of agents behind it."""
    colon = ": " if language is _EN else "："
    lines = [f"/{command.name}{colon}{_in_language(command.description, language)}" for command in agent_commands]
    if lines:
        lines.insert(0, f"\n{COMMAND_TEXTS.agent_commands[language]}")
    agents = [COMMAND_TEXTS.ask[language], *(_route_line(route, language) for route in routes), ""]
    return "\n".join([*agents, COMMAND_TEXTS.help[language], *lines])


def unknown_command_text(name: str, known: Iterable[str], language: Language) -> str:
    """Return that there is no command of this name, with the one of the `known` that is spelled most like it, and all."""
    alike = get_close_matches(name, known, 1)
    meant = COMMAND_TEXTS.meant_command[language].format(command=alike[0]) if alike else ""
    return f"{COMMAND_TEXTS.unknown_command[language]}{meant}\n\n{COMMAND_TEXTS.help[language]}"


def routes_text(routes: Sequence[Route], language: Language) -> str:
    """Return the agents, one a line."""
    return "\n".join([COMMAND_TEXTS.routes[language], *(_route_line(route, language) for route in routes)])


def _in_language(description: str, language: Language) -> str:
    """Return the half that is in `language` of a description in English and then Japanese; any other as it is."""
    english, stop, japanese = description.rpartition(". ")
    if not stop or (language_of(english), language_of(japanese)) != (_EN, _JA):
        return description
    return japanese if language is _JA else f"{english}."


def _route_line(route: Route, language: Language) -> str:
    line = f"- {route.name_ja}：{route.description_ja}" if language is _JA else f"- {route.name}: {route.description}"
    examples = [each for each in route.examples if language_of(each) is language] or route.examples
    return line + (COMMAND_TEXTS.example[language].format(example=examples[0]) if examples else "")


def filled(template: Mapping[Language, str], stored: StoredTask, task: Task, language: Language) -> str:
    """Return a sentence on a stored task, with the state that it has now as `task`."""
    idle = task.status.state is TaskState.INPUT_REQUIRED and task.status.message is None
    waits = stored.waits_for_worker and not task.status.state.settled
    # A worker may have taken it, and reports no progress.
    is_taken = task.status.state is TaskState.SUBMITTED and stored.attempt > 0
    now = _STATES[TaskState.WORKING if is_taken else task.status.state]
    state = COMMAND_TEXTS.idle if idle else COMMAND_TEXTS.waits_for_worker if waits else now
    return template[language].format(number=stored.number, state=state[language], title=_title(stored))


def tasks_text(tasks: Sequence[StoredTask], language: Language) -> str:
    """Return the tasks, one a line."""
    if not tasks:
        return COMMAND_TEXTS.no_tasks[language]
    lines = [filled(COMMAND_TEXTS.task_line, stored, stored.task, language) for stored in tasks]
    return "\n".join([COMMAND_TEXTS.tasks[language], *lines])


def number_missing_text(command: str, language: Language) -> str:
    """Return that the command needs a number."""
    name = _COMMANDS_JA.get(command, command) if language is _JA else command
    return COMMAND_TEXTS.number_missing[language].format(command=name)


def task_text(stored: StoredTask, language: Language) -> str:
    """Return the state of the task, and its answer so far."""
    head = filled(COMMAND_TEXTS.task, stored, stored.task, language)
    parts = as_message(stored.task, before=None).parts
    answer = "\n".join(part.text for part in parts if part.text)
    return f"{head}\n\n{answer}" if answer else head


def unknown_agent_command_text(request: ExecuteSlashCommandRequest, known: Sequence[str], language: Language) -> str:
    """Return that no agent has the command, and the `known` ones."""
    if not known:
        return COMMAND_TEXTS.no_agent_commands[language]
    names = ", ".join(f"/{name}" for name in known[:_MAX_NAMES])
    return COMMAND_TEXTS.unknown_agent_command[language].format(command=typed(request), known=names)


def typed(request: ExecuteSlashCommandRequest) -> str:
    """Return the command's name as a person types it."""
    return ("/" + " ".join(request.command_path))[:_MAX_CHARACTERS]


def _title(stored: StoredTask) -> str:
    history = stored.task.history
    text = " ".join(text_of(history[0]).split()) if history else ""
    return text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 1]}…"
