"""Dispatches hubctl's commands; a command's module is imported only when it runs."""

import argparse
import importlib
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn, Protocol, TextIO, cast

from a2a_hub.runtime.version import VERSION
from a2a_hub.toml.checked_table import did_you_mean
from hubctl.console import shown

COMMANDS = {
    "ask": "ask a running hub one question, and write the answer as it arrives",
    "run": "start the hub and its agents on this machine, as make run does",
    "audit": "verify the chains of an audit log",
    "card": "print the hub's agent card, for Gemini Enterprise or for any A2A client",
    "add": "draft the route of an A2A agent or an MCP server from its address, check it, and try it",
    "check": "validate the route table, or an agent card; show which route a text takes, and why",
    "doctor": "examine the hub, its agents and what they need, step by step; print the command that fixes each failure",
    "completion": "write the script by which bash, zsh or tcsh completes hubctl's commands",
    "schema": "write the JSON Schema of routes.toml or deploy.toml, for editors",
    "new": "write an agent of your own in a new folder, with test, requirements and deployment",
    "corpus": "push a folder of documents to Cloud Storage and Discovery Engine, or compare them",
    "evaluate": "run labelled questions through the router; fail on a wrong one",
    "routes": "compare, push or roll back the route table in a bucket, which hubs reload",
    "keys": "give a signer a new key, and keep the old public key published until the new one is live",
    "report": "report usage, unanswered questions, slow turns and failures, from the lines of the log",
    "tasks": "back up the SQLite file of the task store while it is used, or compact it",
    "register": "create, update, list, delete or examine the hub's agent in Gemini Enterprise",
}


_INVALID_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")


class Command(Protocol):
    """The interface of a module in `hubctl.commands`."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
        """Run the command, write to `out`, and return the exit status. Raises CommandError."""


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
    """A command that cannot be carried out as given; the message explains why, and names a remedy."""


def main(arguments: Sequence[str], *, environment: Mapping[str, str], out: TextIO | None = None) -> int:
    """Return the exit status: 0 if all is well, 1 if something was found wrong, 2 for a command that cannot be carried out."""
    # Only the requested command is imported, and so only its help is complete.
    named = next((argument for argument in arguments if not argument.startswith("-")), None)
    parser, commands = parser_of({named})
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown:
        commands[parsed.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        return _module(parsed.command).run(parsed, environment=environment, out=out or sys.stdout)
    except CommandError as problem:
        print(shown(f"hubctl {parsed.command}: {problem}"), file=sys.stderr)
        return 2


def parser_of(loaded: Collection[str | None]) -> tuple[Parser, Mapping[str, Parser]]:
    """Return the parser, and those of the commands, of which the `loaded` ones know their arguments."""
    parser = Parser(prog="hubctl", description="The operator's command line of the A2A hub.")
    parser.add_argument("--version", action="version", version=f"hubctl {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, help_text in COMMANDS.items():
        command = commands.add_parser(name, help=help_text, description=help_text)
        if name in loaded:
            _module(name).add_arguments(command)
    return parser, commands.choices


def _module(name: str) -> Command:
    return cast("Command", importlib.import_module(f"hubctl.commands.{name}"))
