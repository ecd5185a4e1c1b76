"""A message's canonical text: all of its text parts, joined, repeated parts only once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from a2a_hub.a2a.model import Message, Part

__all__ = ["text_of"]

# Gemini Enterprise wraps uploaded files in text parts of this form. No "<" in between: the search stays linear.
_FILE_MARK = r"<(?:start|end)_of_user_uploaded_file: [^<>]*>"
_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
_MOST_JSON_CHARACTERS = 4000


def text_of(message: Message) -> str:
    """Return the text without control characters and without the marks around uploaded files; "" if there is none."""
    texts: dict[str, None] = {}
    for part in message.parts:
        if part.text is not None:
            cleaned = _cleaned(part.text)
            if cleaned:
                texts[cleaned] = None
    return "\n".join(texts)


def _cleaned(text: str) -> str:
    if not text.isprintable():
        text = re.sub(_CONTROL, "", text)
    if "<" in text:
        text = re.sub(_FILE_MARK, "", text)
    return text.strip()


def named(file: Part) -> str:
    """Return the text that stands for a file in text-only output: its name, and its address if it has one."""
    if file.url is not None:
        return f"{file.filename or 'file'}: {file.url}"
    return f"[{file.filename or file.media_type or 'file'}]"


def data_as_text(values: Iterable[Any]) -> str:
    """Return data without a text of its own as JSON, up to a length that people read."""
    written = (msgspec.json.format(msgspec.json.encode(value), indent=2).decode() for value in values)
    return "\n".join(written)[:_MOST_JSON_CHARACTERS]
