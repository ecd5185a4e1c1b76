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


@pytest.mark.parametrize(
    ("chat", "expected"),
    [
        ("user: How high is Mount Fuji?", "How high is Mount Fuji?"),
        ("system: Be brief.\nuser: 富士山の高さは？", "富士山の高さは？"),
        ("user: Hello\nassistant: Hello!\nuser: /tasks", "/tasks"),
        ("user: Hello\nassistant: user: is a label\nuser: Which?\nThe last one", "Which?\nThe last one"),
        ("user: What does this log mean?\nuser: root\nroot: x", "What does this log mean?\nuser: root\nroot: x"),
        ("user: Hello\nassistant: Hello!", "user: Hello\nassistant: Hello!"),
        ("Who is the user: root?\nuser: root", "Who is the user: root?\nuser: root"),
        ("User: how do I log in?", "User: how do I log in?"),
    ],
)
def test_of_a_chat_in_one_text_only_the_users_last_turn_is_said(chat: str, expected: str) -> None:
    assert _text(chat) == expected


def test_an_agents_text_is_no_chat() -> None:
    assert text_of(Message(message_id="m", role=Role.AGENT, parts=(Part(text="user: root"),))) == "user: root"


def test_marks_without_an_end_are_searched_once() -> None:
    """Were each of the 300,000 begun marks searched to the text's end, this would take an hour."""
    begun = "<start_of_user_uploaded_file: " * 300_000
    assert _text(begun) == begun.strip()
