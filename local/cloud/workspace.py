"""One person's Google Workspace: Drive v3, Docs v1, Gmail v1 and Calendar v3 on the wire, and the tokens for them."""

import base64
import functools
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from a2a_hub.http.messages import Request, Response
from local.cloud.accounts import Accounts, SigningKey
from local.cloud.google_api import GoogleApi
from local.cloud.program import json_response

SCOPE = "https://www.googleapis.com/auth/"
OWNER = "hanako@example.com"
ACCOUNT = "workspace@my-hub-project.iam.gserviceaccount.com"
DOC = "application/vnd.google-apps.document"
DISABLED = "disable-api"
Answer = tuple[int, Any]
Query = dict[str, list[str]]


def write_key(file: Path, *, url: str) -> Path:
    """Write the key of a service account whose tokens come from the Workspace at `url`."""
    key = {
        "type": "service_account",
        "client_email": ACCOUNT,
        "private_key_id": "1",
        "private_key": _private_key(),
        "token_uri": f"{url}/token",
        "project_id": "my-hub-project",
    }
    file.write_text(json.dumps(key))
    return file


class Mailbox:
    """A mailbox as Gmail's API shows it. A draft is gone when it is sent, and a message with the label SENT is in its thread."""

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

    def search(self, _body: bytes, query: Query) -> Answer:
        """Return the mails that have the words."""
        words = query.get("q", [""])[0]
        found = [
            {"id": mail_id, "threadId": mail_id}
            for mail_id, mail in self.received.items()
            if words in json.dumps(mail, ensure_ascii=False)
        ]
        return 200, {"messages": found, "resultSizeEstimate": len(found)} if found else {"resultSizeEstimate": 0}

    def get(self, _body: bytes, _query: Query, mail_id: str) -> Answer:
        """Return one mail."""
        return (200, self.received[mail_id]) if mail_id in self.received else _not_found()

    def thread(self, _body: bytes, _query: Query, thread_id: str) -> Answer:
        """Return the labels of a thread's messages."""
        if thread_id not in self.threads:
            return _not_found()
        return 200, {"messages": [{"labelIds": [label]} for label in self.threads[thread_id]]}

    def draft(self, body: bytes, _query: Query) -> Answer:
        """Add a draft, in a thread of its own."""
        number = len(self._thread_of) + 1
        draft_id, thread_id = f"r-{number}", f"18c{number}"
        self.drafts[draft_id] = _mail(json.loads(body)["message"])
        self._thread_of[draft_id], self.threads[thread_id] = thread_id, ["DRAFT"]
        return 200, {
            "id": draft_id,
            "message": {"id": thread_id, "threadId": thread_id, "labelIds": ["DRAFT"]},
        }

    def send(self, body: bytes, _query: Query) -> Answer:
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


