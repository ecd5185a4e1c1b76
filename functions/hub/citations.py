"""Citations: from an agent's structured answer to the list of `/tools/query` and to numbered lines under a text."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

from a2a_hub.text.language import Language
from functions.hub.texts import sources_heading

_LONGEST_QUOTE = 160
_TYPES: dict[str, type] = {"title": str, "quote": str, "position": dict}


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
    """Return the lines under an answer's text, "" without citations: `[1] Title, section (uri, line 12): “quote”`."""
    if not citations:
        return ""
    lines = [f"[{number}] {_line(citation, language)}" for number, citation in enumerate(citations, 1)]
    return "\n\n" + "\n".join([sources_heading(language), *lines])


def _position(place: dict[str, Any], language: Language) -> str:
    """Return the page, or the line of a document without pages: a PDF's lines are those of its text, which nobody sees."""
    if isinstance(place.get("page"), int):
        return f"page {place['page']}" if language is Language.EN else f"{place['page']}ページ"
    if isinstance(place.get("line"), int):
        return f"line {place['line']}" if language is Language.EN else f"{place['line']}行目"
    return ""


def _line(citation: dict[str, Any], language: Language) -> str:
    """Return `Title, section (source, line 12): “quote”`, with the page instead for a document with pages."""
    comma = ", " if language is Language.EN else "、"
    source = unquote(citation["uri"])
    position = citation.get("position")
    place = position if isinstance(position, dict) else {}
    title = citation.get("title")
    head = str(title) if isinstance(title, str) and title else source
    section = place.get("section")
    if isinstance(section, list) and section and str(section[-1]) != head:
        head += f"{comma}{section[-1]}"
    where = source if isinstance(title, str) and title else ""
    if at := _position(place, language):
        where = f"{where}{comma}{at}" if where else at
    text = head
    if where:
        text += f" ({where})" if language is Language.EN else f"（{where}）"
    quote = citation.get("quote")
    if isinstance(quote, str) and quote:
        flat = " ".join(quote.split())
        cut = flat if len(flat) <= _LONGEST_QUOTE else flat[: _LONGEST_QUOTE - 1] + "…"
        text += f": “{cut}”" if language is Language.EN else f"：「{cut}」"
    return text
