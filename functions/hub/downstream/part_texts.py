"""The texts of an agent's parts, joined for a person to read."""

from msgspec import UNSET

from a2a_hub.a2a.model import Part, file_text

_SENTENCE_ENDS = tuple(".!?:。！？：」）")


def text_of_parts(parts: tuple[Part, ...]) -> str:
    """Return a line for each part."""
    return "\n".join(texts_of(parts))


def texts_of(parts: tuple[Part, ...]) -> list[str]:
    """Return the parts' texts; a file is named, since a text-only client cannot show it. A model's thoughts are left out, as ADK
    marks them.
    """
    return [
        part.text if part.text is not None else file_text(part)
        for part in parts
        if part.data is UNSET and not (part.metadata or {}).get("adk_thought")
    ]


def joined(parts: tuple[Part, ...]) -> str:
    """Join an artifact's parts into one text: paragraphs, or chunks of a stream that its agent put together again.

    A file is a paragraph. A part after one that ends a sentence begins a paragraph; so does a capital after a small letter.
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


def after_another(text: str, has_text: bool) -> str:
    """Return the text, as a paragraph of its own if there is text before it."""
    return f"\n\n{text}" if has_text and text else text
