"""A TOML table, read with all its errors collected.

It needs nothing but Python: deploy.sh reads deploy.toml with it before anything is installed.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from a2a_hub.toml.lines import Path, TomlLines

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$", re.IGNORECASE)
Choice = TypeVar("Choice", bound=str)


class Problem(NamedTuple):
    """One error in a file: its line, counted from 1, and a message with its remedy."""

    line: int
    message: str


class CheckedTable:
    """A TOML table whose values are read one by one, each with its required type.

    A missing or wrong value adds a Problem and returns the default.
    """

    def __init__(
        self,
        *,
        path: Path,
        values: Mapping[str, Any],
        lines: TomlLines,
        variables: Mapping[str, str],
        problems: list[Problem] | None = None,
    ) -> None:
        self.path = path
        self.values = values
        self.lines = lines
        self.variables = variables
        self.problems = [] if problems is None else problems

    @property
    def line(self) -> int:
        """The line of the table's header."""
        return self.lines.line_of(self.path)

    def problem(self, key: str | None, message: str) -> None:
        """Record an error at the line of `key`, or of the table."""
        path = self.path if key is None else (*self.path, key)
        self.problems.append(Problem(self.lines.line_of(path), message))

    def refuse_unknown(self, known: Collection[str]) -> None:
        """Record an error for each key that is not `known`: a misspelt setting would silently do nothing."""
        for key in self.values.keys() - set(known):
            hint = did_you_mean(key, known) or f"known here: {', '.join(sorted(known))}"
            self.problem(key, f"unknown key {key!r}: {hint}")

    def text(self, key: str, default: str | None = None) -> str:
        """Return a non-empty text; required without a default."""
        value = self._value(key, str, "a text in quotes", default)
        if value is None:
            return default or ""
        if not value.strip():
            self.problem(key, f"{key} is empty: write a text" + ("" if default is None else ", or leave it out"))
        return str(value)

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return a list of non-empty texts."""
        value = self._value(key, list, 'a list of texts, as in ["one", "two"]', default)
        if value is None:
            return default
        for item in value:
            if not isinstance(item, str) or not item.strip():
                self.problem(key, f"{key} holds {item!r}: every entry must be a non-empty text in quotes")
        return tuple(item if isinstance(item, str) else "" for item in value)

    def whole(self, key: str, default: int | None = None, *, minimum: int = 0) -> int:
        """Return a whole number of at least `minimum`; required without a default."""
        value = self._value(key, int, "a whole number", default)
        if value is None:
            return default or 0
        if value < minimum:
            self.problem(key, f"{key} is {value}: it must be {minimum} or more")
        return int(value)

    def seconds(self, key: str, default: float) -> float:
        """Return a duration in seconds, above zero."""
        value = self._value(key, (int, float), "a number of seconds", default)
        if value is None:
            return default
        if not 0 < value < float("inf"):
            self.problem(key, f"{key} is {value}: it must be a number of seconds above 0")
        return float(value)

    def flag(self, key: str) -> bool:
        """Return true or false; false if absent."""
        return bool(self._value(key, bool, "true or false", False))

    def choice(self, key: str, among: Iterable[Choice], *, required: bool = False) -> Choice | None:
        """Return one of the values of `among`; None if the key is absent or wrong."""
        values = {str(each): each for each in among}
        allowed = ", ".join(f'"{value}"' for value in values)
        value = self._value(key, str, f"one of {allowed}", None if required else "")
        if value is None or value in values:
            return values.get(value)
        close = did_you_mean(value, values)
        hint = f" ({close})" if close else ""
        self.problem(key, f"{key} is {value!r}: it must be one of {allowed}{hint}")
        return None

    def inner(self, key: str, values: Mapping[str, Any]) -> "CheckedTable":
        """Return the table that is the value of a key."""
        return CheckedTable(
            path=(*self.path, key), values=values, lines=self.lines, variables=self.variables, problems=self.problems
        )

    def expanded(self, key: str, default: str | None = None) -> str:
        """Return a text with each `${NAME}` replaced by that variable. An unset or empty variable is an error.

        So is one named like a secret, which would be sent to the called agent.
        """
        value = self.text(key, default)
        for name in dict.fromkeys(VARIABLE.findall(value)):
            if _SECRET.search(name):
                self.problem(key, f"{key} names {name}: that is the name of a secret, which does not belong here")
            elif not self.variables.get(name):
                self.problem(key, f"{key} needs the variable {name}, which is not set: set it, or write the value here")
        return VARIABLE.sub(lambda found: self.variables.get(found[1], ""), value)

    def _value(self, key: str, kind: type | tuple[type, ...], wanted: str, default: object) -> Any:
        """Return the value of `key` if its type is right, else None; a missing key without default is an error."""
        value = self.values.get(key)
        if value is None:
            if default is None:
                self.problem(None, f"{key} is missing: add {key} = {wanted}")
            return None
        # bool is an int to Python, but `retries = true` is an error.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.problem(key, f"{key} is {value!r}: it must be {wanted}")
            return None
        return value


def did_you_mean(word: str, known: Collection[str], *, cutoff: float = 0.6) -> str:
    """Return a question with the known word that is closest to a misspelt one; "" if none is close."""
    return next(
        (f'did you mean "{close}"?' for close in difflib.get_close_matches(word, known, n=1, cutoff=cutoff)), ""
    )


def no_such(thing: str, word: str, known: Collection[str]) -> str:
    """Return the refusal of an unknown name of a thing, with the known ones."""
    close = did_you_mean(word, known)
    return f"there is no {thing} {word!r}; known {thing}s: {', '.join(known)}" + (f" ({close})" if close else "")


def syntax_problem(text: str, error: ValueError) -> Problem:
    """Return the error at which `document.parse` stopped reading `text`."""
    # The message ends in "(at line 3, column 5)", or "(at end of document)".
    message, _, place = str(error).rpartition(" (at ")
    digits = place.removeprefix("line ").partition(",")[0]
    line = int(digits) if digits.isdigit() else text.count("\n") + 1
    return Problem(line, f"this is not TOML: {message or error}")
