"""Citations: from an agent's structured answer to the list of `/tools/query` and to numbered lines under a text."""

from collections.abc import Iterable
from typing import Any

from a2a_hub.text.language import Language

_LONGEST_QUOTE = 160
_TYPES: dict[str, type] = {"title": str, "link": str, "quote": str, "position": dict}
_HEADING = {Language.EN: "Sources:", Language.JA: "出典："}


def citations_of(data: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all citations in the structured parts of an answer: objects with `uri`, `title`, `quote` and `position`.

    One without a `uri` is left out; so is a member of another type than `/openapi.yaml` says.
    """
    found: list[dict[str, Any]] = []
    for value in data:
        citations = value.get("citations")
        if isinstance(citations, list):
            found += [
                {name: value for name, value in item.items() if isinstance(value, _TYPES.get(name, object))}
                for item in citations
                if isinstance(item, dict) and isinstance(item.get("uri"), str)
            ]
    return found


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
