"""The requests that are understood without a model (docs/development-tool.md): slash commands, and sentences of known forms.

The commands are one tree, which clients are shown and in which a text is found, and have the extension's two methods.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a import protojson
from a2a_hub.a2a.agent import Sending
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


Made = AnyAction | Help
Make = Callable[[str], Made | None]


class Command(Struct, frozen=True):
    """A command, what it takes, and what its arguments (one text) become; None where they are wrong. A group makes nothing."""

    name: str
    description: str
    make: Make | None = None
    arguments: tuple[SlashCommandArgument, ...] = ()
    commands: tuple[Command, ...] = ()

    @property
    def usage(self) -> str:
        """The command's arguments as people write them: `<required> [optional]`."""
        return " ".join(f"<{each.name}>" if each.is_required else f"[{each.name}]" for each in self.arguments)


class Wrong(Struct, frozen=True):
    """A command that cannot be executed as it stands: the names that were found, and what would be right."""

    path: tuple[str, ...]
    usages: tuple[str, ...]
    is_known: bool


def found(text: str) -> Made | Wrong:
    """Return the action of a text that begins with a slash."""
    commands: Sequence[Command] = COMMANDS
    above: tuple[str, ...] = ()
    rest = text.lstrip("/／ ")
    while True:
        name, rest = (*rest.split(maxsplit=1), "", "")[:2]
        command = next((each for each in commands if each.name == name.casefold()), None)
        if command is None:
            return Wrong((*above, name), usages(commands, above), is_known=False)
        path = (*above, command.name)
        if command.make is not None:
            return command.make(rest.strip()) or Wrong(path, usages((command,), above), is_known=True)
        commands, above = command.commands, path


