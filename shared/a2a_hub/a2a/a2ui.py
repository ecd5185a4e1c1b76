"""A2UI (a2ui.org, versions 0.8 and 0.9): surfaces that an agent describes as data, and the actions of people on them.

The hub draws nothing. It passes the parts on where the request activates the extension, says their text elsewhere, and takes an
action to the agent that made its surface.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from a2a_hub.a2a.model import Message, Part

_URI = "https://a2ui.org/a2a-extension/a2ui/v"
_MEDIA_TYPES = frozenset({"application/json+a2ui", "application/a2ui+json"})
_ACTIONS = ("userAction", "action")
# The texts of a surface's data, by path.
_Values = dict[str, list[str]]
_DATA = ("dataModelUpdate", "updateDataModel")
# A value of the data inside a text: "+${/percent}%".
_REFERENCE = r"\$\{([^{}()$]*)\}"
_DEEPEST, _MAX_CHARACTERS, _LONGEST_ID = 50, 20_000, 200
# Each value of the data has a path of its own, which repeats the names above it.
_LONGEST_PATH = 300
# What is shown in a list and in a text with values, each as often as its components say; all of it is read only so far.
_MAX_READ, _MAX_ITEMS, _LONGEST_ITEM = 400_000, 100, 1_000


def a2ui_in(extensions: Iterable[str]) -> tuple[str, ...]:
    """Return the URIs that stand for a version of A2UI."""
    return tuple(uri for uri in extensions if uri.startswith(_URI))


def is_surface(part: Part) -> bool:
    """Return True for a part of A2UI, as its metadata or its media type says."""
    if not isinstance(part.data, (dict, list)):
        return False
    named = (part.metadata or {}).get("mimeType")
    return any(isinstance(value, str) and value in _MEDIA_TYPES for value in (named, part.media_type))


def surfaces_in(parts: Iterable[Part]) -> Iterator[str]:
    """Yield the ids of the surfaces that parts of A2UI create or change."""
    for message in _messages(part.data for part in parts if is_surface(part)):
        for body in message.values():
            if isinstance(body, dict) and (surface := _surface_of(body)):
                yield surface


def acted_on(message: Message) -> str | None:
    """Return the surface of the action in a message; None if there is none."""
    for each in _messages(part.data for part in message.parts if is_surface(part) or isinstance(part.data, dict)):
        for name in _ACTIONS:
            body = each.get(name)
            if isinstance(body, dict) and (surface := _surface_of(body)):
                return surface
    return None


def text_of_surfaces(parts: Iterable[Part]) -> str:
    """Return the texts of the components in parts of A2UI, a line each, with the values of the surface's data that they show."""
    messages = _messages(part.data for part in parts if is_surface(part))
    bodies = [(name, body) for message in messages for name, body in message.items() if isinstance(body, dict)]
    data = defaultdict[str | None, _Values](dict)
    for body in (body for name, body in bodies if name in _DATA):
        contents = body.get("contents")
        value = _map_of(contents, 0) if isinstance(contents, list) else body.get("value")
        path = str(body.get("path") or "").strip("/")
        _note(value, f"/{path}" if path else "", data[_surface_of(body)], 0)
    texts: dict[str, None] = {}
    left = _MAX_READ
    for text in (
        each for name, body in bodies if name not in _DATA for each in _texts(body, data[_surface_of(body)], 0)
    ):
        texts[text] = None
        left -= len(text) + 1
        if left < 0:
            break
    return "\n".join(texts)[:_MAX_CHARACTERS]


def without_surfaces(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts for a client that shows no A2UI, with its text."""
    said = text_of_surfaces(parts) if not any(part.text for part in parts) else ""
    others = tuple(part for part in parts if not is_surface(part))
    return (*others, Part(text=said)) if said else others


def _messages(values: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yield the messages of A2UI: a part holds one in 0.8, and a list of them in 0.9."""
    for value in values:
        yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict))


def _surface_of(body: dict[str, Any]) -> str | None:
    surface = body.get("surfaceId")
    return surface if isinstance(surface, str) and 0 < len(surface) <= _LONGEST_ID else None


def _map_of(contents: list[Any], depth: int) -> dict[str, Any]:
    """Return the data that 0.8 lists as keys with typed values."""
    found: dict[str, Any] = {}
    for entry in contents if depth <= _DEEPEST else ():
        if isinstance(entry, dict) and isinstance(key := entry.get("key"), str):
            value = next((value for name, value in entry.items() if name.startswith("value")), None)
            found[key] = _map_of(value, depth + 1) if isinstance(value, list) else value
    return found


def _note(value: Any, path: str, values: _Values, depth: int) -> None:
    """Note a value of the data and its members by their paths; those of items also by their name, as templates of lists do.

    Values at paths that are too long are left out.
    """
    if len(path) > _LONGEST_PATH:
        return
    values[path] = [_written(value)]
    if depth > _DEEPEST:
        return
    for name, member in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        _note(member, f"{path}/{name}", values, depth + 1)
        if path and isinstance(value, dict) and (text := _written(member)):
            values.setdefault(str(name), []).append(text)


def _written(value: Any) -> str:
    """Return a value as a component shows it; empty for objects, lists, truth values and null."""
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def _texts(value: Any, values: _Values, depth: int) -> Iterator[str]:
    """Yield the text of each component: {"Text": {"text": …}} in 0.8, {"component": "Text", "text": …} in 0.9."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for each in value:
            yield from _texts(each, values, depth + 1)
    elif isinstance(value, dict):
        component = value if value.get("component") == "Text" else value.get("Text")
        for shown in _shown(component.get("text"), values) if isinstance(component, dict) else ():
            if shown.strip():
                yield shown
        for each in value.values():
            yield from _texts(each, values, depth + 1)


def _shown(text: Any, values: _Values) -> Iterable[str]:
    """Return what a component's text stands for. The functions that format a value are left out: the value is said as it is."""
    match text:
        case {"literalString": value}:
            return [_written(value)]
        case {"path": str(path)} | {"call": str(), "args": {"value": {"path": str(path)}}}:
            return values.get(path, ())
        case {"call": str(), "args": {"value": str(template)}}:
            paths = set(re.findall(_REFERENCE, template := template[:_MAX_CHARACTERS]))
            lists = {path: [each[:_LONGEST_ITEM] for each in values.get(path, ())[:_MAX_ITEMS]] for path in paths}
            return [re.sub(_REFERENCE, lambda found: ", ".join(lists[found[1]])[:_LONGEST_ITEM], template)]
        case _:
            return [_written(text)]
