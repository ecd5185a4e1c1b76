"""Request bodies as the API reads them: ProtoJSON names in either spelling, unknown ones refused."""

import json
import re
from collections.abc import Mapping
from typing import Any

from local.cloud.program import ApiError

# A field's value: a type, or the fields of an inner object.
Fields = Mapping[str, Any]

AGENT: Fields = {
    "name": str,
    "displayName": str,
    "description": str,
    "icon": {"uri": str, "content": str},
    "a2aAgentDefinition": {"jsonAgentCard": str},
    "authorizationConfig": {"agentAuthorization": str, "toolAuthorizations": list},
    "sharingConfig": {"scope": str},
}
AUTHORIZATION: Fields = {
    "name": str,
    "displayName": str,
    "serverSideOauth2": {
        "clientId": str,
        "clientSecret": str,
        "authorizationUri": str,
        "tokenUri": str,
        "scopes": list,
    },
}
_SNAKE = re.compile(r"_([a-z0-9])")


def read(body: bytes, fields: Fields) -> dict[str, Any]:
    """Return the body with camelCase names. Raises ApiError INVALID_ARGUMENT."""
    try:
        value = json.loads(body or b"{}")
    except ValueError:
        raise ApiError("INVALID_ARGUMENT", "Invalid JSON payload received.") from None
    return _object(value, fields, "")


def mask(text: str | None, fields: Fields) -> tuple[str, ...]:
    """Return the paths of an update mask, in camelCase; none where there is no mask. Raises ApiError INVALID_ARGUMENT."""
    paths = tuple(_camel(path.strip()) for path in (text or "").split(",") if path.strip())
    for path in paths:
        inner: Any = fields
        for step in path.split("."):
            if not isinstance(inner, Mapping) or step not in inner:
                raise ApiError("INVALID_ARGUMENT", f"Invalid field mask: {path}")
            inner = inner[step]
    return paths


def merge(old: dict[str, Any], new: dict[str, Any], paths: tuple[str, ...]) -> dict[str, Any]:
    """Return `old` with the fields of `paths` taken from `new`; a field that `new` lacks is cleared."""
    merged = dict(old)
    for path in paths:
        step, _, rest = path.partition(".")
        if rest:
            merged[step] = merge(dict(merged.get(step, {})), new.get(step, {}), (rest,))
        elif step in new:
            merged[step] = new[step]
        else:
            merged.pop(step, None)
    return merged


def _object(value: Any, fields: Fields, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ApiError("INVALID_ARGUMENT", f"Invalid value at '{path or 'body'}': an object is expected")
    read_: dict[str, Any] = {}
    for given, item in value.items():
        name = _camel(given)
        if name not in fields:
            where = f" at '{path}'" if path else ""
            raise ApiError(
                "INVALID_ARGUMENT",
                f'Invalid JSON payload received. Unknown name "{given}"{where}: Cannot find field.',
            )
        kind = fields[name]
        if isinstance(kind, Mapping):
            read_[name] = _object(item, kind, f"{path}.{name}".strip("."))
        elif not isinstance(item, kind):
            raise ApiError("INVALID_ARGUMENT", f"Invalid value at '{path}.{name}': {kind.__name__} is expected")
        else:
            read_[name] = item
    return read_


def _camel(name: str) -> str:
    return _SNAKE.sub(lambda found: found[1].upper(), name)
