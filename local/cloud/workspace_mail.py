"""A mailbox as Gmail's API shows it. A draft is gone when it is sent, and a message with the label SENT is in its thread."""

import base64
import json
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

Answer = tuple[int, Any]


class Mailbox:
    """`sent` are the mails that were sent, `drafts` those that were not."""

    def __init__(self) -> None:
        self.received: dict[str, dict[str, Any]] = {}
        self.drafts: dict[str, EmailMessage] = {}
        self.sent: list[EmailMessage] = []
        self.threads: dict[str, list[str]] = {}
        self._thread_of: dict[str, str] = {}

    def add(self, mail_id: str, sender: str, subject: str, text: str, kind: str = "text/plain") -> None:
        """Add a mail that has come in."""
        headers = {
            "From": sender,
            "To": "hanako@example.com",
            "Subject": subject,
            "Date": "Mon, 23 Nov 2026 09:00",
        }
        data = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
        self.received[mail_id] = {
            "id": mail_id,
            "snippet": text[:20],
            "payload": {
                "mimeType": "multipart/mixed",
                "headers": [{"name": name, "value": value} for name, value in headers.items()],
                "parts": [{"mimeType": kind, "body": {"data": data}}],
            },
        }

    def search(self, _body: bytes, query: dict[str, list[str]]) -> Answer:
        """Return the mails that have the words."""
        words = query.get("q", [""])[0]
        found = [
            {"id": mail_id, "threadId": mail_id}
            for mail_id, mail in self.received.items()
            if words in json.dumps(mail, ensure_ascii=False)
        ]
        return 200, {"messages": found, "resultSizeEstimate": len(found)} if found else {"resultSizeEstimate": 0}

    def get(self, _body: bytes, _query: dict[str, list[str]], mail_id: str) -> Answer:
        """Return one mail."""
        return (200, self.received[mail_id]) if mail_id in self.received else _not_found()

    def thread(self, _body: bytes, _query: dict[str, list[str]], thread_id: str) -> Answer:
        """Return the labels of a thread's messages."""
        if thread_id not in self.threads:
            return _not_found()
        return 200, {"messages": [{"labelIds": [label]} for label in self.threads[thread_id]]}

    def draft(self, body: bytes, _query: dict[str, list[str]]) -> Answer:
        """Add a draft, in a thread of its own."""
        number = len(self._thread_of) + 1
        draft_id, thread_id = f"r-{number}", f"18c{number}"
        self.drafts[draft_id] = _mail(json.loads(body)["message"])
        self._thread_of[draft_id], self.threads[thread_id] = thread_id, ["DRAFT"]
        return 200, {
            "id": draft_id,
            "message": {"id": thread_id, "threadId": thread_id, "labelIds": ["DRAFT"]},
        }

    def send(self, body: bytes, _query: dict[str, list[str]]) -> Answer:
        """Send the draft as the request has it; it is gone then."""
        asked = json.loads(body)
        if asked["id"] not in self.drafts:
            return _not_found()
        del self.drafts[asked["id"]]
        self.sent.append(_mail(asked["message"]))
        thread_id = self._thread_of[asked["id"]]
        self.threads[thread_id] = ["SENT"]
        return 200, {"id": "sent", "threadId": thread_id, "labelIds": ["SENT"]}

    def remove(self, draft_id: str) -> None:
        """Delete a draft, as the person may."""
        del self.drafts[draft_id]
        del self.threads[self._thread_of[draft_id]]


def _mail(message: dict[str, Any]) -> EmailMessage:
    mail = message_from_bytes(base64.urlsafe_b64decode(message["raw"]), policy=default)
    assert isinstance(mail, EmailMessage)
    return mail


def _not_found() -> Answer:
    return 404, {"error": {"code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND"}}
