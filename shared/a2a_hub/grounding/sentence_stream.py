"""Reads a model's reply while it is written: each sentence as soon as its JSON object has closed."""

from collections.abc import Iterator

import msgspec

_MOST_CHARACTERS = 100_000


class WrittenSentence(msgspec.Struct):
    """A sentence as the model wrote it, with the ids that it names."""

    text: str
    cites: list[int]


class Form(msgspec.Struct):
    """A whole reply."""

    answerable: bool
    missing: str
    sentences: list[WrittenSentence]


class SentenceStream:
    """The reader of one reply. What stands before the first brace, such as a code fence, is no part of it."""

    def __init__(self) -> None:
        self._text = ""
        self._at = 0
        self._starts: list[int] = []
        self._in_string = self._is_escaped = False
        self._end: int | None = None
        self._answerable: bool | None = None

    def read(self, piece: str) -> Iterator[WrittenSentence]:
        """Yield the sentences that the piece completes. Raises ValueError for a reply that is too long."""
        self._text += piece
        if len(self._text) > _MOST_CHARACTERS:
            raise ValueError("the reply is too long")
        while self._at < len(self._text) and self._end is None:
            character = self._text[self._at]
            self._at += 1
            if self._is_escaped:
                self._is_escaped = False
            elif self._in_string:
                self._is_escaped = character == "\\"
                self._in_string = character != '"'
            elif character == '"':
                self._in_string = bool(self._starts)
            elif character == "{":
                self._starts.append(self._at - 1)
            elif character == "}" and self._starts:
                start = self._starts.pop()
                if not self._starts:
                    self._end = self._at
                elif len(self._starts) == 1 and self._is_answerable():
                    yield from _sentence(self._text[start : self._at])

    def form(self) -> Form | None:
        """Return the whole reply; None if it is not of the form."""
        if self._end is None:
            return None
        try:
            return msgspec.json.decode(self._text[self._text.index("{") : self._end], type=Form)
        except (msgspec.MsgspecError, UnicodeEncodeError):
            return None

    def _is_answerable(self) -> bool:
        """Return True if the reply has said so before its sentences, as its schema orders."""
        if self._answerable is None:
            before = "".join(self._text[: self._text.find("[")].split())
            self._answerable = '"answerable":true' in before
        return self._answerable


def _sentence(text: str) -> Iterator[WrittenSentence]:
    try:
        yield msgspec.json.decode(text, type=WrittenSentence)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return
