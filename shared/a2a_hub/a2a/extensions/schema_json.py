"""The `development-tool` extension's messages as JSON, and where they stand in messages and events.

ProtoJSON writes camelCase and reads snake_case too; the one JSON sample in the extension's specification is in snake_case.
So both are read, and what is written is in the caller's spelling.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from a2a_hub.a2a import protojson
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.extensions.development_tool import (
    ONE_OF,
    URI,
    AgentSettings,
    DevelopmentToolEvent,
    Schema,
    ToolCallConfirmation,
)
from a2a_hub.a2a.model import Message, Part

S = TypeVar("S", bound=Schema)


class Spelling(StrEnum):
    """How members' names are spelt."""

    SNAKE = "snake_case"
    CAMEL = "camelCase"


def read(type_: type[S], value: Any, path: str = "") -> S:
    """`value` (JSON in either spelling) as a `type_`. Raises INVALID_PARAMS with the path of the field that does not fit."""
    found = protojson.read(type_, value, path)
    _check_one_of(found, path)
    return found


def write(value: Schema, spelling: Spelling) -> dict[str, Any]:
    """`value` as JSON: all of its members but those that are absent (None). Structs inside keep their own keys."""
    return {
        field.name if spelling is Spelling.SNAKE else field.encode_name: _written(item, spelling)
        for field in msgspec.structs.fields(value)
        if (item := getattr(value, field.name)) is not None
    }


def spelling_of(*values: Any) -> Spelling:
    """The spelling in which a caller wrote these JSON values: that of the first name that tells, else snake_case."""
    for value in values:
        for name in value if isinstance(value, Mapping) else ():
            if "_" in name:
                return Spelling.SNAKE
            if re.fullmatch(r"[a-z]+(?:[A-Z][a-z]*)+", name):
                return Spelling.CAMEL
    return Spelling.SNAKE


def in_metadata(metadata: Mapping[str, Any] | None) -> Any:
    """What the extension has in a metadata object; None where there is nothing."""
    return (metadata or {}).get(URI)


def settings_in(message: Message, path: str = "message") -> AgentSettings | None:
    """The settings that a message brings. Raises INVALID_PARAMS with the field named."""
    value = in_metadata(message.metadata)
    return None if value is None else read(AgentSettings, value, f"{path}.metadata.{URI}")


def event_in(metadata: Mapping[str, Any] | None) -> DevelopmentToolEvent | None:
    """What a status update's metadata says of it. Raises INVALID_PARAMS where that is of no known form."""
    value = in_metadata(metadata)
    return None if value is None else read(DevelopmentToolEvent, value, f"metadata.{URI}")


def metadata_of(value: Schema, spelling: Spelling) -> dict[str, Any]:
    """A metadata object with this in it."""
    return {URI: write(value, spelling)}


def part_of(value: Schema, spelling: Spelling) -> Part:
    """A data part with this in it."""
    return Part(data=write(value, spelling), media_type="application/json")


def confirmation_in(message: Message, path: str = "message") -> ToolCallConfirmation | None:
    """The decision in the first data part that holds one. Raises INVALID_PARAMS with the field named."""
    for index, part in enumerate(message.parts):
        if isinstance(part.data, dict) and not _OF_A_DECISION.isdisjoint(part.data):
            return read(ToolCallConfirmation, part.data, f"{path}.parts[{index}].data")
    return None


_OF_A_DECISION = frozenset({"selected_option_id", "selectedOptionId"})


def _written(value: Any, spelling: Spelling) -> Any:
    match value:
        case Schema():
            return write(value, spelling)
        case tuple():
            return [_written(item, spelling) for item in value]
        case StrEnum():
            return value.value
        case _:
            return value


def _check_one_of(value: Any, path: str) -> None:
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            _check_one_of(item, f"{path}[{index}]")
    elif isinstance(value, Schema):
        names = [name for name in ONE_OF.get(type(value), ()) if getattr(value, name) is not None]
        if len(names) > 1:
            raise invalid_field(path or "params", f"must have at most one of {', '.join(names)}")
        for field in msgspec.structs.fields(value):
            inner = f"{path}.{field.encode_name}" if path else field.encode_name
            _check_one_of(getattr(value, field.name), inner)
