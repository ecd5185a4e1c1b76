"""An agent card as JSON, the rules and findings on it, and how it departs from A2A 0.3.0 (§5.5, JSON schema)."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from a2a_hub.text.rows import Rows

V0_3: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("v0_3.toml").read_text(encoding="utf-8"))
DEFINITIONS: Mapping[str, Mapping[str, str]] = V0_3["definitions"]
SCHEME_TYPES: Mapping[str, str] = V0_3["scheme_types"]
_JSON_TYPES: Mapping[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
_OF_SKILL = {"defaultInputModes": "inputModes", "defaultOutputModes": "outputModes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """The object at `path` lacks a field that its definition requires."""

    path: str
    definition: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """The object at `path` has a field that its definition does not know."""

    path: str
    definition: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongType:
    """The value at `path` is not of the `wanted` kind."""

    path: str
    wanted: str
    found: str


Departure = Missing | Unknown | WrongType


def departures(value: Any, kind: str = "AgentCard", path: str = "$") -> Iterator[Departure]:
    """Yield every departure of `value` from its kind, outside in; nothing about the content of a value of wrong type."""
    kind = kind.removesuffix("!")
    if kind == "any":
        return
    wanted = kind if kind in ("string", "boolean") else "array" if kind.startswith("[") else "object"
    found = _JSON_TYPES[type(value)]
    if found != wanted:
        yield WrongType(path=path, wanted=wanted, found=found)
    elif wanted == "array":
        for index, item in enumerate(value):
            yield from departures(item, kind[1:-1], f"{path}[{index}]")
    elif kind.startswith("{"):
        for name, item in value.items():
            yield from departures(item, kind[1:-1], f"{path}.{name}")
    elif kind == "SecurityScheme":
        yield from _in_scheme(value, path)
    elif wanted == "object":
        yield from _in_object(value, kind, path)


def _in_object(value: Mapping[str, Any], definition: str, path: str) -> Iterator[Departure]:
    fields = DEFINITIONS[definition]
    for name, kind in fields.items():
        if name in value:
            yield from departures(value[name], kind, f"{path}.{name}")
        elif kind.endswith("!"):
            yield Missing(path=path, definition=definition, name=name)
    for name in value:
        if name not in fields:
            yield Unknown(path=path, definition=definition, name=name)


def _in_scheme(value: Mapping[str, Any], path: str) -> Iterator[Departure]:
    type_ = value.get("type")
    if isinstance(type_, str) and type_ in SCHEME_TYPES:
        yield from _in_object(value, SCHEME_TYPES[type_], path)
    elif "type" in value:
        yield WrongType(path=f"{path}.type", wanted=f"one of {', '.join(SCHEME_TYPES)}", found=repr(type_))
    else:
        yield Missing(path=path, definition="SecurityScheme", name="type")


class Severity(StrEnum):
    """The severity of a finding. error: refused, or does not work. warning: works less well than meant. note: worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, kw_only=True)
class Card:
    """A card as JSON. Its shape may be wrong anywhere: read it through the methods, which give nothing where it is."""

    value: dict[str, Any]

    @cached_property
    def departures(self) -> tuple[Departure, ...]:
        """The departures from the 0.3 schema."""
        return tuple(departures(self.value))

    def text(self, name: str) -> str | None:
        """Return the top-level field if it is a text."""
        value = self.value.get(name)
        return value if isinstance(value, str) else None

    def object(self, name: str) -> dict[str, Any]:
        """Return the top-level field if it is an object, else an empty one."""
        value = self.value.get(name)
        return value if isinstance(value, dict) else {}

    def skills(self) -> Iterable[tuple[str, dict[str, Any]]]:
        """Yield path and value of each skill that is an object."""
        skills = self.value.get("skills")
        for index, skill in enumerate(skills if isinstance(skills, list) else ()):
            if isinstance(skill, dict):
                yield f"$.skills[{index}]", skill

    def modes(self, *names: str) -> Iterable[tuple[str, str]]:
        """Yield path and value of each mode in these lists of the card and, under their own names, of its skills."""
        lists = [(f"$.{name}", self.value.get(name)) for name in names]
        for path, skill in self.skills():
            lists += [(f"{path}.{_OF_SKILL[name]}", skill.get(_OF_SKILL[name])) for name in names]
        for path, modes in lists:
            for index, mode in enumerate(modes if isinstance(modes, list) else ()):
                if isinstance(mode, str):
                    yield f"{path}[{index}]", mode


class Flaw(NamedTuple):
    """A place where a card breaks a rule: JSON path, message, fix."""

    path: str
    message: str
    fix: str


class FlawText(Struct, frozen=True):
    """The texts of a flaw, with places for values."""

    name: str
    message: str
    fix: str


_FLAWS = Rows(Path(__file__).with_name("flaws.toml"), FlawText, key="name")


def flaw(name: str, path: str, /, **values: object) -> Flaw:
    """Return a flaw with the texts of this name in flaws.toml."""
    text = _FLAWS.filled(name, **values)
    return Flaw(path, text.message, text.fix)


class Rule(NamedTuple):
    """A rule: its id, its source, the severity of a flaw, and the function that finds flaws; None for a rule on a card's form."""

    id: str
    source: str
    severity: Severity
    find: Callable[[Card], Iterable[Flaw]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One flaw, with the rule that it breaks."""

    rule: str
    source: str
    severity: Severity
    path: str
    message: str
    fix: str