class Workspace(GoogleApi):
    """The Workspace of OWNER. `scopes` are those that may be had. Thread-safe."""

    known_faults: Mapping[str, str] = {DISABLED: "the `api` (drive, docs, gmail or calendar) is not enabled"}

    def __init__(self, accounts: Accounts) -> None:
        super().__init__(accounts=accounts)
        self._lock = threading.Lock()
        self.empty()

    def empty(self) -> None:
        """Forget everything, also what was done."""
        self.files: dict[str, dict[str, Any]] = {}
        self.texts: dict[str, str] = {}
        self.mail = Mailbox()
        self.events: dict[str, dict[str, Any]] = {}
        self.invited: list[tuple[str, str]] = []
        self.busy: dict[str, list[tuple[str, str]]] = {}
        self.scopes: set[str] | None = None
        self.subjects: set[str] = set()
        self.faults.switch_off(DISABLED)

    def fill(self) -> None:
        """Add a few files and mails, and an event of tomorrow, to try a worker with."""
        self.add_file("minutes", "Minutes of the release meeting", "Decided: version 2 is released on 1 December.")
        self.add_file("budget", "予算メモ", "来年度の研修予算は120万円です。")
        self.mail.add(
            "m-1", "Aki <aki@example.com>", "Minutes", "Could you send me the minutes of the release meeting?"
        )
        day = (datetime.now(UTC) + timedelta(days=1)).date()
        start, end = ({"dateTime": f"{day}T{hour}:00:00Z"} for hour in ("01", "02"))
        self.events["review"] = {"id": "review", "summary": "Design review", "start": start, "end": end}
        self.busy[OWNER] = [(start["dateTime"], end["dateTime"])]

    def add_file(self, file_id: str, name: str, text: str, kind: str = DOC, **more: Any) -> None:
        """Add a file to Drive."""
        self.files[file_id] = {"id": file_id, "name": name, "mimeType": kind, "revision": 1, **more}
        self.texts[file_id] = text

    def reply(self, method: str, target: str, authorization: str, body: bytes) -> Answer:
        """Return the status and the value of one answer."""
        url = urlsplit(target)
        if url.path == "/token":
            return self._token(body)
        for operation in _OPERATIONS:
            found = re.fullmatch(operation.path, url.path)
            if found and method == operation.method:
                if operation.api == (self.faults.parameters(DISABLED) or {}).get("api"):
                    return _error(403, "SERVICE_DISABLED", f"{operation.api} has not been used in project 1 before")
                token = authorization.removeprefix("Bearer ya29.")
                if not any(SCOPE + scope == token for scope in operation.scopes):
                    return _error(403, "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "Request had insufficient scopes")
                return operation.do(self, body, parse_qs(url.query), *map(unquote, found.groups()))
        return _error(404, "notFound", f"nothing at {method} {url.path}")

    def _answer(self, request: Request) -> Response:
        body = request.read_body(64 << 20) or b""
        with self._lock:
            target = request.target or request.path
            status, value = self.reply(request.method, target, request.headers.get("authorization", ""), body)
        if isinstance(value, str):
            return Response(status=status, headers={"content-type": "text/plain"}, body=value.encode())
        return json_response(value, status=status)

    def _token(self, body: bytes) -> Answer:
        payload = parse_qs(body.decode())["assertion"][0].split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
        wanted = str(claims["scope"]).split()
        self.subjects.add(str(claims.get("sub", "")))
        if self.scopes is not None and not set(wanted) <= {SCOPE + each for each in (*self.scopes, "cloud-platform")}:
            return 401, {"error": "unauthorized_client", "error_description": "Client is unauthorized"}
        token = "ya29." + ".".join(wanted)
        self._accounts.issue(token, email=claims["iss"], lifetime_seconds=3600)
        return 200, {"access_token": token, "expires_in": 3600, "token_type": "Bearer"}

    def list_files(self, _body: bytes, query: Query) -> Answer:
        """Find files by words in names and texts, or by the mark of an app."""
        asked = query["q"][0]
        words = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"contains '((?:[^'\\]|\\.)*)'", asked)]
        if words and "orderBy" in query:
            return _error(403, "forbidden", "Sorting is not supported for queries with fullText terms")
        mark = re.search(r"key='(\w+)' and value='([^']*)' } and name = '((?:[^'\\]|\\.)*)'", asked)
        if mark:
            name = re.sub(r"\\(.)", r"\1", mark[3])
            found = [
                file
                for file in self.files.values()
                if file.get("appProperties", {}).get(mark[1]) == mark[2] and file["name"] == name
            ]
        else:
            found = [
                file
                for file_id, file in self.files.items()
                if not words or words[0] in file["name"] or words[0] in self.texts[file_id]
            ]
        return 200, {"files": found}

    def get_file(self, _body: bytes, query: Query, file_id: str) -> Answer:
        """Return a file's metadata, or its bytes."""
        if file_id not in self.files:
            return _error(404, "notFound", f"File not found: {file_id}.")
        return 200, self.texts[file_id] if query.get("alt") == ["media"] else self.files[file_id]

    def export_file(self, _body: bytes, query: Query, file_id: str) -> Answer:
        """Return a Doc's text."""
        assert query["mimeType"] in (["text/markdown"], ["text/csv"], ["text/plain"])
        return 200, self.texts[file_id]

    def upload(self, body: bytes, _query: Query) -> Answer:
        """Make a file out of a multipart/related body."""
        parts = re.split(rb"\r?\n?--[^\r\n]+(?:\r\n|$)", body)
        head, text = (part.split(b"\r\n\r\n", 1)[1].decode() for part in parts if b"\r\n\r\n" in part)
        file_id, metadata = f"made-{len(self.files)}", json.loads(head)
        named = {name: metadata[name] for name in ("name", "appProperties")}
        link = f"https://docs.google.com/document/d/{file_id}/edit"
        self.add_file(file_id, text=text, kind=DOC, **named, webViewLink=link)
        return 200, self.files[file_id]

    def get_document(self, _body: bytes, _query: Query, file_id: str) -> Answer:
        """Return a Doc's paragraphs."""
        if file_id not in self.files:
            return _not_found()
        lines = (self.texts[file_id] + "\n").splitlines(keepends=True)
        content = [{"paragraph": {"elements": [{"textRun": {"content": line}}]}} for line in lines]
        file = self.files[file_id]
        revision = f"revision-{file['revision']}"
        return 200, {"title": file["name"], "revisionId": revision, "body": {"content": content}}

    def update_document(self, body: bytes, _query: Query, file_id: str) -> Answer:
        """Add a text to a Doc's end, unless the Doc has changed."""
        asked, file = json.loads(body), self.files[file_id]
        if asked["writeControl"]["requiredRevisionId"] != f"revision-{file['revision']}":
            return _error(400, "FAILED_PRECONDITION", "The required revision ID does not match")
        (request,) = asked["requests"]
        assert request["insertText"]["endOfSegmentLocation"] == {}
        self.texts[file_id] += request["insertText"]["text"]
        file["revision"] += 1
        return 200, {"documentId": file_id}

    def list_events(self, _body: bytes, query: Query) -> Answer:
        """Return the events that begin in a span of time."""
        first, last = (_moment(query[name][0]) for name in ("timeMin", "timeMax"))
        within = [event for event in self.events.values() if first <= _moment(event["start"]["dateTime"]) < last]
        return 200, {"items": within, "timeZone": "Asia/Tokyo"}

    def insert_event(self, body: bytes, query: Query) -> Answer:
        """Make an event, and note who is told of it."""
        event = json.loads(body)
        assert re.fullmatch("[a-v0-9]{5,1024}", event["id"])
        if event["id"] in self.events:
            return _error(409, "duplicate", "The requested identifier already exists.")
        self.events[event["id"]] = event
        if query.get("sendUpdates") == ["all"]:
            self.invited += [(guest["email"], event["summary"]) for guest in event["attendees"]]
        return 200, event

    def free_busy(self, body: bytes, _query: Query) -> Answer:
        """Return when each is busy."""
        ids = [item["id"] for item in json.loads(body)["items"]]
        unknown = {"errors": [{"domain": "global", "reason": "notFound"}], "busy": []}
        return 200, {
            "calendars": {
                each: {"busy": [{"start": start, "end": end} for start, end in self.busy[each]]}
                if each in self.busy
                else unknown
                for each in ids
            }
        }


