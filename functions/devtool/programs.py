"""Which programs may run, and what a line that names one of them means: words and quotes, and nothing else of a shell."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from functions.devtool.failure import Fault, ToolFailed
from functions.devtool.workspace import is_visible

_LONGEST_COMMAND = 4_000
_OPERATORS = frozenset(";&|<>()`")


class Programs(Struct, frozen=True):
    """What may run, by its names. `path` is where it is looked for, as in PATH; `seconds` is the longest time."""

    names: frozenset[str]
    path: str
    seconds: float

    def arguments(self, command: str) -> list[str]:
        """The program and its arguments, as they would run. Raises ToolFailed for what may not."""
        if not self.names:
            raise ToolFailed(Fault.NO_COMMANDS)
        if len(command) > _LONGEST_COMMAND or not all(map(is_visible, command)):
            raise ToolFailed(Fault.NOT_A_COMMAND)
        # Loaded for the first command.
        import shlex

        try:
            arguments = shlex.split(command)
        except ValueError:
            raise ToolFailed(Fault.NOT_A_COMMAND) from None
        if not arguments:
            raise ToolFailed(Fault.NOT_A_COMMAND)
        operator = _operator(command)
        if operator:
            raise ToolFailed(Fault.SHELL, operator=operator)
        if arguments[0] not in self.names:
            raise ToolFailed(Fault.PROGRAM, program=arguments[0][:80], programs=", ".join(sorted(self.names)))
        return arguments


def written(arguments: Sequence[str]) -> str:
    """The line that means these arguments: what is shown is what runs."""
    import shlex

    return shlex.join(arguments)


def _operator(command: str) -> str:
    """What would be an operator of a shell, outside of quotes; "" for none."""
    quote, escaped = "", False
    for character in command:
        if escaped:
            escaped = False
        elif character == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in _OPERATORS:
            return character
    return ""
