"""The check between an extracted quote and an answer. It trusts nothing that the extraction says."""

from collections.abc import Sequence
from typing import Protocol

from functions.docqa.model import Citation


class EvidenceError(Exception):
    """A citation whose quote does not stand where it says."""


class CanonicalTexts(Protocol):
    """Where the canonical text of a source comes from."""

    def canonical_text(self, uri: str) -> str | None:
        """The text that positions in `uri` refer to, or None when there is no such source."""
        ...


def check(citation: Citation, text: str) -> None:
    """Returns when the quote stands verbatim at its position in `text`; otherwise raises EvidenceError."""
    position = citation.position
    if not citation.quote.strip():
        raise EvidenceError(f"{citation.uri}: an empty quote is no evidence")
    if not 0 <= position.start < position.end <= len(text):
        raise EvidenceError(f"{citation.uri}: [{position.start}, {position.end}) is outside the text")
    if text[position.start : position.end] != citation.quote:
        raise EvidenceError(f"{citation.uri}: the quote is not what stands at {position.start}")
    if position.line != text.count("\n", 0, position.start) + 1:
        raise EvidenceError(f"{citation.uri}: the quote is not on line {position.line}")


def checked(citations: Sequence[Citation], texts: CanonicalTexts) -> tuple[Citation, ...]:
    """`citations`, when every one passes; raises EvidenceError at the first that does not."""
    for citation in citations:
        text = texts.canonical_text(citation.uri)
        if text is None:
            raise EvidenceError(f"{citation.uri}: no such source")
        check(citation, text)
    return tuple(citations)
