"""The line of each key of a TOML text, for error messages: `tomllib` keeps no positions (TOML 1.0)."""

from collections.abc import Iterator
from functools import cached_property

Path = tuple[str | int, ...]

_OPENING, _CLOSING = "[{", "]}"


class TomlLines:
    """The line numbers of a valid TOML text, computed on first use."""

    def __init__(self, text: str) -> None:
        self._text = text

    def line_of(self, path: Path) -> int:
        """Return the line, counted from 1, of a table, a key or an array element, or of the nearest one around it.

        A path leads down from the root, as in `("routes", 0, "keywords", 2)`, but not into inline tables.
        """
        while path and path not in self._found:
            path = path[:-1]
        return self._found.get(path, 1)

    @cached_property
    def _found(self) -> dict[Path, int]:
        return _line_numbers(self._text)


def line_deeper_than(levels: int, text: str) -> int:
    """Return the first line with more brackets open, or more names in its key, than `levels`, in a text that may be no TOML; 1 if
    the levels of several lines make up so many.
    """
    depth, quote = 0, ""
    for number, raw in enumerate(text.split("\n"), start=1):
        line, quote = _without_strings(raw, quote, keeps_keys=False)
        if line.partition("=")[0].count(".") >= levels:
            return number
        for character in line:
            depth += (character in _OPENING) - (character in _CLOSING)
            if depth > levels:
                return number
    return 1


def _line_numbers(text: str) -> dict[Path, int]:
    found: dict[Path, int] = {}
    elements: dict[Path, int] = {}
    table: Path = ()
    for line, statement in _statements(text):
        if statement[0].startswith("["):
            table = _table_path(statement[0], elements)
            found[table] = line
            continue
        key = table + _names(statement[0].partition("=")[0])
        found[key] = line
        for index, element_line in enumerate(_element_lines(statement, line)):
            found[(*key, index)] = element_line
    return found


def _statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each header or `key = value`: the number of its first line, and its lines without comments and strings."""
    depth, start, quote = 0, 0, ""
    current: list[str] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line, quote = _without_strings(raw, quote, keeps_keys=not current)
        if not current:
            if not line.strip():
                continue
            start = number
        current.append(line.strip())
        if not (depth == 0 and len(current) == 1 and line.lstrip()[:1] == "["):
            depth += sum(line.count(c) for c in _OPENING) - sum(line.count(c) for c in _CLOSING)
        if depth == 0 and not quote:
            yield start, current
            current = []


def _without_strings(line: str, quote: str, *, keeps_keys: bool) -> tuple[str, str]:
    """Return `line` without its comment, each string as one `"`, and the multi-line quote open after it.

    With `keeps_keys`, strings before the first `=` keep their text: they are quoted keys.
    """
    out: list[str] = []
    at = 0
    while at < len(line):
        if not quote:
            if line[at] == "#":
                break
            quote = next((q for q in ('"""', "'''", '"', "'") if line.startswith(q, at)), "")
            out.append('"' if quote else line[at])
            at += len(quote) or 1
        elif line[at] == "\\" and quote[0] == '"':
            at += 2
        elif line.startswith(quote, at):
            at += len(quote)
            quote = ""
        else:
            if keeps_keys and "=" not in out:
                out.append(line[at])
            at += 1
    return "".join(out), quote if len(quote) == 3 else ""


def _names(dotted: str) -> Path:
    return tuple(name.strip().strip('"') for name in dotted.split("."))


def _table_path(header: str, elements: dict[Path, int]) -> Path:
    names = _names(header.strip("[] "))
    if header.startswith("[["):
        elements[names] = elements.get(names, -1) + 1
        return (*names, elements[names])
    for length in range(len(names), 0, -1):
        if names[:length] in elements:
            return (*names[:length], elements[names[:length]], *names[length:])
    return names


def _element_lines(statement: list[str], start: int) -> Iterator[int]:
    value = statement[0].partition("=")[2].strip()
    if not value.startswith("["):
        return
    depth, expecting = 0, False
    for offset, line in enumerate([value, *statement[1:]]):
        for character in line:
            if expecting and depth == 1 and character not in ", ]\t":
                yield start + offset
                expecting = False
            if character in _OPENING:
                depth += 1
                expecting = depth == 1
            elif character in _CLOSING:
                depth -= 1
            elif character == "," and depth == 1:
                expecting = True
