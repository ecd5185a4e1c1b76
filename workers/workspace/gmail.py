"""The person's mails."""

from typing import Any

from workers.workspace import mail_text, plain
from workers.workspace.drive import identifier
from workers.workspace.google import Api, Google
from workers.workspace.scopes import READ_MAIL

_MOST_MAILS = 10
_MOST_CHARACTERS = 20_000
_SHOWN = ["From", "To", "Cc", "Subject", "Date"]


class Gmail:
    """What may be read."""

    def __init__(self, google: Google) -> None:
        self._google = google

    def search_mail(self, query: str) -> dict[str, Any]:
        """Finds mails, the newest first.

        Args:
            query: as in Gmail's search field, such as "from:aki newer_than:7d is:unread"; empty for the newest mails.
        """
        found = self._google.get(
            Api.GMAIL, "/messages", scope=READ_MAIL, q=plain.line(query), maxResults=_MOST_MAILS
        )
        return {"mails": [self._head(str(each["id"])) for each in found.get("messages", ())[:_MOST_MAILS]]}

    def read_mail(self, mail_id: str) -> dict[str, Any]:
        """Reads one mail.

        Args:
            mail_id: as search_mail names it.
        """
        path = f"/messages/{identifier(mail_id)}"
        mail = self._google.get(Api.GMAIL, path, scope=READ_MAIL, format="full")
        payload = mail.get("payload", {})
        text = mail_text.text(payload)
        return _shown(mail) | {
            "text": text[:_MOST_CHARACTERS],
            "is_cut": len(text) > _MOST_CHARACTERS,
            "attachments": mail_text.attachments(payload),
        }

    def _head(self, mail_id: str) -> dict[str, Any]:
        path = f"/messages/{identifier(mail_id)}"
        mail = self._google.get(Api.GMAIL, path, scope=READ_MAIL, format="metadata", metadataHeaders=_SHOWN)
        return _shown(mail) | {"begins": mail.get("snippet", "")}


def _shown(mail: dict[str, Any]) -> dict[str, Any]:
    headers = mail_text.headers(mail.get("payload", {}))
    return {"mail_id": mail.get("id")} | {name.lower(): headers.get(name.lower(), "") for name in _SHOWN}
