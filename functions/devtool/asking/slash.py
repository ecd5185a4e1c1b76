"""The commands with a slash: one tree, which clients are shown and in which a text or a path of names is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from a2a_hub.a2a.extensions.development_tool import SlashCommand, SlashCommandArgument
from functions.devtool.actions import (
    MEMORY,
    AddLine,
    AnyAction,
    ListFiles,
    ReadFile,
    Replace,
    RunCommand,
    SearchText,
    WriteFile,
)
from functions.devtool.asking.patterns import Help

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
    """What a text that begins with a slash asks for."""
    words = text.lstrip("/／ ").split(maxsplit=1)
    return _found(words[0] if words else "", words[1] if len(words) == 2 else "", COMMANDS, ())


def named(path: Sequence[str], arguments: str) -> Made | Wrong:
    """What the command of these names asks for."""
    return found(" ".join([*path, arguments]))


def _found(name: str, rest: str, commands: Sequence[Command], above: tuple[str, ...]) -> Made | Wrong:
    command = next((each for each in commands if each.name == name.casefold()), None)
    if command is None:
        return Wrong((*above, name), usages(commands, above), is_known=False)
    path = (*above, command.name)
    if command.make is None:
        words = rest.split(maxsplit=1)
        return _found(words[0] if words else "", words[1] if len(words) == 2 else "", command.commands, path)
    return command.make(rest.strip()) or Wrong(path, usages((command,), above), is_known=True)


def usages(commands: Sequence[Command], above: tuple[str, ...] = ()) -> tuple[str, ...]:
    """How each command is written, those below it in its place."""
    lines: list[str] = []
    for each in commands:
        path = (*above, each.name)
        lines += usages(each.commands, path) if each.commands else [f"/{' '.join(path)} {each.usage}".strip()]
    return tuple(lines)


def shown(commands: Sequence[Command]) -> tuple[SlashCommand, ...]:
    """The tree as clients get it."""
    return tuple(
        SlashCommand(
            name=each.name,
            description=each.description,
            arguments=each.arguments,
            sub_commands=shown(each.commands),
        )
        for each in commands
    )


def _words(text: str, count: int) -> list[str] | None:
    """That many words, quoted where they hold blanks, the last one included."""
    # Loaded for the first command that needs it.
    import shlex

    try:
        words = shlex.split(text)
    except ValueError:
        return None
    return words if len(words) == count else None


def _search(text: str) -> Made | None:
    return SearchText(text=_unquoted(text)) if text else None


def _write(text: str) -> Made | None:
    """The first word is the path; all that follows is the content, as it stands."""
    if text[:1] in ("'", '"'):
        end = text.find(text[0], 1)
        path, content = text[1:end], text[end + 1 :].strip()
    else:
        path, _, content = text.partition(" ")
        if "\n" in path:
            path, _, content = text.partition("\n")
    return WriteFile(path=path, content=content) if path and content else None


def _replace(text: str) -> Made | None:
    words = _words(text, 3)
    return Replace(path=words[0], old_text=words[1], new_text=words[2]) if words and words[1] else None


def _add_to_memory(text: str) -> Made | None:
    return AddLine(path=MEMORY, line=f"- {text}") if text and "\n" not in text else None


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
        lambda path: ListFiles(path=_unquoted(path) or "."),
        (_argument("path", "The folder; the workspace itself if left out. フォルダー（省略可）", needed=False),),
    ),
    Command(
        "read",
        "Shows a file. ファイルの内容を表示します",
        lambda path: ReadFile(path=_unquoted(path)) if path else None,
        (_PATH,),
    ),
    Command(
        "search",
        "Finds the lines that hold a text. 文字列を含む行を検索します",
        _search,
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
        lambda command: RunCommand(command=command) if command else None,
        (_argument("command", "The program and its arguments. プログラムと引数"),),
    ),
    Command(
        "memory",
        f"What the workspace's {MEMORY} says to those who work on it. {MEMORY} に残したメモ",
        commands=(
            Command("show", "Shows it. 表示します", lambda text: None if text else ReadFile(path=MEMORY)),
            Command(
                "add",
                "Adds a line to it, after a confirmation. 確認のうえ、一行を追加します",
                _add_to_memory,
                (_argument("text", "What is to be remembered. 覚えておく内容"),),
            ),
        ),
    ),
)
