"""Dispatches hubctl's commands; a command's module is imported only when it runs."""

import argparse
import importlib
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn, TextIO

from a2a_hub.runtime.version import VERSION
from a2a_hub.toml.checked_table import did_you_mean
from hubctl.console import shown

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_COMMANDS = Path(__file__).with_name("commands.toml")
_INVALID_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")


class Parser(argparse.ArgumentParser):
    """A parser whose refusals suggest the command, option or value that was meant."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        if found := _INVALID_CHOICE.search(message):
            hint = did_you_mean(found[1], [each.strip(" '") for each in found[2].split(",")])
        else:
            unknown = message.removeprefix("unrecognized arguments: ").split()[0]
            hint = did_you_mean(unknown, self._option_string_actions)
        super().error(f"{message}; {hint}" if hint else message)


class CommandError(Exception):
    """The error of a command that cannot be carried out; the message gives the reason and a remedy."""


def duration(text: str) -> timedelta:
    """Return the time span of `7d`, `24h`, `30m` or `2w`. Raises ValueError."""
    if text[-1:] not in _UNITS or not text[:-1].isdigit() or len(text) > 6:
        raise ValueError(text)
    return timedelta(**{_UNITS[text[-1]]: int(text[:-1])})


def main(arguments: Sequence[str], *, environment: Mapping[str, str], out: TextIO | None = None) -> int:
    """Return the exit status: 0 if all is well, 1 if something was found wrong, 2 for a command that cannot be carried out."""
    parser, children = parsers()
    if not arguments:
        parser.print_help(sys.stderr)
        return 2
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown:
        children[parsed.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        # Only the command that runs is imported.
        module = importlib.import_module(f"hubctl.commands.{parsed.command}")
        return int(module.run(parsed, environment=environment, out=out or sys.stdout))
    except CommandError as problem:
        print(shown(f"hubctl {parsed.command}: {problem}"), file=sys.stderr)
        return 2


def commands() -> Mapping[str, Any]:
    """Return the tables of the commands, in the order of the help."""
    return tomllib.loads(_COMMANDS.read_text(encoding="utf-8"))


def parsers() -> tuple[Parser, Mapping[str, Parser]]:
    """Return the parser, and those of the commands by name, in the order of the help."""
    parser = Parser(prog="hubctl", description="The operator's command line of the A2A hub.")
    parser.add_argument("--version", action="version", version=f"hubctl {VERSION}")
    children = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, table in commands().items():
        _declare(children.add_parser(name, help=table["help"], description=table["help"]), table)
    return parser, children.choices


def _declare(parser: argparse.ArgumentParser, table: Mapping[str, Any]) -> None:
    """Declare the arguments and the actions of a command's table."""
    for name, argument in table.get("arguments", {}).items():
        if "type" in argument:
            argument = {**argument, "type": {"file": Path, "duration": duration}[argument["type"]]}
        parser.add_argument(name, **argument)
    if actions := table.get("actions"):
        children = parser.add_subparsers(dest="action", required=True, metavar="|".join(actions))
        for name, action in actions.items():
            _declare(children.add_parser(name, help=action["help"]), action)
