"""Reads settings from an environment: every error at once, so that a wrong deployment is put right in one go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})
"""This machine, as URLs name it: credentials may go there over http."""


class SettingsError(SystemExit):
    """Everything that is wrong with the settings, one line each, with the variable named.

    No process starts with it: Python writes these lines, without a stack that says nothing to operators, and ends with status 1.
    """


class Settings:
    """Typed reads of `environ`; call `check` after the last one."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._problems: list[str] = []

    def text(self, name: str, default: str) -> str:
        """The variable, or the default when it is unset or empty."""
        return self._environ.get(name, "").strip() or default

    def optional(self, name: str) -> str | None:
        """The variable, None when it is unset or empty."""
        return self._environ.get(name, "").strip() or None

    def listed(self, name: str) -> tuple[str, ...]:
        """A comma-separated list without empty members."""
        return tuple(item.strip() for item in self._environ.get(name, "").split(",") if item.strip())

    def flag(self, name: str) -> bool:
        """True or false; unset is false."""
        value = self.text(name, "false").lower()
        if value not in ("true", "false"):
            self.problem(name, "must be true or false")
        return value == "true"

    def number(self, name: str, default: float, *, least: float, most: float) -> float:
        """A number within bounds."""
        text = self.text(name, str(default))
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            self.problem(name, f"must be a number from {least:.15g} to {most:.15g}")
            return default
        return value

    def port(self, name: str, default: int) -> int:
        """A TCP port."""
        return int(self.number(name, default, least=1, most=65535))

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """One of the allowed words."""
        value = self.text(name, default)
        if value not in allowed:
            self.problem(name, f"must be one of {', '.join(allowed)}")
            return default
        return value

    def url(self, name: str, default: str | None) -> str:
        """An http or https URL without a trailing slash; required where there is no default."""
        value = self.text(name, default or "")
        try:
            parts = urlsplit(value)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            self.problem(name, "must be a URL, such as https://hub.example.com")
            return default or "https://none.invalid"
        return value.rstrip("/")

    def endpoint(self, name: str) -> str | None:
        """An address that takes the place of Google's: a token is only ever sent over TLS, or to this machine itself."""
        value = self.optional(name)
        if value is None:
            return None
        try:
            parts = urlsplit(value)
            trusted = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS)
            usable = trusted and bool(parts.hostname) and parts.port != 0 and parts.path in ("", "/")
        except ValueError:
            usable = False
        if not usable:
            self.problem(name, "must be an https URL without a path, or http on this machine's loopback")
        return value.rstrip("/")

    def file(self, name: str, default: Path) -> Path:
        """A file that exists."""
        path = Path(self.text(name, str(default)))
        if path.is_dir():
            self.problem(name, f"names a folder, where a file is needed: {path.name}")
        elif not path.is_file():
            self.problem(name, f"names a file that does not exist: {path.name}")
        return path

    def problem(self, name: str, description: str) -> None:
        """Notes what is wrong with a variable; once, however often it is read."""
        line = f"{name} {description}"
        if line not in self._problems:
            self._problems.append(line)

    def check(self) -> None:
        """Raises SettingsError when anything was wrong."""
        if self._problems:
            raise SettingsError(
                "The settings are wrong:\n" + "\n".join(f"  {line}" for line in self._problems)
            )
