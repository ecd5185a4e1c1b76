"""A small Google Workspace: Drive v3, Docs v1, Gmail v1 and Calendar v3 on the wire, and who gives out tokens for them.

Each call needs a token with one of its scopes, as the REST references name them; what was done is in the lists of `Workspace`.
"""

import functools
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from local.cloud.signing import SigningKey
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.metadata_server import claims_of
from tests.fakes.workspace_mail import Mailbox

SCOPE = "https://www.googleapis.com/auth/"
OWNER = "hanako@example.com"
DOC = "application/vnd.google-apps.document"
Answer = tuple[int, Any]


@dataclass
class Hold:
    """A request that is not answered: `done` says whether it is done before its sender is gone."""

    ending: str
    done: bool
    reached: threading.Event = field(default_factory=threading.Event)


class Workspace:
    """The server of one person's Workspace. `scopes` are those that may be had; `disabled` APIs are told to be so."""

    def __init__(self) -> None:
        self.server = HttpServer(self._behave)
        self._lock = threading.Lock()
        self.empty()

    def empty(self) -> None:
        """There is nothing, and nothing was done."""
        self.files: dict[str, dict[str, Any]] = {}
        self.texts: dict[str, str] = {}
        self.mail = Mailbox()
        self.events: dict[str, dict[str, Any]] = {}
        self.invited: list[tuple[str, str]] = []
        self.busy: dict[str, list[tuple[str, str]]] = {}
        self.scopes: set[str] | None = None
        self.disabled: set[str] = set()
        self.faults: list[tuple[str, Answer | None]] = []
        self.hold: Hold | None = None
        self.subjects: set[str] = set()

    def key_file(self, folder: Path) -> Path:
        """The key of a service account, whose tokens come from here."""
        file = folder / "key.json"
        key = {
            "type": "service_account",
            "client_email": "workspace@my-hub-project.iam.gserviceaccount.com",
            "private_key_id": "1",
            "private_key": _private_key(),
            "token_uri": f"{self.server.url}/token",
            "project_id": "my-hub-project",
        }
        file.write_text(json.dumps(key))
        return file

    def add_file(self, file_id: str, name: str, text: str, kind: str = DOC, **more: Any) -> None:
        """A file in Drive."""
        self.files[file_id] = {"id": file_id, "name": name, "mimeType": kind, "revision": 1, **more}
        self.texts[file_id] = text

    def _behave(self, exchange: Exchange) -> None:
        received = exchange.received
        url = urlsplit(received.path)
        if url.path == "/token":
            exchange.json(*self._token(received.body))
            return
        hold = self.hold if self.hold and url.path.endswith(self.hold.ending) else None
        if hold:
            self.hold = None
        if not hold or hold.done:
            with self._lock:
                status, value = self._answer(exchange, url.path, parse_qs(url.query))
        if hold:
            hold.reached.set()
            exchange.wait_until_left()
        elif status == 0:
            exchange.reset()
        elif isinstance(value, str):
            exchange.answer(status, value.encode(), content_type="text/plain")
        else:
            exchange.json(value, status)

    def _token(self, body: bytes) -> tuple[Any, int]:
        claims = claims_of(parse_qs(body.decode())["assertion"][0])
        wanted = str(claims["scope"]).split()
        self.subjects.add(str(claims.get("sub", "")))
        allowed = None if self.scopes is None else {SCOPE + scope for scope in (*self.scopes, "cloud-platform")}
        if allowed is not None and not set(wanted) <= allowed:
            return {"error": "unauthorized_client", "error_description": "Client is unauthorized"}, 401
        return {"access_token": "ya29." + ".".join(wanted), "expires_in": 3600, "token_type": "Bearer"}, 200

    def _answer(self, exchange: Exchange, path: str, query: dict[str, list[str]]) -> Answer:
        received = exchange.received
        for operation in _OPERATIONS:
            found = re.fullmatch(operation.path, path)
            if found and received.method == operation.method:
                if operation.api in self.disabled:
                    return _error(403, "SERVICE_DISABLED", f"{operation.api} has not been used in project 1 before")
                token = received.headers.get("authorization", "").removeprefix("Bearer ya29.")
                if not any(SCOPE + scope == token for scope in operation.scopes):
                    return _error(403, "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "Request had insufficient scopes")
                for fault in self.faults:
                    if fault[0] in path:
                        self.faults.remove(fault)
                        if fault[1] is not None:
                            return fault[1]
                        operation.do(self, received.body, query, *map(unquote, found.groups()))
                        return 0, None
                return operation.do(self, received.body, query, *map(unquote, found.groups()))
        return _error(404, "notFound", f"nothing at {received.method} {path}")

    def list_files(self, _body: bytes, query: dict[str, list[str]]) -> Answer:
        """By words in names and texts, or by the mark of an app."""
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

    def get_file(self, _body: bytes, query: dict[str, list[str]], file_id: str) -> Answer:
        """Return what is known of a file, or its bytes."""
        if file_id not in self.files:
            return _error(404, "notFound", f"File not found: {file_id}.")
        return 200, self.texts[file_id] if query.get("alt") == ["media"] else self.files[file_id]

    def export_file(self, _body: bytes, query: dict[str, list[str]], file_id: str) -> Answer:
        """A Doc's text."""
        assert query["mimeType"] in (["text/markdown"], ["text/csv"], ["text/plain"])
        return 200, self.texts[file_id]

    def upload(self, body: bytes, _query: dict[str, list[str]]) -> Answer:
        """A file out of a multipart/related body."""
        parts = re.split(rb"\r?\n?--[^\r\n]+(?:\r\n|$)", body)
        head, text = (part.split(b"\r\n\r\n", 1)[1].decode() for part in parts if b"\r\n\r\n" in part)
        file_id = f"made-{len(self.files)}"
        self.add_file(file_id, text=text, kind=DOC, **_named(json.loads(head)))
        self.files[file_id]["webViewLink"] = f"https://docs.google.com/document/d/{file_id}/edit"
        return 200, self.files[file_id]

    def get_document(self, _body: bytes, _query: dict[str, list[str]], file_id: str) -> Answer:
        """A Doc's paragraphs."""
        if file_id not in self.files:
            return _error(404, "notFound", "Requested entity was not found.")
        lines = (self.texts[file_id] + "\n").splitlines(keepends=True)
        content = [{"paragraph": {"elements": [{"textRun": {"content": line}}]}} for line in lines]
        file = self.files[file_id]
        revision = f"revision-{file['revision']}"
        return 200, {"title": file["name"], "revisionId": revision, "body": {"content": content}}

    def update_document(self, body: bytes, _query: dict[str, list[str]], file_id: str) -> Answer:
        """A text at a Doc's end, unless the Doc has changed."""
        asked, file = json.loads(body), self.files[file_id]
        if asked["writeControl"]["requiredRevisionId"] != f"revision-{file['revision']}":
            return _error(400, "FAILED_PRECONDITION", "The required revision ID does not match")
        (request,) = asked["requests"]
        assert request["insertText"]["endOfSegmentLocation"] == {}
        self.texts[file_id] += request["insertText"]["text"]
        file["revision"] += 1
        return 200, {"documentId": file_id}

    def list_events(self, _body: bytes, query: dict[str, list[str]]) -> Answer:
        """Those that begin in a span of time."""
        first, last = query["timeMin"][0], query["timeMax"][0]
        within = [event for event in self.events.values() if first <= event["start"]["dateTime"] < last]
        return 200, {"items": within, "timeZone": "Asia/Tokyo"}

    def get_event(self, _body: bytes, _query: dict[str, list[str]], event_id: str) -> Answer:
        """One event."""
        known = self.events.get(event_id)
        return (200, known) if known else _error(404, "notFound", "Not Found")

    def insert_event(self, body: bytes, query: dict[str, list[str]]) -> Answer:
        """A new event, and who is told of it."""
        event = json.loads(body)
        assert re.fullmatch("[a-v0-9]{5,1024}", event["id"])
        if event["id"] in self.events:
            return _error(409, "duplicate", "The requested identifier already exists.")
        self.events[event["id"]] = event
        if query.get("sendUpdates") == ["all"]:
            self.invited += [(guest["email"], event["summary"]) for guest in event["attendees"]]
        return 200, event

    def free_busy(self, body: bytes, _query: dict[str, list[str]]) -> Answer:
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
class Operation:
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
_READ_EVENTS = ("calendar.events.readonly", "calendar.events")
_OPERATIONS = (
    Operation("drive", "GET", _DRIVE, ("drive.readonly", "drive.file"), Workspace.list_files),
    Operation("drive", "GET", f"{_DRIVE}/([^/]+)", ("drive.readonly",), Workspace.get_file),
    Operation("drive", "GET", f"{_DRIVE}/([^/]+)/export", ("drive.readonly",), Workspace.export_file),
    Operation("drive", "POST", f"/upload{_DRIVE}", ("drive.file",), Workspace.upload),
    Operation("docs", "GET", _DOC, ("documents", "drive.readonly"), Workspace.get_document),
    Operation("docs", "POST", f"{_DOC}:batchUpdate", ("documents",), Workspace.update_document),
    Operation("gmail", "GET", f"{_MAIL}/messages", _READ_MAIL, _mailbox("search")),
    Operation("gmail", "GET", f"{_MAIL}/messages/([^/]+)", _READ_MAIL, _mailbox("get")),
    Operation("gmail", "GET", f"{_MAIL}/threads/([^/]+)", _READ_MAIL, _mailbox("thread")),
    Operation("gmail", "POST", f"{_MAIL}/drafts", _COMPOSE, _mailbox("draft")),
    Operation("gmail", "POST", f"{_MAIL}/drafts/send", _COMPOSE, _mailbox("send")),
    Operation("calendar", "GET", _EVENTS, _READ_EVENTS, Workspace.list_events),
    Operation("calendar", "GET", f"{_EVENTS}/([^/]+)", _READ_EVENTS, Workspace.get_event),
    Operation("calendar", "POST", _EVENTS, ("calendar.events",), Workspace.insert_event),
    Operation("calendar", "POST", "/calendar/v3/freeBusy", ("calendar.freebusy",), Workspace.free_busy),
)


def _error(status: int, reason: str, message: str) -> Answer:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}]
    errors = [{"domain": "global", "reason": reason, "message": message}]
    return status, {"error": {"code": status, "message": message, "errors": errors, "details": details}}


def _named(metadata: dict[str, Any]) -> dict[str, Any]:
    return {"name": metadata["name"], "appProperties": metadata["appProperties"]}
