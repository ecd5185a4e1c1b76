"""Citations: from an agent's structured answer to the list of `/tools/query` and to numbered lines under a text."""

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from a2a_hub.text.language import Language

_LONGEST_QUOTE = 160
_HEADING = {Language.EN: "Sources:", Language.JA: "出典："}


class Position(Struct, frozen=True, kw_only=True):
    """Character offsets in the source's text, the line, and the headings above it."""

    start: int | UnsetType = UNSET
    end: int | UnsetType = UNSET
    line: int | UnsetType = UNSET
    section: list[str] | UnsetType = UNSET
    page: int | UnsetType | None = UNSET


class Citation(Struct, frozen=True, kw_only=True, rename="camel"):
    """One quote and its source. An agent may add members of its own."""

    uri: str
    link: Annotated[str | UnsetType | None, Meta(description="An address that a person can open, if there is one.")] = (
        UNSET
    )
    title: str | UnsetType = UNSET
    passage_id: Annotated[
        str | UnsetType, Meta(description="The id of the passage in the document; it survives edits elsewhere.")
    ] = UNSET
    quote: Annotated[str | UnsetType, Meta(description="The verbatim text at the position.")] = UNSET
    position: Position | UnsetType = UNSET


_TYPES = {field.encode_name: field.type for field in msgspec.structs.fields(Citation)}


def citations_of(data: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all citations in the structured parts of an answer, each a `Citation` as it was sent.

    One without a `uri` is left out; so is a member of another type.
    """
    found: list[dict[str, Any]] = []
    for value in data:
        citations = value.get("citations")
        if isinstance(citations, list):
            found += [
                item
                if _fits(item, Citation)
                else {name: value for name, value in item.items() if _fits(value, _TYPES.get(name, Any))}
                for item in citations
                if isinstance(item, dict) and isinstance(item.get("uri"), str)
            ]
    return found


def _fits(value: object, type_: Any) -> bool:
    try:
        msgspec.convert(value, type_)
    except msgspec.ValidationError:
        return False
    return True


def numbered_lines(citations: list[dict[str, Any]], language: Language) -> str:
    """Return the lines under an answer's text, "" without citations: `[1] Title, section (link, page 3): “quote”`."""
    if not citations:
        return ""
    lines = [f"[{number}] {_line(citation, language)}" for number, citation in enumerate(citations, 1)]
    return "\n\n" + "\n".join([_HEADING[language], *lines])


def _link(citation: dict[str, Any]) -> str:
    """Return the address that a person can open, "" where there is none."""
    for address in (citation.get("link"), citation["uri"]):
        if isinstance(address, str) and address.startswith(("https://", "http://")):
            return address
    return ""


def _position(place: dict[str, Any], language: Language) -> str:
    """Return the page; lines are those of the text that was read out of the document, which nobody sees."""
    if isinstance(place.get("page"), int):
        return f"page {place['page']}" if language is Language.EN else f"{place['page']}ページ"
    return ""


def _line(citation: dict[str, Any], language: Language) -> str:
    """Return `Title, section (link, page 3): “quote”`."""
    comma = ", " if language is Language.EN else "、"
    link = _link(citation)
    position = citation.get("position")
    place = position if isinstance(position, dict) else {}
    title = citation.get("title")
    head = title if isinstance(title, str) and title else citation["uri"].rpartition("/")[2] or citation["uri"]
    section = place.get("section")
    if isinstance(section, list) and section and str(section[-1]) != head:
        head += f"{comma}{section[-1]}"
    at = _position(place, language)
    where = comma.join(filter(None, (link, at)))
    text = head
    if where:
        text += f" ({where})" if language is Language.EN else f"（{where}）"
    quote = citation.get("quote")
    if isinstance(quote, str) and quote:
        flat = " ".join(quote.split())
        cut = flat if len(flat) <= _LONGEST_QUOTE else flat[: _LONGEST_QUOTE - 1] + "…"
        text += f": “{cut}”" if language is Language.EN else f"：「{cut}」"
    return text
