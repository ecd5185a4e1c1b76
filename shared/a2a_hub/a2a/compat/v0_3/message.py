"""Messages and their parts. Oddities: HTTP+JSON calls the parts `content` and knows no `referenceTaskIds`; files are nested one
level deeper in 0.3, and its data part holds an object only.

A 1.0 data value that is no object travels as `{"value": …}`, marked in the part's metadata, so that it comes back unchanged.
`fileWithBytes` is the content in base64 (the proto). The Python, Java and Go SDKs write base64 of base64: both are read.
"""

import base64
import re
from typing import Any

from msgspec import UNSET

from a2a_hub.a2a import protojson
from a2a_hub.a2a.a2ui import is_surface
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.model import Binding, Message, Part, Role

_ALIKE = ("messageId", "contextId", "taskId", "metadata", "extensions", "referenceTaskIds")
_WRAPPED = "data_part_compat"
_FILE_MEMBERS = (
    ("bytes", "raw"),
    ("fileWithBytes", "raw"),
    ("uri", "url"),
    ("fileWithUri", "url"),
    ("mimeType", "mediaType"),
    ("name", "filename"),
)
_ROLES = {Role.USER: "user", Role.AGENT: "agent"}
_READ_ROLE: dict[str | int, str] = {
    spelling: role.value
    for number, (role, name) in enumerate(_ROLES.items(), start=1)
    for spelling in (number, name, role.value)
}
# 0.3 has no "unspecified": an agent that left it out is an agent.
_WRITE_ROLE: dict[Binding, dict[Role, str]] = {
    Binding.JSONRPC: _ROLES | {Role.UNSPECIFIED: "agent"},
    Binding.HTTP_JSON: {role: role.value for role in _ROLES} | {Role.UNSPECIFIED: Role.AGENT.value},
}


def to_core_message(value: Any, path: str) -> dict[str, Any]:
    message = protojson.as_object(value, path)
    expect_kind(message, "message", path)
    core = protojson.copied(message, *_ALIKE)
    if message.get("role") is not None:
        core["role"] = protojson.as_enum(message["role"], _READ_ROLE, f"{path}.role", "must be user or agent")
    name = "content" if message.get("content") is not None and message.get("parts") is None else "parts"
    if message.get(name) is None:
        raise invalid_field(f"{path}.parts", "is required")
    parts = protojson.as_list(message[name], f"{path}.{name}")
    core["parts"] = [to_core_part(part, f"{path}.{name}[{index}]") for index, part in enumerate(parts)]
    return core


def to_compat_message(message: Message, binding: Binding) -> dict[str, Any]:
    rest = binding is Binding.HTTP_JSON
    parts = [to_compat_part(part, binding) for part in message.parts]
    role = _WRITE_ROLE[binding][message.role]
    if rest:
        return protojson.written(message, role=role, parts=None, content=parts, referenceTaskIds=None)
    return protojson.written(message, kind="message", role=role, parts=parts)


def to_core_part(value: Any, path: str) -> dict[str, Any]:
    part = protojson.as_object(value, path)
    kind = part.get("kind")
    if kind is None:
        present = [name for name in ("text", "file", "data") if part.get(name) is not None]
        if len(present) != 1:
            raise invalid_field(path, "must have exactly one of text, file, data")
        kind = present[0]
        # A2A 0.2 says `type` for `kind`. A part of an unknown type is refused, not guessed.
        if part.get("type") not in (None, kind):
            raise invalid_field(f"{path}.type", "must be text, file or data, as what the part holds")
    core = protojson.copied(part, "metadata")
    match kind:
        case "text":
            return core | {"text": protojson.as_string(part.get("text"), f"{path}.text")}
        case "file":
            return core | _to_core_file(part.get("file"), f"{path}.file")
        case "data":
            return core | _to_core_data(part, f"{path}.data", core.get("metadata"))
        case _:
            raise invalid_field(f"{path}.kind", "must be text, file or data")


def _to_core_file(value: Any, path: str) -> dict[str, Any]:
    file = protojson.as_object(value, path)
    found = {
        core: protojson.as_string(content, f"{path}.{name}")
        for name, core in _FILE_MEMBERS
        if (content := protojson.member(file, name)) is not None
    }
    if ("raw" in found) == ("url" in found):
        raise invalid_field(path, "must have exactly one of bytes, uri")
    if "raw" in found:
        name = "bytes" if "bytes" in file else "fileWithBytes"
        found["raw"] = protojson.read_base64(found["raw"], f"{path}.{name}")
        if name == "fileWithBytes":
            found["raw"] = _unwrapped(found["raw"], is_text=found.get("mediaType", "").startswith("text/"))
    return found


def _unwrapped(raw: str, *, is_text: bool) -> str:
    """Return the content's base64 out of a second one around it. A text that only looks like base64 stays as it is."""
    inner = base64.b64decode(raw)
    if len(inner) % 4 or not re.fullmatch(rb"[A-Za-z0-9+/]+={0,2}", inner):
        return raw
    if is_text:
        try:
            base64.b64decode(inner).decode()
        except UnicodeDecodeError:
            return raw
    return inner.decode()


def _to_core_data(part: dict[str, Any], path: str, metadata: Any) -> dict[str, Any]:
    if isinstance(listed := part.get("data"), list) and is_surface(Part(data=listed, metadata=metadata)):
        # A2UI 0.9 has a list, which 0.3's schema does not know.
        return {"data": listed}
    data = protojson.as_object(part.get("data"), path)
    if "kind" not in part and set(data) == {"data"} and isinstance(data["data"], dict):
        data = data["data"]
    if isinstance(metadata, dict) and metadata.get(_WRAPPED) is True and set(data) == {"value"}:
        rest = {name: item for name, item in metadata.items() if name != _WRAPPED}
        return {"data": data["value"], "metadata": rest or None}
    return {"data": data}


def to_compat_part(part: Part, binding: Binding) -> dict[str, Any]:
    """Return a 1.0 part in 0.3's JSON, which has no place for a text part's file name and media type."""
    rest = binding is Binding.HTTP_JSON
    metadata = part.metadata
    if part.text is not None:
        body: dict[str, Any] = {"kind": "text", "text": part.text}
    elif part.data is not UNSET:
        data = part.data
        if not isinstance(data, dict) and (rest or not is_surface(part)):
            data, metadata = {"value": data}, {**(metadata or {}), _WRAPPED: True}
        body = {"kind": "data", "data": {"data": data} if rest else data}
    else:
        content = ("fileWithBytes", "fileWithUri") if rest else ("bytes", "uri")
        source = {content[0]: part.raw} if part.raw is not None else {content[1]: part.url}
        body = {
            "kind": "file",
            "file": protojson.without_absent(source | {"mimeType": part.media_type, "name": part.filename}),
        }
    if rest:
        del body["kind"]
    if metadata is not None:
        body["metadata"] = metadata
    return body


def expect_kind(value: dict[str, Any], kind: str, path: str) -> None:
    """Check `kind` if it is given; 0.3's HTTP+JSON form has none."""
    if value.get("kind") not in (None, kind):
        raise invalid_field(f"{path}.kind", f"must be {kind}")
