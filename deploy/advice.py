"""Remedies for failures of the deployment: one table, from the words of gcloud's message to a remedy."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

UNKNOWN = "Read the message above. Once the cause is gone, run the same command again: it goes on where it stopped."


class Remedy(NamedTuple):
    """A row of advice.toml."""

    words: str
    text: str


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def roles() -> Mapping[str, str]:
    """Return the role with which a deployer gets each kind of permission."""
    table: Mapping[str, str] = _tables()["roles"]
    return table


def permissions() -> Mapping[str, Sequence[str]]:
    """Return what a deployer must be allowed to do, by the APIs that a project needs."""
    table: Mapping[str, Sequence[str]] = _tables()["permissions"]
    return table


def remedies() -> Iterator[Remedy]:
    """Yield the remedies, what is specific before what is general."""
    return (Remedy(**table) for table in _tables()["remedies"])


def advice(message: str, *, command: Sequence[str]) -> str:
    """Return the remedy for a command that failed with `message`. Names the project, where the command has one."""
    project = next((word.partition("=")[2] for word in command if word.startswith("--project=")), "PROJECT")
    for remedy in remedies():
        found = re.search(remedy.words, message, re.IGNORECASE | re.DOTALL)
        if found:
            captured = [group for group in found.groups() if group]
            permission = captured[0] if captured else ""
            return (
                remedy.text.replace("{1}", permission)
                .replace("{permission}", permission)
                .replace("{role}", role_for(permission))
                .replace("PROJECT", project)
            )
    return UNKNOWN


def role_for(permission: str) -> str:
    """Return the role that gives `permission`: that of the longest prefix in the table."""
    # Google spells one and the same permission with capitals and without.
    wanted = f"{permission}.".lower()
    names = [name for name in roles() if wanted.startswith(f"{name}.".lower())]
    return roles()[max(names, key=len)] if names else "roles/editor"
