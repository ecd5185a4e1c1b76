"""A message's canonical text: all text parts, once each, without what only marks or controls."""

import pytest

from a2a_hub.a2a.model import Message, Part, Role, text_of


def _text(*texts: str | None) -> str:
    parts = tuple(Part(data={}) if text is None else Part(text=text) for text in texts)
    return text_of(Message(message_id="m", role=Role.USER, parts=parts))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((), ""),
        (("hello",), "hello"),
        (("hello", "world"), "hello\nworld"),
        (("hello", "hello"), "hello"),
        (("hello", " hello\n"), "hello"),
        (("a", "b", "a"), "a\nb"),
        ((None, "hello", None), "hello"),
        (("", "  ", "\n"), ""),
        (("a\x00b\x1b[31mc\x7f",), "ab[31mc"),
        (("first line\n\tsecond",), "first line\n\tsecond"),
        (("<start_of_user_uploaded_file: a.pdf>", "<end_of_user_uploaded_file: a.pdf>"), ""),
        (("sum up <start_of_user_uploaded_file: 見積 1.pdf>",), "sum up"),
        (("<start_of_user_uploaded_file",), "<start_of_user_uploaded_file"),
    ],
)
def test_the_text_is_what_was_said(texts: tuple[str | None, ...], expected: str) -> None:
    assert _text(*texts) == expected


def test_marks_without_an_end_are_searched_once() -> None:
    """Were each of the 300,000 begun marks searched to the text's end, this would take an hour."""
    begun = "<start_of_user_uploaded_file: " * 300_000
    assert _text(begun) == begun.strip()
