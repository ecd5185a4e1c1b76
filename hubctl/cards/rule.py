"""What a rule on agent cards is, and what it finds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from hubctl.cards.structure import Departure, departures


class Severity(StrEnum):
    """error: refused, or does not work. warning: works less well than meant. note: worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, kw_only=True)
class Card:
    """A card as JSON. Its shape may be wrong anywhere: read it through the methods, which give nothing where it is."""

    value: dict[str, Any]

    @cached_property
    def departures(self) -> tuple[Departure, ...]:
        """In what it departs from the 0.3 schema."""
        return tuple(departures(self.value))

    @cached_property
    def size_bytes(self) -> int:
        """Its length as compact UTF-8 JSON."""
        return len(json.dumps(self.value, ensure_ascii=False, separators=(",", ":")).encode())

    def text(self, name: str) -> str | None:
        """The top-level field, where it is a text."""
        value = self.value.get(name)
        return value if isinstance(value, str) else None

    def object(self, name: str) -> dict[str, Any]:
        """The top-level field, where it is an object."""
        value = self.value.get(name)
        return value if isinstance(value, dict) else {}

    def skills(self) -> Iterable[tuple[str, dict[str, Any]]]:
        """Path and value of each skill that is an object."""
        skills = self.value.get("skills")
        for index, skill in enumerate(skills if isinstance(skills, list) else ()):
            if isinstance(skill, dict):
                yield f"$.skills[{index}]", skill

    def modes(self, *names: str) -> Iterable[tuple[str, str]]:
        """Path and value of each mode in these lists of the card and, under the skills' names for them, of its skills."""
        lists = [(f"$.{name}", self.value.get(name)) for name in names]
        for path, skill in self.skills():
            lists += [(f"{path}.{(name := _of_skill(each))}", skill.get(name)) for each in names]
        for path, modes in lists:
            for index, mode in enumerate(modes if isinstance(modes, list) else ()):
                if isinstance(mode, str):
                    yield f"{path}[{index}]", mode


def _of_skill(name: str) -> str:
    return {"defaultInputModes": "inputModes", "defaultOutputModes": "outputModes"}[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """Where a card breaks a rule: JSON path, what is wrong, what to write instead."""

    path: str
    message: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: its id, where it comes from, how bad it is to break it, and what finds the places."""

    id: str
    source: str
    severity: Severity
    find: Callable[[Card], Iterable[Flaw]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One flaw, with the rule that it breaks."""

    rule: str
    source: str
    severity: Severity
    path: str
    message: str
    fix: str


def finding(rule: Rule, flaw: Flaw) -> Finding:
    """The flaw under its rule's name."""
    return Finding(
        rule=rule.id,
        source=rule.source,
        severity=rule.severity,
        path=flaw.path,
        message=flaw.message,
        fix=flaw.fix,
    )
