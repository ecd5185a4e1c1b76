"""Reads a model's reply while it is written: each sentence as soon as its JSON object has closed."""

import json
import re
from collections.abc import Iterator

import msgspec

_MAX_CHARACTERS = 100_000
# Quotes inside of strings are escaped. As its schema orders, a reply says before its sentences that there are some.
_BEGIN = re.compile(r'"answerable"\s*:\s*true\b.*?"sentences"\s*:\s*\[', re.DOTALL)
_raw_decode = json.JSONDecoder().raw_decode


class WrittenSentence(msgspec.Struct):
    """A sentence as the model wrote it, with the ids that it names."""

    text: str
    cites: list[int]


class Form(msgspec.Struct):
    """A whole reply."""

    answerable: bool
    missing: str
    sentences: list[WrittenSentence]


_SENTENCE = msgspec.json.Decoder(WrittenSentence)
_FORM = msgspec.json.Decoder(Form)


class SentenceStream:
    """The reader of one reply. What stands before the first brace, such as a code fence, is no part of it."""

    def __init__(self) -> None:
        self._text = ""
        self._at: int | None = None

    def read(self, piece: str) -> Iterator[WrittenSentence]:
        """Yield the sentences that the piece completes. Raises ValueError for a reply that is too long."""
        self._text += piece
        if len(self._text) > _MAX_CHARACTERS:
            raise ValueError("the reply is too long")
        if self._at is None and "[" in piece and (begin := _BEGIN.search(self._text)):
            self._at = begin.end()
        while self._at is not None and "}" in piece:
            start = self._text.find("{", self._at)
            if start < 0 or self._text[self._at : start].strip(", \t\r\n"):
                return
            end = _end(self._text, start)
            if end is None:
                return
            self._at = end
            try:
                sentence = _SENTENCE.decode(self._text[start:end])
            except (msgspec.MsgspecError, UnicodeEncodeError):
                continue
            yield sentence

    def form(self) -> Form | None:
        """Return the whole reply; None if it is not of the form."""
        start = self._text.find("{")
        end = _end(self._text, start)
        try:
            return _FORM.decode(self._text[start:end]) if end else None
        except (msgspec.MsgspecError, UnicodeEncodeError):
            return None


def _end(text: str, start: int) -> int | None:
    """Return where the JSON value ends that begins at `start`; None if it does not."""
    try:
        return int(_raw_decode(text, start)[1])
    except (ValueError, RecursionError):
        return None
