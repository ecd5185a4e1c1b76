"""Strings, numbers, booleans, bytes and times as ProtoJSON reads them (protobuf.dev/programming-guides/json, A2A 1.0.1 §5.6).

Each raises INVALID_PARAMS that names the field by its path.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from a2a_hub.a2a.errors import invalid_field

# Compiled when used: most requests hold none of these.
_INTEGER = r"-?[0-9]{1,10}"
_CANONICAL_BASE64 = r"[A-Za-z0-9+/]*={0,2}"
_BARE_BASE64 = r"[A-Za-z0-9+/]*"
_TO_STANDARD = str.maketrans("-_", "+/")
_WITHOUT_ZONE = r"[0-9-]{10}T[0-9:]{8}(?:\.[0-9]+)?"
_RFC_3339 = r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?([Zz]|[+-][0-9]{2}:[0-9]{2})"


def read_string(value: Any, path: str) -> str:
    """`value`, which must be a string."""
    if isinstance(value, str):
        return value
    raise invalid_field(path, f"must be a string, not {kind_of(value)}")


def read_integer(value: Any, path: str) -> int:
    """A 32-bit integer, also as a string or as a float without a fraction."""
    if (isinstance(value, str) and re.fullmatch(_INTEGER, value)) or (
        isinstance(value, float) and value.is_integer()
    ):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31:
        return value
    raise invalid_field(path, "must be a 32-bit integer")


def read_boolean(value: Any, path: str) -> bool:
    """A boolean; a query parameter has it as a word (A2A 1.0.1 §11.5)."""
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise invalid_field(path, f"must be a boolean, not {kind_of(value)}")


def read_base64(value: Any, path: str) -> str:
    """Standard base64 with padding, as ProtoJSON writes bytes; the URL-safe alphabet and missing padding are read too."""
    text = read_string(value, path)
    if re.fullmatch(_CANONICAL_BASE64, text) and len(text) % 4 == 0:
        return text
    text = text.translate(_TO_STANDARD).rstrip("=")
    if not re.fullmatch(_BARE_BASE64, text) or len(text) % 4 == 1:
        raise invalid_field(path, "must be base64")
    return text + "=" * (-len(text) % 4)


def read_timestamp(value: Any, path: str) -> str:
    """RFC 3339 with any offset, as UTC with milliseconds (§5.6.1). Agents that leave out the zone mean UTC."""
    text = read_string(value, path)
    return _read_time(f"{text}Z" if re.fullmatch(_WITHOUT_ZONE, text) else text, path, rounded_up=False)


def read_earliest(value: Any, path: str) -> str:
    """The same, with its zone, for the earliest time of something (§3.1.4): what is finer than a millisecond counts as one."""
    return _read_time(read_string(value, path), path, rounded_up=True)


def seconds_of(timestamp: str) -> float:
    """Seconds since the epoch of what the functions above have read."""
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
    """What kind of JSON value this is, for an error's text."""
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
