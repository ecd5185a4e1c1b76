"""Mails of the Workspace worker: made as Gmail takes them, and read as it gives them."""

import base64
from email import message_from_bytes
from email.policy import default
from typing import Any

import pytest

from workers.workspace import gmail
from workers.workspace.actions import Mail


def part(kind: str, text: str, **more: Any) -> dict[str, Any]:
    data = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    return {"mimeType": kind, "body": {"data": data}, **more}


def test_a_mail_arrives_as_it_was_written() -> None:
    to = ["aki@example.com", "ken@example.com"]
    raw = gmail.encoded_mail(Mail.of(to=to, subject="四半期の数字", text="売上：12\n\n費用：7"))
    mail = message_from_bytes(base64.urlsafe_b64decode(raw), policy=default)
    assert (mail["To"], mail["Subject"]) == ("aki@example.com, ken@example.com", "四半期の数字")
    assert "Cc" not in mail
    assert mail.get_content().splitlines() == ["売上：12", "", "費用：7"]


def test_plain_text_is_read_rather_than_html() -> None:
    payload = {
        "mimeType": "multipart/alternative",
        "parts": [part("text/html", "<b>no</b>"), part("text/plain", "yes")],
    }
    assert gmail.body_text({"mimeType": "multipart/mixed", "parts": [payload]}) == "yes"


def test_html_is_read_without_what_nobody_sees_of_it() -> None:
    html = "<head><title>x</title></head><style>p{}</style><p>One<br>two &amp; three</p><script>no()</script><p>four"
    assert gmail.body_text(part("text/html", html)) == "One\ntwo & three\nfour"


def test_an_attachment_is_named_and_not_read() -> None:
    payload = {"parts": [part("text/plain", "text"), part("text/plain", "secret", filename="notes.txt")]}
    assert gmail.body_text(payload) == "text"
    assert gmail.attachment_names(payload) == ["notes.txt"]


@pytest.mark.parametrize(
    "payload", [{}, {"parts": []}, part("image/png", "x"), {"mimeType": "text/plain", "body": {"data": "é"}}]
)
def test_a_mail_without_text_has_none(payload: dict[str, Any]) -> None:
    assert gmail.body_text(payload) == ""
