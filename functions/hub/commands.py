"""What a person can type where there is nothing to click: /tasks, /task N, /cancel N, /routes, /help; in Japanese, too."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import CancelTaskRequest
from a2a_hub.a2a.operations import CANCEL_TASK, GET_TASK, LIST_TASKS
from a2a_hub.a2a.text import text_of
from a2a_hub.identity.principal import may_call
from a2a_hub.routing.routes import Route, may_use
from a2a_hub.task_store.store import StoredTask, Unavailable
from a2a_hub.telemetry.log import Log
from a2a_hub.text.language import Language, language_of
from a2a_hub.text.normalization import normalise
from functions.hub import command_texts as texts

if TYPE_CHECKING:
    from a2a_hub.a2a.extensions.development_tool import SlashCommand
    from a2a_hub.tasks.operations import TaskOperations

_MOST_SHOWN = 10
_LONGEST_COMMAND = 40


class Command(StrEnum):
    """What is asked for."""

    TASKS = "tasks"
    TASK = "task"
    CANCEL = "cancel"
    ROUTES = "routes"
    HELP = "help"
    UNKNOWN = "unknown"


_NAMES: dict[str, Command] = {
    **{command.value: command for command in Command if command is not Command.UNKNOWN},
    "タスク一覧": Command.TASKS,
    "タスク": Command.TASK,
    "キャンセル": Command.CANCEL,
    "中止": Command.CANCEL,
    "ルート": Command.ROUTES,
    "ルート一覧": Command.ROUTES,
    "ヘルプ": Command.HELP,
}
_OPERATIONS = {Command.TASKS: LIST_TASKS, Command.TASK: GET_TASK, Command.CANCEL: CANCEL_TASK}
_FORM = re.compile(r"/ ?([^\d #]+) ?(?:#|no\.?)? ?(\d{1,9})?")


class Commands:
    """Answers commands. `routes` gives the routes as they are now; `is_routed` says whether a rule of one takes a text, which is
    then no command of the hub's, unless it has it; `of_agents` gives the commands that agents behind the hub have for a caller;
    `tasks` is None where none are kept.
    """

    def __init__(
        self,
        routes: Callable[[], Sequence[Route]],
        *,
        is_routed: Callable[[str], bool],
        of_agents: Callable[[Call], Sequence[SlashCommand]],
        tasks: TaskOperations | None,
        log: Log,
    ) -> None:
        self._routes = routes
        self._is_routed = is_routed
        self._of_agents = of_agents
        self._tasks = tasks
        self._log = log

    def knows(self, text: str) -> bool:
        """Whether the text is a command."""
        return self._read(text) is not None

    def answer(self, text: str, call: Call) -> str | None:
        """The answer to a command; None for any other text."""
        read = self._read(text)
        if read is None:
            return None
        command, number = read
        language = language_of(text)
        match command:
            case Command.HELP:
                return texts.help_text(self._reaching_an_agent(call), language)
            case Command.UNKNOWN:
                return texts.unknown_command(language)
            case Command.ROUTES:
                routes = [route for route in self._routes() if may_use(route, call.principal)]
                return texts.routes_text(routes, language)
            case _:
                try:
                    return self._of_tasks(command, number, call, language)
                except Unavailable:
                    # Who types commands can show no error (README.md, what a user interface gets).
                    self._log.exception("The task store is away", call.record)
                    return texts.tasks_away(language)

    def _read(self, text: str) -> tuple[Command, int | None] | None:
        read = _read(text)
        return None if read and read[0] is Command.UNKNOWN and self._is_routed(text) else read

    def _reaching_an_agent(self, call: Call) -> Sequence[SlashCommand]:
        """Agents' commands that a rule of the table takes to them when they are typed."""
        return [
            command
            for command in self._of_agents(call)
            if command.name not in _NAMES and self._is_routed(f"/{command.name}")
        ]

    def _of_tasks(self, command: Command, number: int | None, call: Call, language: Language) -> str:
        tasks = self._tasks
        if tasks is None or call.principal is None:
            return texts.no_tasks_kept(language)
        if not may_call(_OPERATIONS[command].name, call.principal):
            return texts.not_covered(language)
        if command is Command.TASKS:
            return texts.tasks_text(tasks.newest(_MOST_SHOWN, call), language)
        if number is None:
            return texts.number_missing(command.value, language)
        stored = tasks.numbered(number, call)
        if stored is None:
            return texts.unknown_task(number, language)
        if language is Language.EN:
            # Whoever reads Japanese may type the English word, too: then the task's question tells.
            language = _language_of(stored, language)
        if command is Command.TASK:
            return texts.task_text(stored, language)
        try:
            task = tasks.cancel(CancelTaskRequest(id=stored.task.id), call)
        except A2AError:
            # It may have ended while it was told to stop.
            return texts.not_cancelable(tasks.numbered(number, call) or stored, language)
        return texts.cancelled(stored, task, language)


def _read(text: str) -> tuple[Command, int | None] | None:
    """The command and its number; None for a text that is none."""
    if len(text) > _LONGEST_COMMAND or text[:1] not in ("/", "\uff0f"):
        return None
    found = _FORM.fullmatch(normalise(text))
    if found is None:
        return None
    command = _NAMES.get(found[1])
    if command is None:
        # One word after a slash is meant as a command; a path or a sentence is not.
        return (Command.UNKNOWN, None) if found[1].isalpha() else None
    return command, int(found[2]) if found[2] else None


def _language_of(stored: StoredTask, otherwise: Language) -> Language:
    history = stored.task.history
    return language_of(text_of(history[0])) if history else otherwise
