"""Output to terminals and pipes: escaping, broken pipes, Ctrl-C, and aligned columns."""

import codecs
import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from io import TextIOWrapper
from typing import Any, TextIO, cast

import msgspec

_ESCAPED = "hubctl-escaped"
_INTERRUPTED, _NOBODY_READS = 130, 141
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ACTED_UPON = {each: f"\\u{each:04x}" for each in (*_CONTROLS, *_DIRECTIONS) if chr(each) not in "\n\t"}


# The verdict at the start of a line, in red, yellow or green.
_VERDICT = re.compile(r"(?<=\n)(?:(?P<red>✗|error:)|(?P<yellow>!|warning:)|(?P<green>✓))(?= )")
_CODES = {"red": 31, "yellow": 33, "green": 32}


def run(command: Callable[[TextIO], int], *, colours: bool = False) -> int:
    """Run `command` with a stream to write to and return its exit status; that of a shell for SIGINT and SIGPIPE; 1 if output
    fails. With `colours`, a terminal shows verdicts in them.
    """
    codecs.register_error(_ESCAPED, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_ESCAPED)
    try:
        try:
            return command(cast("TextIO", _Shown(sys.stdout, colours=colours and sys.stdout.isatty())))
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        status = _NOBODY_READS
    except OSError as problem:
        print(f"hubctl: {problem}", file=sys.stderr)
        status = 1
    # Python flushes what could not be written once more when it ends: to nowhere, so that it does not fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def shown(text: str) -> str:
    """Return the text with control characters as JSON writes them: much of the output was written by others."""
    return text.translate(_ACTED_UPON)


class _Shown:
    def __init__(self, stream: TextIO, *, colours: bool) -> None:
        self._stream, self._colours, self._before = stream, colours, "\n"

    def write(self, text: str) -> int:
        text, before = shown(text), self._before
        self._before = text[-1:] or before
        if self._colours:
            text = _VERDICT.sub(_coloured, before + text).removeprefix(before)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _coloured(verdict: re.Match[str]) -> str:
    return f"\x1b[{_CODES[verdict.lastgroup or '']}m{verdict[0]}\x1b[0m"


def _escaped(problem: UnicodeError) -> tuple[str, int]:
    """Write characters that the terminal lacks as JSON writes them: so JSON stays JSON."""
    assert isinstance(problem, UnicodeEncodeError)
    return json.dumps(problem.object[problem.start : problem.end])[1:-1], problem.end


def write(value: object, lines: Iterable[str], *, as_json: bool, out: TextIO, ok: bool = True) -> int:
    """Write a report, as one JSON object, or its lines. Return the exit status of its command, 1 if not `ok`."""
    for line in [msgspec.json.encode(value).decode()] if as_json else lines:
        print(line, file=out)
    return 0 if ok else 1


def row(texts: Sequence[str], widths: Sequence[int]) -> str:
    """Return one line; each text is cut or padded to its width."""
    return "  ".join(_fitted(text, width) for text, width in zip(texts, widths, strict=True)).rstrip()


def table_head(names: Sequence[str], widths: Sequence[int]) -> tuple[str, str]:
    """Return the head of a table: the names of its columns, and a rule below them."""
    return row(names, widths), row(["-" * width for width in widths], widths)


def cells(text: str) -> int:
    """Return the number of terminal cells of a text."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def counted(number: int, thing: str) -> str:
    """Return the number with the noun in its form: "1 agent", "2 agents"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _fitted(text: str, width: int) -> str:
    """Return `text` on one line, cut or padded to `width` terminal cells."""
    flat = " ".join(text.split())
    if cells(flat) > width:
        while cells(flat) > width - 1:
            flat = flat[:-1]
        flat += "…"
    return flat + " " * (width - cells(flat))
