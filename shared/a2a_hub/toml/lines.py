"""The line of each key of a TOML text, for error messages: `tomllib` keeps no positions (TOML 1.0)."""

import re
from functools import cached_property

Path = tuple[str | int, ...]

_STRING_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\']*\'|#[^\n]*', re.DOTALL
)


class TomlLines:
    """The line numbers of a valid TOML text, computed on first use."""

    def __init__(self, text: str) -> None:
        self._text = text

    def line_of(self, path: Path) -> int:
        """Return the line, counted from 1, of a table or a key, or of the nearest one around it.

        A path leads down from the root, as in `("routes", 0, "keywords")`, but not into inline tables.
        """
        while path and path not in self._found:
            path = path[:-1]
        return self._found.get(path, 1)

    @cached_property
    def _found(self) -> dict[Path, int]:
        found: dict[Path, int] = {}
        elements: dict[Path, int] = {}
        table: Path = ()
        depth = 0
        for number, line in enumerate(_STRING_OR_COMMENT.sub(_without_signs, self._text).split("\n"), start=1):
            if not depth and line.lstrip().startswith("["):
                table = _table_path(line.strip(), elements)
                found[table] = number
                continue
            if not depth and "=" in line:
                found[table + _names(line.partition("=")[0])] = number
            depth += sum((character in "[{") - (character in "]}") for character in line)
        return found


def _without_signs(quoted: re.Match[str]) -> str:
    """Return a string of one line as its letters, which may be a key, and any other string or a comment as its line ends."""
    if quoted[0].startswith(('"""', "'''", "#")):
        return "\n" * quoted[0].count("\n")
    return re.sub(r"""[]["'{}=.]""", "", quoted[0])


def _names(dotted: str) -> Path:
    return tuple(name.strip() for name in dotted.split("."))


def _table_path(header: str, elements: dict[Path, int]) -> Path:
    """Return the path of a table's header; `[[…]]` is counted in `elements`."""
    path: Path = ()
    names = _names(header.strip("[]"))
    for depth, name in enumerate(names, start=1):
        path = (*path, name)
        if header.startswith("[[") and depth == len(names):
            elements[path] = elements.get(path, -1) + 1
        if path in elements:
            path = (*path, elements[path])
    return path
