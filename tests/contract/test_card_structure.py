"""The table of card fields says what the official 0.3 schema says."""

import json
from pathlib import Path
from typing import Any

from a2a_hub.card_rules.card import DEFINITIONS, SCHEME_TYPES

SCHEMA = json.loads((Path(__file__).parents[1] / "data" / "a2a-0.3.0.schema.json").read_text(encoding="utf-8"))[
    "definitions"
]


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"[{_kind(schema['items'])}]"
    if schema.get("type") == "object":
        return "{" + _kind(schema["additionalProperties"]) + "}"
    return str(schema.get("type", "any"))


def _table(definition: dict[str, Any]) -> dict[str, str]:
    required = definition.get("required", [])
    return {name: _kind(schema) + "!" * (name in required) for name, schema in definition["properties"].items()}


def test_every_definition_of_the_table_is_that_of_the_schema() -> None:
    assert {name: dict(fields) for name, fields in DEFINITIONS.items()} == {
        name: _table(SCHEMA[name]) for name in DEFINITIONS
    }


def test_every_kind_that_a_field_names_is_a_definition() -> None:
    named = {kind.strip("[]{}!") for fields in DEFINITIONS.values() for kind in fields.values()}
    assert named - {"string", "boolean", "any", "SecurityScheme"} <= set(DEFINITIONS)


def test_the_types_of_security_schemes_are_those_of_the_schema() -> None:
    listed = [choice["$ref"].rpartition("/")[2] for choice in SCHEMA["SecurityScheme"]["anyOf"]]
    assert {name: SCHEMA[name]["properties"]["type"]["const"] for name in listed} == {
        definition: type_ for type_, definition in SCHEME_TYPES.items()
    }
