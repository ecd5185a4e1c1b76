"""The JSON Schemas of routes.toml and deploy.toml, by which editors complete and check: `python -m deploy.schemas` writes them.

The readers of the files run over tables that record which keys are asked for, and how.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from a2a_hub.boundaries.kinds import KINDS
from a2a_hub.routing import parser
from a2a_hub.routing.routes import Route
from a2a_hub.toml.checked_table import CheckedTable, Choice
from a2a_hub.toml.lines import TomlLines
from deploy.config_reader import Format, Reader, formats

FOLDER = Path(__file__).resolve().parents[1] / "schemas"
Schema = dict[str, Any]
_TEXT: Schema = {"type": "string", "minLength": 1}


class _Recorder(CheckedTable):
    """A table of which every key may be there, and none has a value but the given ones."""

    def __init__(self, values: Mapping[str, Any], path: tuple[str | int, ...] = ()) -> None:
        super().__init__(path=path, values=values, lines=TomlLines(""), variables={})
        self.properties: dict[str, Schema] = {}
        self.required: set[str] = set()
        self.known: set[str] = set()

    def problem(self, key: str | None, message: str, *, index: int | None = None) -> None:
        pass

    def refuse_unknown(self, known: Collection[str]) -> None:
        self.known |= {*known}

    def text(self, key: str, default: str | None = None) -> str:
        self._record(key, _TEXT, default)
        return str(self.values.get(key, default or ""))

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        self._record(key, {"type": "array", "items": _TEXT}, default)
        return default

    def whole(self, key: str, default: int | None = None, *, minimum: int = 0) -> int:
        self._record(key, {"type": "integer", "minimum": minimum}, default)
        return default or 0

    def seconds(self, key: str, default: float) -> float:
        self._record(key, {"type": "number", "exclusiveMinimum": 0}, default)
        return default

    def flag(self, key: str) -> bool:
        self._record(key, {"type": "boolean"}, False)
        return bool(self.values.get(key))

    def choice(self, key: str, among: Iterable[Choice], *, required: bool = False) -> Choice | None:
        self._record(key, {"enum": [str(each) for each in among]}, None if required else "")
        return None

    def inner(self, key: str, values: Mapping[str, Any]) -> CheckedTable:
        table = _Recorder(values, (*self.path, key))
        self.properties[key] = {"anyOf": [{"const": "off"}, table]}
        return table

    def schema(self) -> Schema:
        """Return the schema of the table; a key that is known, and read in no other way, is a text."""
        properties = dict.fromkeys(self.known, _TEXT) | self.properties
        if self.known:
            properties = {key: properties[key] for key in self.known}
        value: Schema = {"type": "object", "properties": dict(sorted(properties.items()))}
        if self.known:
            value["additionalProperties"] = False
        return value | ({"required": sorted(self.required)} if self.required else {})

    def _record(self, key: str, schema: Schema, default: object) -> None:
        shown = {"default": default} if default and isinstance(default, str | int | float) else {}
        self.properties.setdefault(key, schema | shown)
        if default is None:
            self.required.add(key)


class _AllKeys(dict[str, Any]):
    """The values of a table that seems to have every key."""

    def __contains__(self, _: object) -> bool:
        return True


class _DeployReader(Reader):
    def __init__(self) -> None:
        super().__init__({}, TomlLines(""))
        self.tables: dict[tuple[str, ...], _Recorder] = {}

    def _table(self, path: tuple[str, ...]) -> _Recorder:
        return self.tables.setdefault(path, _Recorder(_AllKeys(), path))

    def _optional(self, table: CheckedTable, key: str) -> str | None:
        self._matching(table, key, "")
        return None

    def _matching(self, table: CheckedTable, key: str, default: str | None, *, like: str = "") -> str:
        value = super()._matching(table, key, default, like=like)
        _of(table, key).update(_format(formats()[like or key]))
        return value

    def _all_matching(self, table: CheckedTable, key: str, *, like: str = "") -> tuple[str, ...]:
        value, format_ = super()._all_matching(table, key, like=like), formats().get(like or key)
        if format_:
            _of(table, key)["items"] = {"type": "string", **_format(format_)}
        return value


def _of(table: CheckedTable, key: str) -> Schema:
    assert isinstance(table, _Recorder)
    return table.properties[key]


def _format(format_: Format) -> Schema:
    return {"pattern": f"^(?:{format_.pattern})$", "description": format_.words}


def routes_schema() -> Schema:
    """Return the schema of routes.toml."""
    # A route for workers has no address, and the default one needs no priority.
    tables = [_Recorder(values) for values in ({}, {"role": "a"}, {"default": True})]
    for table in tables:
        parser.read_route(table)
    route, required = tables[0], set.intersection(*(table.required for table in tables))
    for kind in KINDS.values():
        kind.read(route)
    route.required = required
    hub = _Recorder({})
    parser.read_hub(hub)
    schema = route.schema()
    for key, text in _documented(Route):
        schema["properties"][key] = {**schema["properties"][key], "description": text}
    properties = {"hub": hub.schema(), "routes": {"type": "array", "minItems": 1, "items": schema}}
    return _root(
        "routes.toml",
        {"type": "object", "properties": properties, "additionalProperties": False, "required": ["routes"]},
    )


def deploy_schema() -> Schema:
    """Return the schema of deploy.toml."""
    reader = _DeployReader()
    reader.config()
    # Every function may have what [defaults] has.
    reader.tables["defaults",].properties = reader.tables["functions", "hub"].properties
    schemas = {path: table.schema() for path, table in reader.tables.items()}
    for path, schema in sorted(schemas.items(), reverse=True):
        if path:
            # What is above a function's table gives it what it lacks.
            schema.pop("required", None)
            schemas[path[:-1]]["properties"][path[-1]] = schema
        if path and path[-1] in ("environment", "secrets", "workers") and len(path) > 1:
            schema["additionalProperties"] = {"type": "array", "items": _TEXT} if path[-1] == "workers" else _TEXT
    return _root("deploy.toml", schemas[()])


def _documented(struct: type) -> Iterator[tuple[str, str]]:
    """Yield the fields of a class that have a docstring."""
    body = ast.parse(inspect.getsource(struct)).body[0]
    assert isinstance(body, ast.ClassDef)
    for field, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            yield ast.unparse(field.target), str(text.value.value).replace("None:", "Without it:")


def _root(title: str, schema: Schema) -> Schema:
    whole = {"$schema": "http://json-schema.org/draft-07/schema#", "title": title, **schema}
    plain: Schema = json.loads(json.dumps(whole, default=_Recorder.schema))
    return plain


def files() -> dict[Path, str]:
    """Return the content of each file."""
    made = {"routes": routes_schema(), "deploy": deploy_schema()}
    texts = {name: json.dumps(schema, ensure_ascii=False) for name, schema in made.items()}
    # A key a line.
    return {FOLDER / f"{name}.schema.json": text.replace('}, "', '},\n"') + "\n" for name, text in texts.items()}


if __name__ == "__main__":
    for file, text in files().items():
        file.write_text(text, encoding="utf-8")
