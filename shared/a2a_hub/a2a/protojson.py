"""ProtoJSON in and out: JSON values ↔ the model's types (A2A 1.0.1 §5.5-§5.7, protobuf.dev/programming-guides/json).

Reading is tolerant where ProtoJSON is (snake_case beside camelCase, enum numbers, numbers as strings, null as absent,
base64 of either alphabet, unknown fields ignored) and exact everywhere else: a wrong type is an error that names the field.
"""

import re
import types
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache, partial
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from a2a_hub.a2a import model
from a2a_hub.a2a.errors import PARSE_ERROR, PAYLOAD_TOO_LARGE, A2AError, invalid_field

S = TypeVar("S", bound=msgspec.Struct)
# The limit of protobuf's own JSON readers. Accepted values can be encoded again inside a response.
MAX_DEPTH = 100
# Values take up to 30 times as much memory as their text: a list of two bytes takes 64.
MAX_VALUES = 100_000
_Reader = Callable[[Any, str], Any]

# Lists that the specification requires, and that ProtoJSON, and so the SDK for Python, omits if they are empty.
_EMPTY_WHERE_ABSENT = {(model.Artifact, "parts"), (model.Message, "parts")}

# Compiled when used: most requests hold none of these.
_INTEGER = r"-?[0-9]{1,10}"
_CANONICAL_BASE64 = r"[A-Za-z0-9+/]*={0,2}"
_BARE_BASE64 = r"[A-Za-z0-9+/]*"
_TO_STANDARD = str.maketrans("-_", "+/")
_WITHOUT_ZONE = r"[0-9-]{10}T[0-9:]{8}(?:\.[0-9]+)?"
# Possessive, and without its end in broken JSON: linear in any text.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_RFC_3339 = (
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)

_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


def decode(body: bytes, *, max_values: int = MAX_VALUES) -> Any:
    """Return the JSON value in `body`.

    Raises PARSE_ERROR for anything but one JSON text in UTF-8 (RFC 8259), and for one nested deeper than MAX_DEPTH;
    PAYLOAD_TOO_LARGE for one of more than `max_values` values. A byte order mark before it is ignored (§8.1).
    """
    body = body.removeprefix(BOM_UTF8)
    if _values_in(body, 0, len(body)) > max_values and _has_more_values(body, max_values):
        raise A2AError(PAYLOAD_TOO_LARGE, f"Invalid JSON payload: it has more than {max_values} values")
    try:
        value = _decoder.decode(body)
    except RecursionError:
        raise _too_deep() from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise A2AError(PARSE_ERROR, "Invalid JSON payload: the body is not one JSON value in UTF-8") from None
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH:
        _check_depth(value)
    return value


def _has_more_values(body: bytes, most: int) -> bool:
    """Return True if JSON has more values; looks no further than that, and lets other threads run meanwhile.

    Of two strings in a row, at least one has a comma or bracket before it.
    """
    values = end = 0
    for strings, string in enumerate(re.finditer(_STRING, body, re.DOTALL)):
        values += _values_in(body, end, string.start())
        if values > most or strings > 2 * most + 1:
            return True
        end = string.end()
    return values + _values_in(body, end, len(body)) > most


def _values_in(body: bytes, start: int, end: int) -> int:
    """Return the number of values, at least, in a piece of JSON without commas and brackets in strings."""
    return body.count(b",", start, end) + body.count(b"[", start, end) + body.count(b"{", start, end)


def encode(value: Any) -> bytes:
    """Return compact UTF-8 JSON of a model value or of plain JSON values."""
    return _encoder.encode(value)


def read(type_: type[S], value: Any, path: str = "") -> S:
    """Return `value` (decoded JSON) as a `type_`. Raises INVALID_PARAMS with the path of the first field that does not fit."""
    fields, required, empty, one_of, at_most_one = _plan(type_)
    found: dict[str, Any] = {}
    for key, item in as_object(value, path or "params").items():
        field = fields.get(key)
        if field is None:
            continue
        attribute, name, reader, keeps_null = field
        if item is None and not keeps_null:
            continue
        found[attribute] = item if reader is None else reader(item, f"{path}.{name}" if path else name)
    for attribute in empty:
        found.setdefault(attribute, ())
    for attribute, name in required:
        if attribute not in found:
            raise invalid_field(f"{path}.{name}" if path else name, "is required")
    if one_of:
        present = [name for name in one_of if name in found]
        if len(present) == 2 and found.get("data", ...) is None:
            # A client that writes every absent member as null means this, not a null value.
            present.remove("data")
            del found["data"]
        if len(present) != 1:
            names = ", ".join(fields[name][1] for name in one_of)
            raise invalid_field(path or "params", f"must have exactly one of {names}")
    if at_most_one and len(present := [name for name in at_most_one if name in found]) > 1:
        raise invalid_field(path or "params", f"must have at most one of {', '.join(present)}")
    return type_(**found)


