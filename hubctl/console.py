"""What a terminal, a pipe or a person does to a program: no character, no reader and no Ctrl-C makes it show its stack."""

from __future__ import annotations

import codecs
import json
import os
import sys
from collections.abc import Callable
from io import TextIOWrapper

_ESCAPED = "hubctl-escaped"
_INTERRUPTED, _NOBODY_READS = 130, 141


def run(command: Callable[[], int]) -> int:
    """The exit status of `command`, or the shell's for SIGINT and SIGPIPE; 1 when its output cannot be written."""
    codecs.register_error(_ESCAPED, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_ESCAPED)
    try:
        try:
            return command()
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


def _escaped(problem: UnicodeError) -> tuple[str, int]:
    """What the terminal has no character for, as JSON writes it: so JSON stays JSON."""
    assert isinstance(problem, UnicodeEncodeError)
    return json.dumps(problem.object[problem.start : problem.end])[1:-1], problem.end
