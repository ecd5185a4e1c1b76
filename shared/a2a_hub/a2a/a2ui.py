"""A2UI (a2ui.org, versions 0.8 and 0.9): surfaces that an agent describes as data, and the actions of people on them.

The hub draws nothing. It passes the parts on where the request activates the extension, says their text elsewhere, and takes an
action to the agent that made its surface.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from a2a_hub.a2a.model import Message, Part

_URI = "https://a2ui.org/a2a-extension/a2ui/v"
_MEDIA_TYPES = frozenset({"application/json+a2ui", "application/a2ui+json"})
_ACTIONS = ("userAction", "action")
_DEEPEST, _MOST_CHARACTERS, _LONGEST_ID = 50, 20_000, 200


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
    """Return the literal texts of the components in parts of A2UI, a line each."""
    texts: list[str] = []
    for part in parts:
        if is_surface(part):
            texts += _texts(part.data, 0)
    return "\n".join(dict.fromkeys(texts))[:_MOST_CHARACTERS]


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


def _texts(value: Any, depth: int) -> Iterator[str]:
    """Yield the text of each component: {"Text": {"text": {"literalString"}}} in 0.8, {"component": "Text", "text"} in 0.9."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for each in value:
            yield from _texts(each, depth + 1)
    elif isinstance(value, dict):
        component = value if value.get("component") == "Text" else value.get("Text")
        text = component.get("text") if isinstance(component, dict) else None
        literal = text.get("literalString") if isinstance(text, dict) else text
        if isinstance(literal, str) and literal.strip():
            yield literal
        for each in value.values():
            yield from _texts(each, depth + 1)
