"""Mails in Gmail, and their text."""

import base64
import binascii
from collections.abc import Iterator
from email.message import EmailMessage
from email.policy import SMTP
from html.parser import HTMLParser
from typing import Any

from workers.workspace import plain_text
from workers.workspace.actions import Mail
from workers.workspace.drive import identifier
from workers.workspace.google import READ_MAIL, Api, Google

_INVISIBLE = {"script", "style", "head", "title"}
_BREAKS = {"br", "p", "div", "tr", "li", "h1", "h2", "h3", "blockquote"}
_MAX_MAILS = 10
_MAX_CHARACTERS = 20_000
_SHOWN = ["From", "To", "Cc", "Subject", "Date"]


def encoded_mail(mail: Mail) -> str:
    """Return a plain-text mail in Gmail's encoding. Gmail adds the sender."""
    message = EmailMessage(policy=SMTP)
    message["To"] = ", ".join(mail.to)
    if mail.cc:
        message["Cc"] = ", ".join(mail.cc)
    message["Subject"] = mail.subject
    message.set_content(mail.text, cte="base64")
    return base64.urlsafe_b64encode(message.as_bytes()).decode()


def body_text(payload: dict[str, Any]) -> str:
    """Return the mail's text: the plain one if present, else that of the HTML."""
    parts = [part for part in _parts(payload) if not part.get("filename")]
    for kind in ("text/plain", "text/html"):
        found = [_decoded(part) for part in parts if part.get("mimeType") == kind]
        if any(found):
            whole = "\n".join(found)
            return _without_tags(whole) if kind == "text/html" else whole
    return ""


def attachment_names(payload: dict[str, Any]) -> list[str]:
    """Return the names of the attachments."""
    return [part["filename"] for part in _parts(payload) if part.get("filename")]


def _parts(part: dict[str, Any], depth: int = 0) -> Iterator[dict[str, Any]]:
    yield part
    if depth < 20:
        for each in part.get("parts", ()):
            yield from _parts(each, depth + 1)


def _decoded(part: dict[str, Any]) -> str:
    data = str(part.get("body", {}).get("data", ""))
    try:
        # Gmail sometimes omits the padding.
        return base64.urlsafe_b64decode(data + "=" * (-len(data) % 4)).decode(errors="replace")
    except (binascii.Error, ValueError):
        return ""


def _without_tags(html: str) -> str:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.read).split("\n"))
    return "\n".join(filter(None, lines))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []
        self._invisible = 0

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        self._invisible += tag in _INVISIBLE
        if tag in _BREAKS:
            self.read.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._invisible = max(0, self._invisible - (tag in _INVISIBLE))

    def handle_data(self, data: str) -> None:
        if not self._invisible:
            self.read.append(data)


class Gmail:
    """The readable mails of the person."""

    def __init__(self, google: Google) -> None:
        self._google = google

    def search_mail(self, query: str) -> dict[str, Any]:
        """Find mails, the newest first.

        Args:
            query: as in Gmail's search field, such as "from:aki newer_than:7d is:unread"; empty for the newest mails.
        """
        found = self._google.get(
            Api.GMAIL, "/messages", scope=READ_MAIL, q=plain_text.line(query), maxResults=_MAX_MAILS
        )
        return {"mails": [self._head(str(each["id"])) for each in found.get("messages", ())[:_MAX_MAILS]]}

    def read_mail(self, mail_id: str) -> dict[str, Any]:
        """Read one mail.

        Args:
            mail_id: as search_mail names it.
        """
        path = f"/messages/{identifier(mail_id)}"
        mail = self._google.get(Api.GMAIL, path, scope=READ_MAIL, format="full")
        payload = mail.get("payload", {})
        text = body_text(payload)
        return _shown(mail) | {
            "text": text[:_MAX_CHARACTERS],
            "is_cut": len(text) > _MAX_CHARACTERS,
            "attachments": attachment_names(payload),
        }

    def _head(self, mail_id: str) -> dict[str, Any]:
        path = f"/messages/{identifier(mail_id)}"
        mail = self._google.get(Api.GMAIL, path, scope=READ_MAIL, format="metadata", metadataHeaders=_SHOWN)
        return _shown(mail) | {"begins": mail.get("snippet", "")}


def _shown(mail: dict[str, Any]) -> dict[str, Any]:
    given = mail.get("payload", {}).get("headers", ())
    headers = {str(each.get("name", "")).lower(): str(each.get("value", "")) for each in given}
    return {"mail_id": mail.get("id")} | {name.lower(): headers.get(name.lower(), "") for name in _SHOWN}
