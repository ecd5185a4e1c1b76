"""Reads one TOML table and collects all that is wrong with it, instead of stopping at the first mistake.

Needs nothing but Python: deploy.sh reads deploy.toml with it before anything is installed.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from a2a_hub.toml.lines import Path, TomlLines

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$", re.IGNORECASE)
Choice = TypeVar("Choice", bound=str)


class Problem(NamedTuple):
    """One mistake in a file: its line, counted from 1, what is wrong, and what to do about it."""

    line: int
    message: str


class CheckedTable:
    """A TOML table whose values are taken out one by one, each with the type that it must have.

    A value that is missing or wrong adds a Problem and yields the default, and reading goes on.
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

    def problem(self, key: str | None, message: str, *, index: int | None = None) -> None:
        """Records a mistake at the line of `key`, or of the `index`-th element of that list."""
        path = self.path if key is None else (*self.path, key) if index is None else (*self.path, key, index)
        self.problems.append(Problem(self.lines.line_of(path), message))

    def refuse_unknown(self, known: Collection[str]) -> None:
        """Every key that is not `known` is a mistake: a misspelt setting would do nothing, silently."""
        for key in self.values.keys() - set(known):
            close = _closest(key, known)
            hint = f"did you mean {close!r}?" if close else f"known here: {', '.join(sorted(known))}"
            self.problem(key, f"unknown key {key!r}: {hint}")

    def text(self, key: str, default: str | None = None) -> str:
        """A non-empty text; required when there is no default."""
        value = self._value(key, str, "a text in quotes", default)
        if value is None:
            return default or ""
        if not value.strip():
            self.problem(
                key, f"{key} is empty: write a text" + ("" if default is None else ", or leave it out")
            )
        return str(value)

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of non-empty texts."""
        value = self._value(key, list, 'a list of texts, as in ["one", "two"]', default)
        if value is None:
            return default
        for index, item in enumerate(value):
            if not isinstance(item, str) or not item.strip():
                self.problem(
                    key, f"{key} holds {item!r}: every entry must be a non-empty text in quotes", index=index
                )
        return tuple(item if isinstance(item, str) else "" for item in value)

    def whole(self, key: str, default: int | None = None, *, least: int = 0) -> int:
        """A whole number of at least `least`; required when there is no default."""
        value = self._value(key, int, "a whole number", default)
        if value is None:
            return default or 0
        if value < least:
            self.problem(key, f"{key} is {value}: it must be {least} or more")
        return int(value)

    def seconds(self, key: str, default: float) -> float:
        """A duration in seconds, above zero."""
        value = self._value(key, (int, float), "a number of seconds", default)
        if value is None:
            return default
        if not 0 < value < float("inf"):
            self.problem(key, f"{key} is {value}: it must be a number of seconds above 0")
        return float(value)

    def flag(self, key: str) -> bool:
        """True or false; false when absent."""
        return bool(self._value(key, bool, "true or false", False))

    def choice(self, key: str, among: Iterable[Choice], *, required: bool = False) -> Choice | None:
        """One of the values of `among`, or None when the key is absent or wrong."""
        values = {str(each): each for each in among}
        allowed = ", ".join(f'"{value}"' for value in values)
        value = self._value(key, str, f"one of {allowed}", None if required else "")
        if value is None or value in values:
            return values.get(value)
        close = _closest(value, values)
        hint = f' (did you mean "{close}"?)' if close else ""
        self.problem(key, f"{key} is {value!r}: it must be one of {allowed}{hint}")
        return None

    def expanded(self, key: str, default: str | None = None) -> str:
        """A text with each `${NAME}` replaced by that variable; an unset or empty one is a mistake.

        So is one that is named like a secret, which would be told to whoever is called.
        """
        value = self.text(key, default)
        for name in dict.fromkeys(VARIABLE.findall(value)):
            if _SECRET.search(name):
                self.problem(
                    key, f"{key} names {name}: that is the name of a secret, which does not belong here"
                )
            elif not self.variables.get(name):
                self.problem(
                    key, f"{key} needs the variable {name}, which is not set: set it, or write the value here"
                )
        return VARIABLE.sub(lambda found: self.variables.get(found[1], ""), value)

    def _value(self, key: str, kind: type | tuple[type, ...], wanted: str, default: object) -> Any:
        """The value of `key` if its type is right, else None; a missing key without default is a mistake."""
        value = self.values.get(key)
        if value is None:
            if default is None:
                self.problem(None, f"{key} is missing: add {key} = {wanted}")
            return None
        # bool is an int to Python, but `retries = true` is a mistake to its writer.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.problem(key, f"{key} is {value!r}: it must be {wanted}")
            return None
        return value


def _closest(word: str, known: Collection[str]) -> str | None:
    # Needed only for a table that is wrong; a start with a good one does without it.
    import difflib

    return next(iter(difflib.get_close_matches(word, known, n=1)), None)
