"""A message's canonical text: all of its text parts, joined, a part that was sent twice only once."""

from __future__ import annotations

import re

from shared.a2a.model import Message

# Gemini Enterprise wraps uploaded files in text parts of this form. No "<" in between: the search stays linear.
_FILE_MARK = r"<(?:start|end)_of_user_uploaded_file: [^<>]*>"
_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"


def text_of(message: Message) -> str:
    """The text, without control characters and without the marks around uploaded files; "" when there is none."""
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
