"""`hubctl completion`: the script by which a shell completes commands, options, values and files."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from hubctl.main import CommandError, parsers


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:  # noqa: ARG001
    """Return 0 after the script was written. Raises CommandError."""
    try:
        import shtab
    except ImportError:
        raise CommandError(
            "shtab is missing: pip install 'a2a-hub[completion]', or, in a clone, make install"
        ) from None
    parser, _ = parsers()
    for action in _actions(parser):
        if action.type is Path:
            action.complete = shtab.FILE
    print(shtab.complete(parser, arguments.shell), file=out)
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[Any]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from _actions(each)
