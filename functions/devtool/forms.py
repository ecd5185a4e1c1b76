"""The requests that are understood without a model (docs/development-tool.md): slash commands, and sentences of known forms.

The commands are one tree, which clients are shown and in which a text is found, and have the extension's two methods.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a import protojson
from a2a_hub.a2a.agent import MessageOperations
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.extensions.development_tool import (
    AgentSettings,
    CommandExecutionStatus,
    ExecuteSlashCommandRequest,
    ExecuteSlashCommandResponse,
    GetAllSlashCommandsRequest,
    GetAllSlashCommandsResponse,
    SlashCommand,
    SlashCommandArgument,
    in_metadata,
)
from a2a_hub.a2a.extensions.slash_commands import command_line, not_started, start_execution
from a2a_hub.text.language import Language, language_of
from functions.devtool import actions
from functions.devtool.actions import MEMORY, AnyAction
from functions.devtool.conversation import Conversations, State
from functions.devtool.programs import AllowedPrograms
from functions.devtool.texts import DEVTOOL_TEXTS, ToolFailed
from functions.devtool.tools import Tools


class Help:
    """A request for what the agent can do."""


Parsed = AnyAction | Help
Parse = Callable[[str], Parsed | None]
"""A function that turns the arguments of a command, one text, into an action; None where they are wrong."""


class Command(Struct, frozen=True):
    """A command and what it takes, or a group of commands."""

    name: str
    description: str
    arguments: tuple[SlashCommandArgument, ...] = ()
    commands: tuple[Command, ...] = ()

    @property
    def usage(self) -> str:
        """The command's arguments as people write them: `<required> [optional]`."""
        return " ".join(f"<{each.name}>" if each.is_required else f"[{each.name}]" for each in self.arguments)


class InvalidCommand(Struct, frozen=True):
    """An unknown or incomplete command: its path so far, and the valid usages."""

    path: tuple[str, ...]
    usages: tuple[str, ...]
    is_known: bool


def parsed_command(text: str) -> Parsed | InvalidCommand:
    """Parse a text that begins with a slash."""
    commands: Sequence[Command] = COMMANDS
    above: tuple[str, ...] = ()
    rest = text.lstrip("/／ ")
    while True:
        name, rest = (*rest.split(maxsplit=1), "", "")[:2]
        command = next((each for each in commands if each.name == name.casefold()), None)
        if command is None:
            return InvalidCommand((*above, name), usages(commands, above), is_known=False)
        path = (*above, command.name)
        if not command.commands:
            parse = _PARSERS[" ".join(path)]
            return parse(rest.strip()) or InvalidCommand(path, usages((command,), above), is_known=True)
        commands, above = command.commands, path


