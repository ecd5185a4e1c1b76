"""The pieces of an answer as a user interface may show them."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from a2a_hub.a2a.a2ui import is_surface
from a2a_hub.a2a.model import Part
from a2a_hub.a2a.reply import Failure, Piece, Progress, Question, Surface, Text
from a2a_hub.text.display import DisplayFilter, allows, code, displayed
from functions.hub.downstream.event_translator import TranslatedEvent

# Compiled when used: most answers have no surface.
_ADDRESS = r"(?i)[a-z][a-z0-9+.-]*://|//|(?:https?|data|blob|javascript|vbscript|mailto|tel|sms):"
_HOLDS_ADDRESS = r"(?i)iframe|(?:url|uri|src|href)$"
_NAMES = frozenset({"id", "component", "path", "title"})


def for_display(events: Iterable[TranslatedEvent], hosts: Collection[str]) -> Iterator[TranslatedEvent]:
    """Yield the events with pieces that hide nothing, and that link to `hosts` alone."""
    answer = DisplayFilter(hosts)
    for event, pieces in events:
        shown: list[Piece] = []
        for piece in pieces:
            match piece:
                case Text(text, more):
                    shown += _text(answer.feed(text), more=more)
                case Progress(text):
                    # It stands apart, and the answer goes on after it.
                    shown.append(replace(piece, text=displayed(text, hosts)))
                case Question(text) | Failure(text):
                    safe = displayed(text, hosts, keeps_addresses=isinstance(piece, Question))
                    shown += (*_text(answer.finish()), replace(piece, text=safe))
                case Surface(part):
                    shown.append(Surface(replace(part, data=surface_for_display(part.data, hosts))))
                case _:
                    shown.append(piece)
        yield event, shown
    if rest := answer.finish():
        yield None, (Text(rest),)


def parts_for_display(
    parts: tuple[Part, ...], *, hosts: Collection[str], is_question: bool = False, after: str = ""
) -> tuple[Part, ...]:
    """Return parts of a stored task, such as a worker's, as a user interface may show them; see `Display`."""
    text = DisplayFilter(hosts, keeps_addresses=is_question, after=after)
    return tuple(
        replace(part, text=text.feed(part.text) + text.finish())
        if part.text is not None
        else replace(part, data=surface_for_display(part.data, hosts))
        if is_surface(part)
        else part
        for part in parts
    )


def _text(text: str, *, more: bool = False) -> tuple[Text, ...]:
    return (Text(text, more),) if text else ()


def surface_for_display(data: Any, hosts: Collection[str]) -> Any:
    """Return the messages of A2UI in a part with addresses of `hosts` alone: of images, frames and links, and in data to which
    these may be bound.
    """
    if isinstance(data, list):
        return [surface_for_display(each, hosts) for each in data]
    if not isinstance(data, dict):
        return _shown(data, hosts)
    # Nothing is loaded from the id of a catalog.
    return {
        name: _shown(body, hosts) | {"catalogId": body["catalogId"]}
        if isinstance(body, dict) and "catalogId" in body
        else _shown(body, hosts)
        for name, body in data.items()
    }


def _shown(value: Any, hosts: Collection[str], *, is_address: bool = False) -> Any:
    match value:
        case str():
            text = displayed(value, hosts)
            # As browsers read an address.
            bare = re.sub(r"[\t\n\r]", "", text).strip().replace("\\", "/")
            if not (is_address or re.match(_ADDRESS, bare)) or allows(bare, hosts):
                return text
            return "about:blank" if is_address else code(text)
        case list():
            return [_shown(each, hosts, is_address=is_address) for each in value]
        case dict():
            in_frame = is_address or "iframe" in str(value.get("component")).lower()
            return {
                name: _shown(
                    item,
                    hosts,
                    is_address=(in_frame or bool(re.search(_HOLDS_ADDRESS, name)))
                    and not (name in _NAMES and isinstance(item, str)),
                )
                for name, item in value.items()
            }
        case _:
            return value