@cache
def _plan(
    type_: type[msgspec.Struct],
) -> tuple[
    dict[str, tuple[str, str, _Reader | None, bool]],
    tuple[tuple[str, str], ...],
    tuple[str, ...],
    tuple[str, ...],
    tuple[str, ...],
]:
    hints = get_type_hints(type_)
    fields: dict[str, tuple[str, str, _Reader | None, bool]] = {}
    required = []
    for info in msgspec.structs.fields(type_):
        hint = hints[info.name]
        keeps_null = msgspec.UnsetType in get_args(hint)
        reader = None if keeps_null else _FORMS.get((type_, info.name)) or _reader(hint)
        entry = (info.name, info.encode_name, reader, keeps_null)
        fields[info.name] = fields[info.encode_name] = entry
        if info.required:
            required.append((info.name, info.encode_name))
    empty = tuple(name for of, name in _EMPTY_WHERE_ABSENT if of is type_)
    return fields, tuple(required), empty, getattr(type_, "one_of", ()), getattr(type_, "at_most_one_of", ())


def _reader(hint: Any) -> _Reader | None:
    """Return the function that reads one field of this type, None if any JSON value will do."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _reader(next(argument for argument in arguments if argument is not type(None)))
    if hint is Any:
        return None
    if origin is tuple:
        return _list_of(_reader(arguments[0]))
    if origin is dict:
        return _map_of(_reader(arguments[1]))
    if issubclass(hint, msgspec.Struct):
        return partial(read, hint)
    if issubclass(hint, StrEnum):
        return _enum(hint)
    return {str: as_string, int: read_integer, bool: read_boolean}[hint]


def _list_of(item: _Reader | None) -> _Reader:
    def read_list(value: Any, path: str) -> tuple[Any, ...]:
        elements = as_list(value, path)
        if item is None:
            return tuple(elements)
        return tuple([item(element, f"{path}[{index}]") for index, element in enumerate(elements)])

    return read_list


def _map_of(item: _Reader | None) -> _Reader:
    def read_map(value: Any, path: str) -> dict[str, Any]:
        members = as_object(value, path)
        if item is None:
            return members
        return {key: item(element, f"{path}.{key}") for key, element in members.items()}

    return read_map


def _enum(type_: type[StrEnum]) -> _Reader:
    members = list(type_)
    names = {member.value: member for member in members}
    numbers = {str(number): member for number, member in enumerate(members)}
    # All but the first, UNSPECIFIED, which nobody is advised to send.
    choices = ", ".join(members[1:])

    def read_enum(value: Any, path: str) -> StrEnum:
        if isinstance(value, str):
            member = names.get(value) or numbers.get(value)
            if member is not None:
                return member
        elif isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(members):
            return members[value]
        raise invalid_field(path, f"must be one of {choices}")

    return read_enum


def read_integer(value: Any, path: str) -> int:
    """Return a 32-bit integer, also as a string or as a float without a fraction."""
    if (isinstance(value, str) and re.fullmatch(_INTEGER, value)) or (isinstance(value, float) and value.is_integer()):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31:
        return value
    raise invalid_field(path, "must be a 32-bit integer")


def read_boolean(value: Any, path: str) -> bool:
    """Return a boolean, which a query parameter has as a word (A2A 1.0.1 §11.5)."""
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise invalid_field(path, f"must be a boolean, not {kind_of(value)}")


def read_base64(value: Any, path: str) -> str:
    """Return standard base64 with padding, as ProtoJSON writes bytes. The URL-safe alphabet and missing padding are read too."""
    text = as_string(value, path)
    if re.fullmatch(_CANONICAL_BASE64, text) and len(text) % 4 == 0:
        return text
    text = text.translate(_TO_STANDARD).rstrip("=")
    if not re.fullmatch(_BARE_BASE64, text) or len(text) % 4 == 1:
        raise invalid_field(path, "must be base64")
    return text + "=" * (-len(text) % 4)


def read_timestamp(value: Any, path: str) -> str:
    """Return RFC 3339 with any offset as UTC with milliseconds (§5.6.1). A time without a zone is UTC."""
    text = as_string(value, path)
    return _read_time(f"{text}Z" if re.fullmatch(_WITHOUT_ZONE, text) else text, path, rounded_up=False)


def read_earliest(value: Any, path: str) -> str:
    """Return the earliest time of something (§3.1.4) in the same form. It needs a zone, and is rounded up to a millisecond."""
    return _read_time(as_string(value, path), path, rounded_up=True)


def seconds_of(timestamp: str) -> float:
    """Return the seconds since the epoch of a timestamp that the functions above returned."""
    return datetime.fromisoformat(timestamp).timestamp()


def _read_time(text: str, path: str, *, rounded_up: bool) -> str:
    match = re.fullmatch(_RFC_3339, text)
    if match:
        day, time, fraction, zone = match.groups()
        fraction = f"{fraction or '':0<3}"
        milliseconds, finer = fraction[:3], fraction[3:]
        zone = "+00:00" if zone in "Zz" else zone
        try:
            moment = datetime.fromisoformat(f"{day}T{time}.{milliseconds}{zone}").astimezone(UTC)
            if rounded_up and finer.strip("0"):
                moment += timedelta(milliseconds=1)
            return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        except (ValueError, OverflowError):
            pass
    raise invalid_field(path, "must be a time as in 2026-01-31T09:30:00.000Z")


def kind_of(value: Any) -> str:
    """Return the kind of a JSON value, for an error's text."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def as_object(value: Any, path: str) -> dict[str, Any]:
    """Return `value`, which must be a JSON object."""
    if isinstance(value, dict):
        return value
    raise invalid_field(path, f"must be an object, not {kind_of(value)}")