@dataclass(frozen=True)
class _Operation:
    """A call of an API, and the scopes of which one is enough."""

    api: str
    method: str
    path: str
    scopes: tuple[str, ...]
    do: Callable[..., Answer]


@functools.cache
def _private_key() -> str:
    return SigningKey().private_pem()


def _mailbox(name: str) -> Callable[..., Answer]:
    return lambda workspace, *arguments: getattr(workspace.mail, name)(*arguments)


_DRIVE, _DOC = "/drive/v3/files", "/v1/documents/([^/:]+)"
_MAIL, _EVENTS = "/gmail/v1/users/me", "/calendar/v3/calendars/primary/events"
_READ_MAIL, _COMPOSE = ("gmail.readonly",), ("gmail.compose",)
_OPERATIONS = (
    _Operation("drive", "GET", _DRIVE, ("drive.readonly", "drive.file"), Workspace.list_files),
    _Operation("drive", "GET", f"{_DRIVE}/([^/]+)", ("drive.readonly",), Workspace.get_file),
    _Operation("drive", "GET", f"{_DRIVE}/([^/]+)/export", ("drive.readonly",), Workspace.export_file),
    _Operation("drive", "POST", f"/upload{_DRIVE}", ("drive.file",), Workspace.upload),
    _Operation("docs", "GET", _DOC, ("documents", "drive.readonly"), Workspace.get_document),
    _Operation("docs", "POST", f"{_DOC}:batchUpdate", ("documents",), Workspace.update_document),
    _Operation("gmail", "GET", f"{_MAIL}/messages", _READ_MAIL, _mailbox("search")),
    _Operation("gmail", "GET", f"{_MAIL}/messages/([^/]+)", _READ_MAIL, _mailbox("get")),
    _Operation("gmail", "GET", f"{_MAIL}/threads/([^/]+)", _READ_MAIL, _mailbox("thread")),
    _Operation("gmail", "POST", f"{_MAIL}/drafts", _COMPOSE, _mailbox("draft")),
    _Operation("gmail", "POST", f"{_MAIL}/drafts/send", _COMPOSE, _mailbox("send")),
    _Operation("calendar", "GET", _EVENTS, ("calendar.events.readonly", "calendar.events"), Workspace.list_events),
    _Operation("calendar", "POST", _EVENTS, ("calendar.events",), Workspace.insert_event),
    _Operation("calendar", "POST", "/calendar/v3/freeBusy", ("calendar.freebusy",), Workspace.free_busy),
)


def _mail(message: dict[str, Any]) -> EmailMessage:
    mail = message_from_bytes(base64.urlsafe_b64decode(message["raw"]), policy=default)
    assert isinstance(mail, EmailMessage)
    return mail


def _not_found() -> Answer:
    return _error(404, "notFound", "Requested entity was not found.")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _error(status: int, reason: str, message: str) -> Answer:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}]
    errors = [{"domain": "global", "reason": reason, "message": message}]
    return status, {"error": {"code": status, "message": message, "errors": errors, "details": details}}
