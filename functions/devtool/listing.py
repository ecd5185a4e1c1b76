"""What a workspace holds, as text: the entries of a folder, and the lines in which a text stands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from a2a_hub.text.language import Language
from functions.devtool.failure import Fault, ToolFailed
from functions.devtool.workspace import Workspace, printable

_MOST_ENTRIES = 500
_MOST_VISITED = 20_000
_MOST_CHARACTERS = 20_000_000
_MOST_FOUND = 200
_LONGEST_LINE = 300
# What tools put there: nobody means these when they look for a text.
_SKIPPED = frozenset({".git/", ".venv/", "node_modules/", "__pycache__/", ".mypy_cache/", ".ruff_cache/"})

_EMPTY = {
    Language.EN: "“{path}” is an empty folder.",
    Language.JA: "フォルダー「{path}」は空です。",
}
_MORE = {
    Language.EN: "… and {count} more",
    Language.JA: "… ほか{count}件",
}
_NOTHING = {
    Language.EN: "“{text}” stands nowhere in {path}.",
    Language.JA: "{path} に「{text}」は見つかりませんでした。",
}
_CUT = {
    Language.EN: "… the search ended here: there is more than is shown",
    Language.JA: "… 件数が多いため、ここで検索を終えました",
}


def listed(workspace: Workspace, path: str, language: Language) -> str:
    """The entries of a folder, one a line. Raises ToolFailed."""
    entries = workspace.entries(path)
    if not entries:
        return _EMPTY[language].format(path=path)
    lines = [
        printable(entry.name) if entry.name.endswith("/") else f"{printable(entry.name)} ({entry.bytes} B)"
        for entry in entries[:_MOST_ENTRIES]
    ]
    if len(entries) > _MOST_ENTRIES:
        lines.append(_MORE[language].format(count=len(entries) - _MOST_ENTRIES))
    return "\n".join(lines)


def found(workspace: Workspace, text: str, path: str, language: Language) -> str:
    """The lines in which the text stands, whatever its case, as `file:number: line`. Raises ToolFailed."""
    wanted = text.casefold()
    lines: list[str] = []
    looked_at = 0
    for file in _files(workspace, workspace.place(path)):
        if len(lines) > _MOST_FOUND or looked_at > _MOST_CHARACTERS:
            return "\n".join([*lines[:_MOST_FOUND], _CUT[language]])
        try:
            content = workspace.read(file)
        except ToolFailed:
            # No text, too large, or gone meanwhile.
            continue
        looked_at += len(content)
        if wanted in content.casefold():
            lines += _with(wanted, content, printable(file))
    if len(lines) > _MOST_FOUND:
        return "\n".join([*lines[:_MOST_FOUND], _CUT[language]])
    return "\n".join(lines) or _NOTHING[language].format(text=text, path=path)


def _with(wanted: str, content: str, file: str) -> Iterator[str]:
    for number, line in enumerate(content.split("\n"), start=1):
        if wanted in line.casefold():
            yield f"{file}:{number}: {line.strip()[:_LONGEST_LINE]}"


def _files(workspace: Workspace, place: str) -> Iterator[str]:
    """The files under a folder, as far as it has no more than very many; a file alone is itself."""
    try:
        folders = [(place, workspace.entries(place))]
    except ToolFailed as failed:
        if failed.fault is not Fault.NOT_A_FOLDER:
            raise
        yield place
        return
    visited = 0
    while folders:
        folder, entries = folders.pop()
        inner = [each.name if folder == "." else f"{folder}/{each.name}" for each in entries]
        visited += len(entries) + 1
        if visited > _MOST_VISITED:
            return
        yield from (name for name in inner if not name.endswith("/"))
        for name in reversed(inner):
            if name.endswith("/") and f"{name.rpartition('/')[0].rpartition('/')[2]}/" not in _SKIPPED:
                with suppress(ToolFailed):
                    folders.append((name[:-1], workspace.entries(name)))
