"""Dispatches hubctl's commands; a command's module is imported only when it runs."""

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import Protocol, TextIO, cast

from a2a_hub.runtime.version import VERSION
from hubctl.console import shown

COMMANDS = {
    "card": "print the hub's agent card, for Gemini Enterprise or for any A2A client",
    "check": "validate the route table, or an agent card; show which route a text takes, and why",
    "doctor": "examine the hub, its agents and what they need, step by step; print the command that fixes each failure",
    "corpus": "push a folder of documents to Cloud Storage and Discovery Engine, or compare them",
    "evaluate": "run labelled questions through the router; fail on a wrong one",
    "register": "create, update, list, delete or examine the hub's agent in Gemini Enterprise",
}


class Command(Protocol):
    """The interface of a module in `hubctl.commands`."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
        """Run the command, write to `out`, and return the exit status. Raises CommandError."""


class CommandError(Exception):
    """A command that cannot be carried out as given; the message explains why, and names a remedy."""


def main(arguments: Sequence[str], *, environment: Mapping[str, str], out: TextIO | None = None) -> int:
    """Return the exit status: 0 if all is well, 1 if something was found wrong, 2 for a command that cannot be carried out."""
    parser = argparse.ArgumentParser(prog="hubctl", description="The operator's command line of the A2A hub.")
    parser.add_argument("--version", action="version", version=f"hubctl {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    # Only the requested command is imported, and so only its help is complete.
    named = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name, help_text in COMMANDS.items():
        command_parser = commands.add_parser(name, help=help_text, description=help_text)
        if name == named:
            _module(name).add_arguments(command_parser)
    parsed = parser.parse_args(arguments)
    try:
        return _module(parsed.command).run(parsed, environment=environment, out=out or sys.stdout)
    except CommandError as problem:
        print(shown(f"hubctl {parsed.command}: {problem}"), file=sys.stderr)
        return 2


def _module(name: str) -> Command:
    return cast("Command", importlib.import_module(f"hubctl.commands.{name}"))
