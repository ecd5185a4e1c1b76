"""The text of an agent's parts: chunks of a stream, or paragraphs."""

from __future__ import annotations

from msgspec import UNSET

from a2a_hub.a2a.model import Part
from a2a_hub.a2a.text import named

_SENTENCE_ENDS = tuple(".!?:。！？：」）")


def text_of_parts(parts: tuple[Part, ...]) -> str:
    """A line for each part."""
    return "\n".join(texts_of(parts))


def texts_of(parts: tuple[Part, ...]) -> list[str]:
    """The parts' texts; a file is named, since a text-only client cannot be given it."""
    return [part.text if part.text is not None else named(part) for part in parts if part.data is UNSET]


def joined(parts: tuple[Part, ...]) -> str:
    """One text of an artifact's parts: paragraphs, or the chunks of a stream that its agent put together again.

    A file is a paragraph; so is a part that ends a sentence, or after which a word starts with a capital letter.
    """
    pieces: list[str] = []
    end, after_file = "", False
    for part in parts:
        for text in texts_of((part,)):
            is_file = part.text is None
            if (
                end.removesuffix("\n").endswith(_SENTENCE_ENDS)
                or (end[-1:].islower() and text[:1].isupper())
                or (end and not end.endswith("\n") and (is_file or after_file))
            ):
                text = f"\n{text}"
            pieces.append(text)
            end, after_file = (end + text)[-2:], is_file
    return "".join(pieces)


def after_another(text: str, spoken: bool) -> str:
    """The text, as a paragraph of its own where something was said before."""
    return f"\n\n{text}" if spoken and text else text
