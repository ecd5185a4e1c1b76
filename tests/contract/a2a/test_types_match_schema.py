"""Every type of the model and the card against the schema of the release candidate, adjusted to A2A 1.0.1."""

import types
from enum import StrEnum
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

from tests.contract.a2a.candidate_differences import DIFFERENCES, GONE, STRICTER
from tests.contract.a2a.schemas import TYPES, candidate_messages, candidate_schemas, released_schemas

MESSAGES = sorted(candidate_messages().keys() - GONE.keys())
# The schema's timestamps and base64 are strings with a form, which `protojson` checks when it reads.
_SIMPLE = {str: "string", int: "integer", bool: "boolean"}


def test_there_is_a_type_for_every_message_and_no_other() -> None:
    assert set(TYPES) == set(MESSAGES)


def test_the_schema_and_the_proto_of_the_candidate_name_the_same_fields() -> None:
    for name, fields in candidate_messages().items():
        assert candidate_schemas()[name].get("properties", {}).keys() == fields.keys(), name


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda each: f"{each.message}-{each.reason[:30]}")
def test_each_listed_difference_is_one(difference: Any) -> None:
    fields = candidate_messages()[difference.message]
    assert not (difference.added or {}).keys() & fields.keys()
    assert fields.keys() >= set(difference.removed)
    assert all(fields[name].required for name in difference.optional)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_type_has_exactly_the_fields_of_its_message(name: str) -> None:
    ours = {field.encode_name for field in msgspec.structs.fields(TYPES[name])}
    assert ours == released_schemas()[name].get("properties", {}).keys()


@pytest.mark.parametrize("name", MESSAGES)
def test_a_type_requires_what_its_message_requires(name: str) -> None:
    ours = {field.encode_name for field in msgspec.structs.fields(TYPES[name]) if field.required}
    stricter = {field for message, field in STRICTER if message == name}
    assert ours == set(released_schemas()[name]["required"]) | stricter


@pytest.mark.parametrize("name", MESSAGES)
def test_a_types_fields_have_the_types_of_its_message(name: str) -> None:
    hints = get_type_hints(TYPES[name])
    for field in msgspec.structs.fields(TYPES[name]):
        schema = released_schemas()[name]["properties"][field.encode_name]
        assert _fits(hints[field.name], schema), f"{name}.{field.encode_name}: {hints[field.name]} {schema}"


def _fits(hint: Any, schema: dict[str, Any]) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        given = [each for each in arguments if each not in (type(None), msgspec.UnsetType)]
        return len(given) == 1 and _fits(given[0], schema)
    if reference := schema.get("$ref"):
        message = reference.removesuffix(".jsonschema.json").rsplit(".", 1)[1]
        match message:
            case "Struct":
                return bool(hint == dict[str, Any])
            case "Value":
                return hint is Any
            case "Timestamp":
                return hint is str
            case _:
                return hint is TYPES.get(message)
    if alternatives := schema.get("anyOf"):
        if isinstance(hint, type) and issubclass(hint, StrEnum):
            return _names(alternatives) == {member.value for member in hint}
        return any(_fits(hint, each) for each in alternatives if each.get("type") != "string")
    if origin is tuple:
        return schema.get("type") == "array" and _fits(arguments[0], schema["items"])
    if origin is dict:
        return schema.get("type") == "object" and _fits(arguments[1], schema["additionalProperties"])
    return bool(schema.get("type") == _SIMPLE.get(hint))


def _names(alternatives: list[dict[str, Any]]) -> set[str]:
    names = {name for each in alternatives for name in each.get("enum", ())}
    return names | {each["pattern"].strip("^$") for each in alternatives if "pattern" in each}
