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


@dataclass(frozen=True)
class _Asked:
    """The body and the query of one request."""

    body: bytes
    query: dict[str, list[str]]

    @property
    def value(self) -> Any:
        return json.loads(self.body)


class _Refused(Exception):
    """An error, as these APIs write it."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}]
        errors = [{"domain": "global", "reason": reason, "message": message}]
        error = {"code": status, "message": message, "errors": errors, "details": details}
        self.answer: Answer = status, {"error": error}


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


@dataclass(frozen=True)
class _Operation:
    """A call of an API, and the scopes of which one is enough."""

    api: str
    method: str
    path: str
    scopes: tuple[str, ...]
    do: Callable[..., Any]


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

    def _search(self, asked: _Asked) -> Any:
        words = asked.query.get("q", [""])[0]
        found = [
            {"id": mail_id, "threadId": mail_id}
            for mail_id, mail in self.received.items()
            if words in json.dumps(mail, ensure_ascii=False)
        ]
        return {"messages": found, "resultSizeEstimate": len(found)} if found else {"resultSizeEstimate": 0}

    def _get(self, _: _Asked, mail_id: str) -> Any:
        return _found(self.received, mail_id)

    def _thread(self, _: _Asked, thread_id: str) -> Any:
        return {"messages": [{"labelIds": [label]} for label in _found(self.threads, thread_id)]}

    def _draft(self, asked: _Asked) -> Any:
        """Add a draft, in a thread of its own."""
        number = len(self._thread_of) + 1
        draft_id, thread_id = f"r-{number}", f"18c{number}"
        self.drafts[draft_id] = _mail(asked.value["message"])
        self._thread_of[draft_id], self.threads[thread_id] = thread_id, ["DRAFT"]
        return {"id": draft_id, "message": {"id": thread_id, "threadId": thread_id, "labelIds": ["DRAFT"]}}

    def _send(self, asked: _Asked) -> Any:
        """Send the draft as the request has it; it is gone then."""
        draft_id = asked.value["id"]
        _found(self.drafts, draft_id)
        del self.drafts[draft_id]
        self.sent.append(_mail(asked.value["message"]))
        thread_id = self._thread_of[draft_id]
        self.threads[thread_id] = ["SENT"]
        return {"id": "sent", "threadId": thread_id, "labelIds": ["SENT"]}

    def remove(self, draft_id: str) -> None:
        """Delete a draft, as the person may."""
        del self.drafts[draft_id]
        del self.threads[self._thread_of[draft_id]]


class Workspace(GoogleApi):
    """The Workspace of OWNER. `scopes` are those that may be had. Thread-safe."""

    faults_of = "workspace"

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
        try:
            if url.path == "/token":
                return self._token(body)
            for operation in _OPERATIONS:
                found = re.fullmatch(operation.path, url.path)
                if found and method == operation.method:
                    self._require(operation, authorization.removeprefix("Bearer ya29."))
                    asked = _Asked(body, parse_qs(url.query))
                    return 200, operation.do(self, asked, *map(unquote, found.groups()))
            raise _Refused(404, "notFound", f"nothing at {method} {url.path}")
        except _Refused as refused:
            return refused.answer

    def _require(self, operation: _Operation, token: str) -> None:
        if operation.api == (self.faults.parameters(DISABLED) or {}).get("api"):
            raise _Refused(403, "SERVICE_DISABLED", f"{operation.api} has not been used in project 1 before")
        if not any(SCOPE + scope == token for scope in operation.scopes):
            raise _Refused(403, "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "Request had insufficient scopes")

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

    def _list_files(self, asked: _Asked) -> Any:
        """Find files by words in names and texts, or by the mark of an app."""
        wanted = asked.query["q"][0]
        words = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"contains '((?:[^'\\]|\\.)*)'", wanted)]
        if words and "orderBy" in asked.query:
            raise _Refused(403, "forbidden", "Sorting is not supported for queries with fullText terms")
        mark = re.search(r"key='(\w+)' and value='([^']*)' } and name = '((?:[^'\\]|\\.)*)'", wanted)
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
        return {"files": found}

    def _get_file(self, asked: _Asked, file_id: str) -> Any:
        """Return a file's metadata, or its bytes."""
        if file_id not in self.files:
            raise _Refused(404, "notFound", f"File not found: {file_id}.")
        return self.texts[file_id] if asked.query.get("alt") == ["media"] else self.files[file_id]

    def _export_file(self, asked: _Asked, file_id: str) -> Any:
        assert asked.query["mimeType"] in (["text/markdown"], ["text/csv"], ["text/plain"])
        return self.texts[file_id]

    def _upload(self, asked: _Asked) -> Any:
        """Make a file out of a multipart/related body."""
        parts = re.split(rb"\r?\n?--[^\r\n]+(?:\r\n|$)", asked.body)
        head, text = (part.split(b"\r\n\r\n", 1)[1].decode() for part in parts if b"\r\n\r\n" in part)
        file_id, metadata = f"made-{len(self.files)}", json.loads(head)
        named = {name: metadata[name] for name in ("name", "appProperties")}
        link = f"https://docs.google.com/document/d/{file_id}/edit"
        self.add_file(file_id, text=text, kind=DOC, **named, webViewLink=link)
        return self.files[file_id]

    def _get_document(self, _: _Asked, file_id: str) -> Any:
        file = _found(self.files, file_id)
        lines = (self.texts[file_id] + "\n").splitlines(keepends=True)
        content = [{"paragraph": {"elements": [{"textRun": {"content": line}}]}} for line in lines]
        revision = f"revision-{file['revision']}"
        return {"title": file["name"], "revisionId": revision, "body": {"content": content}}

    def _update_document(self, asked: _Asked, file_id: str) -> Any:
        """Add a text to a Doc's end, unless the Doc has changed."""
        value, file = asked.value, self.files[file_id]
        if value["writeControl"]["requiredRevisionId"] != f"revision-{file['revision']}":
            raise _Refused(400, "FAILED_PRECONDITION", "The required revision ID does not match")
        (request,) = value["requests"]
        assert request["insertText"]["endOfSegmentLocation"] == {}
        self.texts[file_id] += request["insertText"]["text"]
        file["revision"] += 1
        return {"documentId": file_id}

    def _list_events(self, asked: _Asked) -> Any:
        """Return the events that begin in a span of time."""
        first, last = (datetime.fromisoformat(asked.query[name][0]) for name in ("timeMin", "timeMax"))
        events = self.events.values()
        within = [each for each in events if first <= datetime.fromisoformat(each["start"]["dateTime"]) < last]
        return {"items": within, "timeZone": "Asia/Tokyo"}

    def _insert_event(self, asked: _Asked) -> Any:
        """Make an event, and note who is told of it."""
        event = asked.value
        assert re.fullmatch("[a-v0-9]{5,1024}", event["id"])
        if event["id"] in self.events:
            raise _Refused(409, "duplicate", "The requested identifier already exists.")
        self.events[event["id"]] = event
        if asked.query.get("sendUpdates") == ["all"]:
            self.invited += [(guest["email"], event["summary"]) for guest in event["attendees"]]
        return event

    def _free_busy(self, asked: _Asked) -> Any:
        return {"calendars": {each["id"]: self._busy(each["id"]) for each in asked.value["items"]}}

    def _busy(self, person: str) -> Any:
        if person not in self.busy:
            return {"errors": [{"domain": "global", "reason": "notFound"}], "busy": []}
        return {"busy": [{"start": start, "end": end} for start, end in self.busy[person]]}


