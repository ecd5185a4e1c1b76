"""Citations: from an agent's structured answer to the list of `/tools/query` and to numbered lines under a text (design §5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shared.language import Language

from functions.hub.texts import sources_heading

_LONGEST_QUOTE = 160


def citations_of(data: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """All citations in the structured parts of an answer: objects with `uri`, `title`, `quote` and `position`."""
    found: list[dict[str, Any]] = []
    for value in data:
        citations = value.get("citations")
        if isinstance(citations, list):
            found += [
                item for item in citations if isinstance(item, dict) and isinstance(item.get("uri"), str)
            ]
    return found


def numbered_lines(citations: list[dict[str, Any]], language: Language) -> str:
    """The lines under an answer's text, "" without citations: `[1] Title (uri): “quote”`."""
    if not citations:
        return ""
    lines = [f"[{number}] {_line(citation)}" for number, citation in enumerate(citations, 1)]
    return "\n\n" + "\n".join([f"{sources_heading(language)}:", *lines])


def _line(citation: dict[str, Any]) -> str:
    title = citation.get("title")
    line = f"{title} ({citation['uri']})" if isinstance(title, str) and title else str(citation["uri"])
    quote = citation.get("quote")
    if isinstance(quote, str) and quote:
        flat = " ".join(quote.split())
        line += f": “{flat if len(flat) <= _LONGEST_QUOTE else flat[: _LONGEST_QUOTE - 1] + '…'}”"
    return line