def as_list(value: Any, path: str) -> list[Any]:
    """Return `value`, which must be a JSON array."""
    if isinstance(value, list):
        return value
    raise invalid_field(path, f"must be an array, not {kind_of(value)}")


def as_string(value: Any, path: str) -> str:
    """Return `value`, which must be a string."""
    if isinstance(value, str):
        return value
    raise invalid_field(path, f"must be a string, not {kind_of(value)}")


def as_enum(value: Any, names: Mapping[str | int, str], path: str, expected: str) -> str:
    """Return the 1.0 name of an enum's value, given by one of these names or numbers."""
    if (isinstance(value, str) or type(value) is int) and value in names:
        return names[value]
    raise invalid_field(path, expected)


def member(value: dict[str, Any], name: str) -> Any:
    """Return the member of a camelCase name or its snake_case form (ProtoJSON), None if it is absent."""
    found = value.get(name)
    return value.get(_snake_case(name)) if found is None else found


@cache
def _snake_case(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def copied(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the members that both versions spell alike, by their camelCase names."""
    spellings = _spellings(names)
    return {spellings[name]: item for name, item in value.items() if item is not None and name in spellings}


@cache
def _spellings(names: tuple[str, ...]) -> dict[str, str]:
    return {spelling: name for name in names for spelling in (name, _snake_case(name))}


def without_absent(value: dict[str, Any]) -> dict[str, Any]:
    """Return `value` without the members that are None or an empty tuple."""
    return {name: item for name, item in value.items() if item is not None and item != ()}


def written(value: msgspec.Struct, **others: Any) -> dict[str, Any]:
    """Return the members of `value` by their names on the wire, `others` in their places or beside them, without absent ones."""
    members = dict(zip(value.__struct_encode_fields__, msgspec.structs.astuple(value), strict=True))
    return without_absent(members | others)


# Strings that have a form: the proto's bytes and timestamps.
_FORMS: dict[tuple[type, str], _Reader] = {
    (model.Part, "raw"): read_base64,
    (model.TaskStatus, "timestamp"): read_timestamp,
    (model.ListTasksRequest, "status_timestamp_after"): read_earliest,
}


def _too_deep() -> A2AError:
    return A2AError(PARSE_ERROR, f"Invalid JSON payload: it is nested deeper than {MAX_DEPTH} levels")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, dict | list)
        ]
        if not level:
            return
    raise _too_deep()