@functools.cache
def _private_key() -> str:
    return SigningKey().private_pem()


def _of_mail(do: Callable[..., Any]) -> Callable[..., Any]:
    return lambda workspace, *arguments: do(workspace.mail, *arguments)


_DRIVE, _DOC = "/drive/v3/files", "/v1/documents/([^/:]+)"
_MAIL, _EVENTS = "/gmail/v1/users/me", "/calendar/v3/calendars/primary/events"
_READ_MAIL, _COMPOSE = ("gmail.readonly",), ("gmail.compose",)
_OPERATIONS = (
    _Operation("drive", "GET", _DRIVE, ("drive.readonly", "drive.file"), Workspace._list_files),
    _Operation("drive", "GET", f"{_DRIVE}/([^/]+)", ("drive.readonly",), Workspace._get_file),
    _Operation("drive", "GET", f"{_DRIVE}/([^/]+)/export", ("drive.readonly",), Workspace._export_file),
    _Operation("drive", "POST", f"/upload{_DRIVE}", ("drive.file",), Workspace._upload),
    _Operation("docs", "GET", _DOC, ("documents", "drive.readonly"), Workspace._get_document),
    _Operation("docs", "POST", f"{_DOC}:batchUpdate", ("documents",), Workspace._update_document),
    _Operation("gmail", "GET", f"{_MAIL}/messages", _READ_MAIL, _of_mail(Mailbox._search)),
    _Operation("gmail", "GET", f"{_MAIL}/messages/([^/]+)", _READ_MAIL, _of_mail(Mailbox._get)),
    _Operation("gmail", "GET", f"{_MAIL}/threads/([^/]+)", _READ_MAIL, _of_mail(Mailbox._thread)),
    _Operation("gmail", "POST", f"{_MAIL}/drafts", _COMPOSE, _of_mail(Mailbox._draft)),
    _Operation("gmail", "POST", f"{_MAIL}/drafts/send", _COMPOSE, _of_mail(Mailbox._send)),
    _Operation("calendar", "GET", _EVENTS, ("calendar.events.readonly", "calendar.events"), Workspace._list_events),
    _Operation("calendar", "POST", _EVENTS, ("calendar.events",), Workspace._insert_event),
    _Operation("calendar", "POST", "/calendar/v3/freeBusy", ("calendar.freebusy",), Workspace._free_busy),
)


def _mail(message: dict[str, Any]) -> EmailMessage:
    mail = message_from_bytes(base64.urlsafe_b64decode(message["raw"]), policy=default)
    assert isinstance(mail, EmailMessage)
    return mail


def _found(things: Mapping[str, Any], key: str) -> Any:
    if key not in things:
        raise _Refused(404, "notFound", "Requested entity was not found.")
    return things[key]
