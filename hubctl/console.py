"""Output to terminals and pipes: escaping, broken pipes, Ctrl-C, and rows whose columns line up."""

import codecs
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from typing import Any, TextIO, cast

_ESCAPED = "hubctl-escaped"
_INTERRUPTED, _NOBODY_READS = 130, 141
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ACTED_UPON = {each: f"\\u{each:04x}" for each in (*_CONTROLS, *_DIRECTIONS) if chr(each) not in "\n\t"}


def run(command: Callable[[TextIO], int]) -> int:
    """Run `command` with a stream to write to and return its exit status; that of a shell for SIGINT and SIGPIPE; 1 if output
    fails.
    """
    codecs.register_error(_ESCAPED, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_ESCAPED)
    try:
        try:
            return command(cast("TextIO", _Shown(sys.stdout)))
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
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(shown(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _escaped(problem: UnicodeError) -> tuple[str, int]:
    """Write characters that the terminal lacks as JSON writes them: so JSON stays JSON."""
    assert isinstance(problem, UnicodeEncodeError)
    return json.dumps(problem.object[problem.start : problem.end])[1:-1], problem.end


def row(texts: Sequence[str], widths: Sequence[int]) -> str:
    """Return one line; every text is cut or filled to its width."""
    return "  ".join(_fitted(text, width) for text, width in zip(texts, widths, strict=True)).rstrip()


def table_head(names: Sequence[str], widths: Sequence[int]) -> tuple[str, str]:
    """Return the head of a table: the names of its columns, and a rule below them."""
    return row(names, widths), row(["-" * width for width in widths], widths)


def cells(text: str) -> int:
    """Return the number of terminal cells of a text."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def counted(number: int, thing: str) -> str:
    """Return the number and the thing: "1 agent", "2 agents"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _fitted(text: str, width: int) -> str:
    """Return `text` on one line, cut or filled to `width` terminal cells."""
    flat = " ".join(text.split())
    if cells(flat) > width:
        while cells(flat) > width - 1:
            flat = flat[:-1]
        flat += "…"
    return flat + " " * (width - cells(flat))