def usages(commands: Sequence[Command], above: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the usage of each command, those below it in its place."""
    lines: list[str] = []
    for each in commands:
        path = (*above, each.name)
        lines += usages(each.commands, path) if each.commands else [f"/{' '.join(path)} {each.usage}".strip()]
    return tuple(lines)


def shown(commands: Sequence[Command]) -> tuple[SlashCommand, ...]:
    """Return the tree as clients get it."""
    return tuple(
        SlashCommand(
            name=each.name, description=each.description, arguments=each.arguments, sub_commands=shown(each.commands)
        )
        for each in commands
    )


def _write(text: str) -> Made | None:
    """Read the first word as the path, and all that follows as the content, as it stands."""
    if text[:1] in ("'", '"'):
        path, end, content = text[1:].partition(text[0])
        content = content.strip() if end else ""
    else:
        path, _, content = text.partition(" ")
        if "\n" in path:
            path, _, content = text.partition("\n")
    return actions.WriteFile(path=path, content=content) if path and content else None


def _replace(text: str) -> Made | None:
    try:
        path, old, new = shlex.split(text)
    except ValueError:
        return None
    return actions.Replace(path=path, old_text=old, new_text=new) if old else None


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "'\"" else text


def _argument(name: str, description: str, *, needed: bool = True) -> SlashCommandArgument:
    return SlashCommandArgument(name=name, description=description, is_required=needed)


_PATH = _argument("path", "A path in the workspace. ワークスペース内のパス")

COMMANDS = (
    Command("help", "Shows what can be asked for. できることを表示します", lambda _: Help()),
    Command(
        "files",
        "Lists the files of a folder. フォルダー内のファイルを一覧表示します",
        lambda path: actions.ListFiles(path=_unquoted(path) or "."),
        (_argument("path", "The folder; the workspace itself if left out. フォルダー（省略可）", needed=False),),
    ),
    Command(
        "read",
        "Shows a file. ファイルの内容を表示します",
        lambda path: actions.ReadFile(path=_unquoted(path)) if path else None,
        (_PATH,),
    ),
    Command(
        "search",
        "Finds the lines that hold a text. 文字列を含む行を検索します",
        lambda text: actions.SearchText(text=_unquoted(text)) if text else None,
        (_argument("text", "What to look for. 検索する文字列"),),
    ),
    Command(
        "write",
        "Creates or overwrites a file, after a confirmation. 確認のうえ、ファイルを作成または上書きします",
        _write,
        (_PATH, _argument("content", "The whole content. ファイル全体の内容")),
    ),
    Command(
        "replace",
        "Replaces a text in a file, after a confirmation. 確認のうえ、ファイル内の文字列を置き換えます",
        _replace,
        (
            _PATH,
            _argument("old", "The text to be replaced; quoted if it holds blanks. 置き換え前の文字列"),
            _argument("new", "What takes its place; quoted if it holds blanks. 置き換え後の文字列"),
        ),
    ),
    Command(
        "run",
        "Runs a program in the workspace, after a confirmation. 確認のうえ、プログラムを実行します",
        lambda command: actions.RunCommand(command=command) if command else None,
        (_argument("command", "The program and its arguments. プログラムと引数"),),
    ),
    Command(
        "memory",
        f"What the workspace's {MEMORY} says to those who work on it. {MEMORY} に残したメモ",
        commands=(
            Command("show", "Shows it. 表示します", lambda text: None if text else actions.ReadFile(path=MEMORY)),
            Command(
                "add",
                "Adds a line to it, after a confirmation. 確認のうえ、一行を追加します",
                lambda text: actions.AddLine(path=MEMORY, line=f"- {text}") if text and "\n" not in text else None,
                (_argument("text", "What is to be remembered. 覚えておく内容"),),
            ),
        ),
    ),
)


def usage_text(wrong: Wrong, language: Language) -> str:
    """Return why a command cannot be executed, and the right usage."""
    text = DEVTOOL_TEXTS.wrong_arguments if wrong.is_known else DEVTOOL_TEXTS.unknown_command
    return text.render(language, command=" ".join(wrong.path)[:80].strip(), usages="\n".join(wrong.usages))


_FENCED = r"```[^\n]*\n(?s:.*?)```"
_QUOTED = r"""(?:“[^”]*”|‘[^’]*’|「[^」]*」|『[^』]*』|`[^`\n]*`|"[^"]*"|'[^']*')"""
_WORD = r"[^\s“”‘’「」『』`\"']{1,200}?"
_ASCII = r"[!#-&(-_a-~]{1,200}?"
# A word that looks like the name of a file: "open the door" reads nothing.
_FILE = rf"(?P<path>{_QUOTED}|(?=\S*[./]){_WORD}|(?-i:[A-Z]){_WORD})"
_PLACE = rf"(?P<path>{_QUOTED}|{_WORD})"
_CONTENT = rf"(?P<content>{_FENCED}|{_QUOTED})"
_IN_EN = rf"(?: in (?:(?:the|my|this) (?:workspace|project)|(?:the )?(?:folder |directory )?{_PLACE}))?"
_IN_JA = rf"(?:(?:ワークスペース|プロジェクト|この|{_PLACE}) ?(?:フォルダー?)?(?:の中)?"

_TEXT_EN = rf"{_QUOTED}|{_WORD}"
_TEXT_JA = rf"{_QUOTED}|{_ASCII}"
_ENGLISH = (
    (Help, "help|what can you do"),
    (actions.ListFiles, rf"(?:list|show)(?: me)?(?: all)?(?: the)? files{_IN_EN}"),
    (actions.ListFiles, rf"(?:what|which) files (?:are|do (?:i|we) have)(?: there)?{_IN_EN}"),
    (actions.ListFiles, rf"ls(?: (?P<path>{_ASCII}))?"),
    (actions.ReadFile, rf"(?:read|open|show)(?: me)?(?: the file)? {_FILE}"),
    (actions.ReadFile, rf"what(?:['’]s| is)(?: written)? in(?: the file)? {_FILE}"),
    (actions.SearchText, rf"find (?P<text>{_QUOTED}){_IN_EN}"),
    (actions.SearchText, rf"(?:search for|grep) (?P<text>{_TEXT_EN}){_IN_EN}"),
    (
        actions.WriteFile,
        rf"(?:create|write) (?:a file )?{_PLACE} with (?:(?:the )?(?:following )?(?:content|text):?\s)?{_CONTENT}",
    ),
    (actions.WriteFile, rf"(?:write|save) {_CONTENT} (?:to|as) {_PLACE}"),
    (actions.Replace, rf"replace (?P<old_text>{_TEXT_EN}) with (?P<new_text>{_TEXT_EN}) in {_PLACE}"),
    (actions.RunCommand, rf"(?:run|execute) (?P<command>{_QUOTED})"),
)
_JAPANESE = (
    (Help, "ヘルプ|使い方(?:を教えて)?|何ができますか"),
    (actions.ListFiles, rf"{_IN_JA}(?:の|にある) ?)?ファイルの?一覧(?:を(?:見せて|表示して|教えて))?"),
    (actions.ListFiles, rf"{_IN_JA}(?:の|にある) ?)?ファイルを一覧(?:に|表示)して"),
    (actions.ListFiles, rf"{_IN_JA}(?:の|にある) ?)ファイルを ?(?:すべて|全部)?(?:見せて|表示して|教えて)"),
    (actions.ReadFile, rf"{_FILE} ?の(?:内容|中身)(?:は|って何(?:ですか)?)"),
    (actions.ReadFile, rf"{_FILE} ?(?:の(?:内容|中身))?を ?(?:読んで|開いて|見せて|表示して|教えて)"),
    (actions.SearchText, rf"{_IN_JA}(?:で|から) ?)?(?P<text>{_TEXT_JA}) ?を ?(?:検索して|探して)"),
    (actions.WriteFile, rf"{_PLACE} ?を ?{_CONTENT} ?という内容で ?(?:作成|保存|上書き)して"),
    (actions.WriteFile, rf"{_CONTENT} ?を ?{_PLACE} ?に ?(?:書いて|書き込んで)"),
    (actions.WriteFile, rf"{_PLACE} ?に ?{_CONTENT} ?と ?(?:書いて|書き込んで)"),
    (
        actions.Replace,
        rf"{_PLACE} ?の ?(?P<old_text>{_TEXT_JA}) ?を ?(?P<new_text>{_TEXT_JA}) ?に ?(?:置き換えて|置換して|変更して)",
    ),
    (actions.RunCommand, rf"(?:コマンド ?)?(?P<command>{_QUOTED}|[!-~][ -~]*?) ?を ?実行して"),
)
# A full stop may be an argument here.
_RUN = re.compile(
    r"(?:please )?(?:run|execute) (?P<command>(?!(?:the|an?|my|our|all|it|this|that|them)\b).+?)(?:,? please)?",
    re.IGNORECASE,
)
_FORMS = [
    (kind, re.compile(rf"(?:please )?(?:{form})(?:,? please|ください|下さい)?[ .!?。．！？]*", re.IGNORECASE))
    for kind, form in (*_ENGLISH, *_JAPANESE)
]


def understood(text: str) -> AnyAction | Help | Wrong | None:
    """Return the action that the whole text asks for; None if it has no known form: nothing is guessed."""
    text = text.strip()
    if text.startswith(("/", "／")) and not text.startswith("//"):
        return found(text)
    for kind, form in _FORMS:
        if match := form.fullmatch(text):
            return kind(**{name: _value(words) for name, words in match.groupdict().items() if words})
    match = _RUN.fullmatch(text)
    return actions.RunCommand(command=match["command"]) if match else None


def _value(words: str) -> str:
    """Return what a quoted text says; other words as they are."""
    if words.startswith("```"):
        return words[words.index("\n") + 1 : -3]
    return words[1:-1] if re.fullmatch(_QUOTED, words) else words


class SlashCommands(Struct, frozen=True):
    """See `a2a_hub.a2a.extensions.slash_commands.SlashCommands`."""

    conversations: Conversations
    programs: AllowedPrograms

    def commands(self, request: GetAllSlashCommandsRequest, call: Call) -> GetAllSlashCommandsResponse:  # noqa: ARG002 - the protocol's
        """See `SlashCommands.commands`: the same for everybody."""
        return GetAllSlashCommandsResponse(commands=shown(COMMANDS))

    def execute(self, request: ExecuteSlashCommandRequest, call: Call, sending: Sending) -> ExecuteSlashCommandResponse:
        """See `SlashCommands.execute`."""
        typed = command_line(request)
        language = language_of(typed)
        action = found(typed)
        if isinstance(action, Wrong):
            return not_started(usage_text(action, language))
        if isinstance(action, Help):
            return start_execution(request, call, sending)
        if in_metadata(request.metadata) is None and not self.conversations.has_default:
            return not_started(DEVTOOL_TEXTS.no_workspace.render(language))
        return replace(start_execution(request, call, sending), status=self._status(action, request, call))

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