def usages(commands: Sequence[Command], above: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the usage of each command, subcommands included."""
    lines: list[str] = []
    for each in commands:
        path = (*above, each.name)
        lines += usages(each.commands, path) if each.commands else [f"/{' '.join(path)} {each.usage}".strip()]
    return tuple(lines)


def slash_commands(commands: Sequence[Command]) -> tuple[SlashCommand, ...]:
    """Return the commands in the protocol's form."""
    return tuple(
        SlashCommand(
            name=each.name,
            description=each.description,
            arguments=each.arguments,
            sub_commands=slash_commands(each.commands),
        )
        for each in commands
    )


def _write(text: str) -> Parsed | None:
    """Read the first word as the path, and all that follows as the content, as it stands."""
    if text[:1] in ("'", '"'):
        path, end, content = text[1:].partition(text[0])
        content = content.strip() if end else ""
    else:
        path, _, content = text.partition(" ")
        if "\n" in path:
            path, _, content = text.partition("\n")
    return actions.WriteFile(path=path, content=content) if path and content else None


def _replace(text: str) -> Parsed | None:
    try:
        path, old, new = shlex.split(text)
    except ValueError:
        return None
    return actions.Replace(path=path, old_text=old, new_text=new) if old else None


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "'\"" else text


_PARSERS: Mapping[str, Parse] = {
    "help": lambda _: Help(),
    "files": lambda path: actions.ListFiles(path=_unquoted(path) or "."),
    "read": lambda path: actions.ReadFile(path=_unquoted(path)) if path else None,
    "search": lambda text: actions.SearchText(text=_unquoted(text)) if text else None,
    "write": _write,
    "replace": _replace,
    "run": lambda command: actions.RunCommand(command=command) if command else None,
    "memory show": lambda text: None if text else actions.ReadFile(path=MEMORY),
    "memory add": lambda text: actions.AddLine(path=MEMORY, line=f"- {text}") if text and "\n" not in text else None,
}
_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
COMMANDS = msgspec.convert(_FILE["commands"], tuple[Command, ...])


def usage_text(wrong: InvalidCommand, language: Language) -> str:
    """Return the error of an invalid command, with the valid usages."""
    text = DEVTOOL_TEXTS.wrong_arguments if wrong.is_known else DEVTOOL_TEXTS.unknown_command
    return text.render(language, command=" ".join(wrong.path)[:80].strip(), usages="\n".join(wrong.usages))


_PIECES: dict[str, str] = {}


def _expanded(form: str) -> str:
    return re.sub(r"<([A-Z_]+)>", lambda named: _PIECES[named[1]], form)


for _name, _piece in _FILE["pieces"].items():
    _PIECES[_name] = _expanded(_piece)
_KINDS: Mapping[str, Callable[..., AnyAction | Help]] = {each.__name__: each for each in (Help, *get_args(AnyAction))}
# A full stop may be an argument here.
_RUN = re.compile(
    r"(?:please )?(?:run|execute) (?P<command>(?!(?:the|an?|my|our|all|it|this|that|them)\b).+?)(?:,? please)?",
    re.IGNORECASE,
)
_FORMS = [
    (
        _KINDS[kind],
        re.compile(rf"(?:please )?(?:{_expanded(form)})(?:,? please|ください|下さい)?[ .!?。．！？]*", re.IGNORECASE),
    )
    for kind, form in _FILE["forms"]
]


def parsed_request(text: str) -> AnyAction | Help | InvalidCommand | None:
    """Return the action that the whole text requests; None if it matches no form."""
    text = text.strip()
    if text.startswith(("/", "／")) and not text.startswith("//"):
        return parsed_command(text)
    for kind, form in _FORMS:
        if match := form.fullmatch(text):
            return kind(**{name: _value(words) for name, words in match.groupdict().items() if words})
    match = _RUN.fullmatch(text)
    return actions.RunCommand(command=match["command"]) if match else None


def _value(words: str) -> str:
    """Return the content of a quoted text; other texts unchanged."""
    if words.startswith("```"):
        return words[words.index("\n") + 1 : -3]
    return words[1:-1] if re.fullmatch(_PIECES["QUOTED"], words) else words


class SlashCommands(Struct, frozen=True):
    """See `a2a_hub.a2a.extensions.slash_commands.SlashCommands`."""

    conversations: Conversations
    programs: AllowedPrograms

    def commands(self, request: GetAllSlashCommandsRequest, call: Call) -> GetAllSlashCommandsResponse:  # noqa: ARG002 - the protocol's
        """See `SlashCommands.commands`: the same for everybody."""
        return GetAllSlashCommandsResponse(commands=slash_commands(COMMANDS))

    def execute(
        self, request: ExecuteSlashCommandRequest, call: Call, operations: MessageOperations
    ) -> ExecuteSlashCommandResponse:
        """See `SlashCommands.execute`."""
        typed = command_line(request)
        language = language_of(typed)
        action = parsed_command(typed)
        if isinstance(action, InvalidCommand):
            return not_started(usage_text(action, language))
        if isinstance(action, Help):
            return start_execution(request, call, operations)
        if in_metadata(request.metadata) is None and not self.conversations.has_default:
            return not_started(DEVTOOL_TEXTS.no_workspace.render(language))
        return replace(start_execution(request, call, operations), status=self._status(action, request, call))

    def _status(self, action: AnyAction, request: ExecuteSlashCommandRequest, call: Call) -> CommandExecutionStatus:
        """Return what a new execution of the action does first: it waits for a confirmation, or it works."""
        settings = protojson.read(AgentSettings, in_metadata(request.metadata) or {})
        workspace = self.conversations.workspace(State(workspace=settings.workspace_path), call)
        try:
            tools = Tools(self.programs, workspace, Language.EN) if workspace else None
            asked = tools.approval_request(action) if tools else None
        except ToolFailed:
            # Its task says so.
            asked = None
        if asked is None:
            return CommandExecutionStatus.STARTED
        if asked.execute_details is not None:
            return CommandExecutionStatus.AWAITING_SHELL_CONFIRMATION
        return CommandExecutionStatus.AWAITING_ACTION_CONFIRMATION
