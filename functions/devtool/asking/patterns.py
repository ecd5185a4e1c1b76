"""What the sentences of both languages have in common: from the words of a sentence to an action."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from functions.devtool.actions import (
    AddLine,
    AnyAction,
    ListFiles,
    ReadFile,
    Replace,
    RunCommand,
    SearchText,
    WriteFile,
)
from functions.devtool.asking.quoted import QUOTED, Sentence

PATH = rf"(?P<path>{QUOTED}|\S+?)"
# What is no word alone, but looks like the name of a file.
FILE = rf"(?P<path>{QUOTED}|\S*[./](?=[^\s.!?])\S*?|(?-i:[A-Z])\S*?)"
CONTENT = rf"(?P<content>{QUOTED})"
TEXT = rf"(?P<text>{QUOTED}|\S+?)"


class Kind(StrEnum):
    """What a sentence asks for."""

    HELP = "help"
    LIST = "list"
    READ = "read"
    SEARCH = "search"
    WRITE = "write"
    REPLACE = "replace"
    ADD = "add"
    RUN = "run"


Table = Sequence[tuple[Kind, re.Pattern[str]]]


class Help:
    """What can be done is asked for."""


def asked(sentence: Sentence, table: Table, *, root: re.Pattern[str]) -> AnyAction | Help | None:
    """The action of the first pattern that is the whole sentence. `root` matches what the workspace itself is called."""
    for kind, pattern in table:
        found = pattern.fullmatch(sentence.text)
        if found is None:
            continue
        if kind is Kind.RUN:
            return RunCommand(command=sentence.command(found["command"].strip()))
        words = {name: sentence.value(value.strip()) for name, value in found.groupdict().items() if value}
        if None not in words.values():
            return _action(kind, {name: value or "" for name, value in words.items()}, root)
    return None


def _action(kind: Kind, words: Mapping[str, str], root: re.Pattern[str]) -> AnyAction | Help:
    path = words.get("path", ".")
    if "folder" in words:
        path = f"{words['folder'].rstrip('/')}/{path}"
    match kind:
        case Kind.HELP:
            return Help()
        case Kind.LIST:
            return ListFiles(path="." if root.fullmatch(path) else path)
        case Kind.READ:
            return ReadFile(path=path)
        case Kind.SEARCH:
            return SearchText(text=words["text"], path="." if root.fullmatch(path) else path)
        case Kind.WRITE:
            return WriteFile(path=path, content=words.get("content", ""))
        case Kind.REPLACE:
            return Replace(path=path, old_text=words["old"], new_text=words["new"])
        case _:
            return AddLine(path=path, line=words["line"])
