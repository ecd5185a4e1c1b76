"""The JSON schemas in `tests/data`, ready to validate with, the candidate's adjusted to A2A 1.0.1."""

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from a2a_hub.a2a import card, model
from tests.contract.a2a.candidate_differences import DIFFERENCES, GONE
from tests.contract.a2a.proto_text import Field, messages

DATA = Path(__file__).parents[2] / "data"
TYPES: dict[str, type[msgspec.Struct]] = {
    name: type_
    for module in (model, card)
    for name, type_ in vars(module).items()
    if isinstance(type_, type)
    and issubclass(type_, msgspec.Struct)
    and type_.__module__ == module.__name__
    # The candidate's form of a config is read into a type of its own, which has the schema's fields.
    and name not in ("Wire", "NestedPushConfig")
}
_FORMATS = jsonschema.FormatChecker()


@functools.cache
def candidate_messages() -> dict[str, dict[str, Field]]:
    """Message → fields, as the candidate's proto says."""
    return messages(DATA / "a2a-1.0-rc.proto")


@functools.cache
def candidate_schemas() -> dict[str, dict[str, Any]]:
    """Message → JSON schema, as the candidate's bundle says; its titles are the message names with spaces strewn in."""
    bundle = json.loads((DATA / "a2a-1.0-rc.schema.json").read_text(encoding="utf-8"))
    names = {name.lower(): name for name in candidate_messages()} | {
        name.lower(): name for name in ("Struct", "Timestamp", "Value")
    }
    return {names[title.replace(" ", "").lower()]: schema for title, schema in bundle["definitions"].items()}


@functools.cache
def released_schemas() -> dict[str, dict[str, Any]]:
    """Message → JSON schema of 1.0.1: the candidate's with the listed differences and with what is required."""
    schemas = {}
    for name, schema in candidate_schemas().items():
        if name in GONE:
            continue
        properties = dict(schema.get("properties", {}))
        fields = candidate_messages().get(name, {})
        required = {field.json_name for field in fields.values() if field.required}
        for difference in DIFFERENCES:
            if difference.message == name:
                required -= set(difference.optional) | set(difference.removed)
                required |= set(difference.required)
                properties = {key: item for key, item in properties.items() if key not in difference.removed}
                properties |= difference.added or {}
        # What is written is camelCase only, although the bundle also allows snake_case.
        schemas[name] = {key: item for key, item in schema.items() if key != "patternProperties"} | {
            "properties": properties,
            "required": sorted(required),
        }
        if not properties:
            del schemas[name]["properties"]
    return schemas


@functools.cache
def _registry() -> Registry[Any]:
    resources: list[tuple[str, Resource[Any]]] = []
    for name, schema in released_schemas().items():
        package = "google.protobuf" if name in ("Struct", "Timestamp", "Value") else "lf.a2a.v1"
        resource = Resource.from_contents(schema, default_specification=DRAFT202012)
        resources.append((f"{package}.{name}.jsonschema.json", resource))
    return Registry().with_resources(resources)


def faults(message: str, value: Any) -> list[str]:
    """Return what a validator of A2A 1.0.1 has against `value` as a `message`."""
    return list(_said(_validator(message), value))


@functools.cache
def _validator(message: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(released_schemas()[message], registry=_registry(), format_checker=_FORMATS)


# What later 0.3 releases added to the proto, and the official SDK of 0.3.26 reads and sends.
_ADDED_TO_PROTO_V0_3 = {("FilePart", "name"), ("Part", "metadata")}


def unknown_to_proto_v0_3(message: str, value: Any, path: str = "") -> list[str]:
    """The members of `value`, the JSON of a 0.3 proto message, that the message does not have."""
    fields = _messages_v0_3()[message]
    found: list[str] = []
    for name, item in value.items():
        field = fields.get(name)
        if field is None:
            found += [] if (message, name) in _ADDED_TO_PROTO_V0_3 else [f"{path}.{name}"]
        elif field.type in _messages_v0_3():
            for element in item if field.repeated else [item]:
                found += unknown_to_proto_v0_3(field.type, element, f"{path}.{name}")
    return found


@functools.cache
def _messages_v0_3() -> dict[str, dict[str, Field]]:
    return messages(DATA / "a2a-0.3.0.proto")


@functools.cache
def _schema_v0_3() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((DATA / "a2a-0.3.0.schema.json").read_text(encoding="utf-8"))
    return schema


def faults_v0_3(definition: str, value: Any, *, strict: bool = True) -> list[str]:
    """Return what a validator of A2A 0.3.0 has against `value`; a strict one refuses members that the schema does not know."""
    return list(_said(_validator_v0_3(definition, strict), value))


@functools.cache
def _validator_v0_3(definition: str, strict: bool) -> jsonschema.Draft7Validator:
    definitions = _schema_v0_3()["definitions"]
    return jsonschema.Draft7Validator(
        {
            "$ref": f"#/definitions/{definition}",
            "definitions": _closed(definitions) if strict else definitions,
        },
        format_checker=_FORMATS,
    )


def _closed(definitions: dict[str, Any]) -> dict[str, Any]:
    return {
        name: definition | ({"additionalProperties": False} if "properties" in definition else {})
        for name, definition in definitions.items()
    }


def _said(validator: Any, value: Any) -> Iterator[str]:
    for error in validator.iter_errors(value):
        place = ".".join(str(step) for step in error.absolute_path)
        yield f"{place}: {error.message[:300]}"
