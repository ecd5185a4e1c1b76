"""Tolerant reading of results that do not quite conform, so that their valid content is not lost.

Optional values that cannot be read count as absent. Ids and roles that are missing get a value: ProtoJSON omits what an agent
left empty, and the official SDKs read that.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, TypeVar

from a2a_hub.a2a import model, protojson
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.versions import VersionCodec

T = TypeVar("T", bound=model.Event)
_OBJECTS = frozenset(
    {"task", "message", "statusUpdate", "status_update", "artifactUpdate", "artifact_update", "status", "artifact"}
)
_LISTS = frozenset({"artifacts", "history"})
_MESSAGES = frozenset({"message", "history"})
_ARTIFACTS = frozenset({"artifact", "artifacts"})
_UPDATES = frozenset({"statusUpdate", "status_update", "artifactUpdate", "artifact_update"})
_PARTS = frozenset({"parts", "content"})


def read_tolerantly(read: Callable[[Any], T], result: Any, codec: VersionCodec) -> T:
    """Return the result as `read` returns it, if need be without optional values, and with missing ids. Raises A2AError.

    A message of which no part can be read is not readable.
    """
    try:
        return read(result)
    except A2AError:
        value = read(_readable(result, codec))
        if isinstance(value, model.Message) and not value.parts:
            raise
        return value


def _readable(value: Any, codec: VersionCodec) -> Any:
    """Return an object of the protocol without its optional values that cannot be read, and with the ids of what it holds."""
    if not isinstance(value, dict):
        return value
    kept: dict[str, Any] = {}
    for name, item in value.items():
        if name in _OBJECTS:
            kept[name] = _identified(name, _readable(item, codec))
        elif name in _LISTS and isinstance(item, list):
            kept[name] = [
                _identified(name, _readable(each, codec), number) for number, each in enumerate(item, start=1)
            ]
        elif name in _PARTS and isinstance(item, list):
            kept[name] = list(_readable_parts(item, codec))
        elif name == "timestamp":
            kept[name] = _timestamp(item)
        elif name not in _DESCRIPTIVE or _DESCRIPTIVE[name](item):
            kept[name] = item
    return kept


def _identified(kind: str, value: Any, number: int = 1) -> Any:
    """Return a message, artifact or update with the ids and the role that it lacks; the same for the same value."""
    if not isinstance(value, dict):
        return value
    if kind in _MESSAGES:
        id_ = sha256(protojson.encode(value)).hexdigest()[:32]
        # A message of the history may be the user's.
        role = model.Role.AGENT if kind == "message" else model.Role.UNSPECIFIED
        missing = {"messageId": ("message_id", id_), "role": ("role", role)}
    elif kind in _ARTIFACTS:
        missing = {"artifactId": ("artifact_id", f"artifact-{number}")}
    elif kind in _UPDATES:
        missing = {"contextId": ("context_id", "")}
    else:
        return value
    return {**{name: item for name, (snake, item) in missing.items() if snake not in value}, **value}


def _readable_parts(parts: list[Any], codec: VersionCodec) -> Iterator[Any]:
    for part in parts:
        known = _readable(part, codec)
        with suppress(A2AError):
            codec.read_part(known)
            yield known


def _timestamp(value: Any) -> str | None:
    """Return the time as the protocol has it, read as far as Python knows its form; None for any other."""
    with suppress(A2AError):
        return protojson.read_timestamp(value, "timestamp")
    with suppress(TypeError, ValueError, OverflowError):
        moment = datetime.fromisoformat(value)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return None


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


_DESCRIPTIVE = {"metadata": _is_object, "name": _is_text, "description": _is_text, "extensions": _are_texts}
