"""Typed settings from an environment, with all errors reported together, so that one redeployment fixes them."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})
"""The names of this machine in URLs: credentials may go there over http."""


class SettingsError(SystemExit):
    """All errors of the settings, one line each, with the variable's name.

    It ends the process: Python prints these lines without a stack, and exits with status 1.
    """


class Settings:
    """Typed reads of `environ`; call `check` after the last one."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._problems: list[str] = []

    def _value(self, name: str) -> str:
        return self._environ.get(name, "").strip()

    def text(self, name: str, default: str) -> str:
        """Return the variable, or the default if it is unset or empty."""
        return self._value(name) or default

    def optional(self, name: str) -> str | None:
        """Return the variable, None if it is unset or empty."""
        return self._value(name) or None

    def listed(self, name: str) -> tuple[str, ...]:
        """Return a comma-separated list without its empty members."""
        return tuple(item.strip() for item in self._value(name).split(",") if item.strip())

    def parsed(self, name: str, parse: Callable[[str], T], *, expected: str) -> T | None:
        """Return what `parse` makes of the variable, None if it is unset. Its ValueError or OSError is a problem: `expected`."""
        value = self._value(name)
        try:
            return parse(value) if value else None
        except (OSError, ValueError):
            self.problem(name, expected)
            return None

    def warn(self, message: str) -> None:
        """Write a line to the operator."""
        sys.stderr.write(f"WARNING: {message}\n")

    def flag(self, name: str) -> bool:
        """Return true or false; unset is false."""
        value = self.text(name, "false").lower()
        if value not in ("true", "false"):
            self.problem(name, "must be true or false")
        return value == "true"

    def number(self, name: str, default: float, *, minimum: float, maximum: float) -> float:
        """Return a number within bounds."""
        text = self.text(name, str(default))
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not minimum <= value <= maximum:
            self.problem(name, f"must be a number from {minimum:.15g} to {maximum:.15g}")
            return default
        return value

    def port(self, name: str, default: int) -> int:
        """Return a TCP port."""
        return int(self.number(name, default, minimum=1, maximum=65535))

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """Return one of the allowed words."""
        value = self.text(name, default)
        if value not in allowed:
            self.problem(name, f"must be one of {', '.join(allowed)}")
            return default
        return value

    def url(self, name: str, default: str | None, *, takes_tokens: bool = False) -> str:
        """Return an http or https URL without a trailing slash; required if there is no default."""
        value = self.text(name, default or "")
        if not is_http_url(value):
            self.problem(name, "must be a URL, such as https://hub.example.com")
            return default or "https://none.invalid"
        if takes_tokens and not is_secure(value):
            self.problem(name, "must be https, except on loopback: tokens are sent there")
        return value.rstrip("/")

    def endpoint(self, name: str) -> str | None:
        """Return an address to use instead of Google's. Tokens go there: it must be https, or on this machine."""
        value = self.optional(name)
        if value is None:
            return None
        if not (is_http_url(value) and is_secure(value) and urlsplit(value).path in ("", "/")):
            self.problem(name, "must be an https URL without a path, or http on this machine's loopback")
        return value.rstrip("/")

    def own_address(self) -> str:
        """Return the address of this function on this machine, with the port of the Functions Framework (`--port`, `PORT`)."""
        # The framework has loaded it; `hubctl` reads settings without it.
        import click

        command = click.get_current_context(silent=True)
        given = command.params.get("port") if command else None
        return f"http://127.0.0.1:{given or self.port('PORT', 8080)}"

    def file(self, name: str, default: Path) -> Path:
        """Return the path of an existing file."""
        path = Path(self.text(name, str(default)))
        if path.is_dir():
            self.problem(name, f"names a folder, where a file is needed: {path.name}")
        elif not path.is_file():
            self.problem(name, f"names a file that does not exist: {path.name}")
        return path

    def problem(self, name: str, description: str) -> None:
        """Record an error of a variable; once, however often it is read."""
        line = f"{name} {description}"
        if line not in self._problems:
            self._problems.append(line)

    def check(self) -> None:
        """Raise SettingsError if there were errors."""
        if self._problems:
            raise SettingsError("The settings are wrong:\n" + "\n".join(f"  {line}" for line in self._problems))


def is_http_url(text: str) -> bool:
    """Return True for an http or https URL with a host."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_secure(url: str) -> bool:
    """Return True for a URL to which credentials may go: https, or on this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in LOOPBACK_HOSTS
