"""Uploads and errors of the Cloud Storage stand-in."""

import json
import re
import secrets
import threading
from dataclasses import dataclass, field
from typing import Any

from a2a_hub.http.messages import Request, Response
from local.cloud.program import json_response

_REASONS = {
    400: "invalid",
    401: "required",
    403: "forbidden",
    404: "notFound",
    409: "conflict",
    412: "conditionNotMet",
    416: "requestedRangeNotSatisfiable",
    429: "rateLimitExceeded",
    503: "backendError",
}
LONGEST_BODY = 256 << 20
_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")


class StorageError(Exception):
    """A request that the API refuses."""

    def __init__(self, status: int, message: str, *, reason: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason = reason or _REASONS[status]


def response(error: StorageError, *, is_media: bool) -> Response:
    """Return the error as an answer; plain text if the request was for content."""
    headers = {"www-authenticate": 'Bearer realm="https://accounts.google.com/"'} if error.status == 401 else {}
    if is_media:
        headers["content-type"] = "text/html; charset=UTF-8"
        return Response(status=error.status, headers=headers, body=error.message.encode())
    detail = {"message": error.message, "domain": "global", "reason": error.reason}
    body = {"error": {"code": error.status, "message": error.message, "errors": [detail]}}
    return json_response(body, status=error.status, headers=headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """An object that arrived completely. `precondition` is the generation that it may replace, 0 being none."""

    name: str
    content: bytes
    content_type: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    precondition: int | None = None


@dataclass(kw_only=True)
class _Session:
    name: str
    resource: dict[str, Any]
    content_type: str | None
    precondition: int | None
    content: bytearray = field(default_factory=bytearray)


class Uploads:
    """The uploads that are under way. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[str, _Session] = {}

    def start(self, request: Request, *, url: str) -> Upload | Response:
        """Answer POST: store a complete upload, or say where the pieces go. Raises StorageError."""
        kind, generation = request.parameter("uploadType"), request.parameter("ifGenerationMatch")
        precondition = int(generation) if generation else None
        body = request.read_body(LONGEST_BODY) or b""
        match kind:
            case "media":
                name = _named({}, request)
                return Upload(name=name, content=body, content_type=request.media_type, precondition=precondition)
            case "multipart":
                resource, content_type, content = _parts(request, body)
                return _complete(_named(resource, request), resource, content_type, content, precondition)
            case "resumable":
                resource = json.loads(body or b"{}")
                session = _Session(
                    name=_named(resource, request),
                    resource=resource,
                    content_type=request.headers.get("x-upload-content-type"),
                    precondition=precondition,
                )
                key = secrets.token_urlsafe(16)
                with self._lock:
                    self._sessions[key] = session
                location = f"{url}?uploadType=resumable&upload_id={key}"
                return Response(headers={"location": location, "x-guploader-uploadid": key})
            case _:
                raise StorageError(400, f"Unknown upload type {kind}.")

    def resume(self, request: Request) -> Upload | Response:
        """Answer PUT: take a piece of an upload; a 308 reports the size so far. Raises StorageError."""
        key = request.parameter("upload_id") or ""
        with self._lock:
            session = self._sessions.get(key)
            if session is None:
                raise StorageError(404, "The upload session does not exist.")
            body = request.read_body(LONGEST_BODY) or b""
            match = _RANGE.fullmatch(request.headers.get("content-range", f"bytes 0-{len(body)}/*"))
            if match is None:
                raise StorageError(400, "Invalid Content-Range.")
            if match[1] is not None:
                if int(match[1]) > len(session.content):
                    raise StorageError(503, "A piece before this one is missing.")
                session.content[int(match[1]) :] = body
            whole = "content-range" not in request.headers or match[3] == str(len(session.content))
            if not whole:
                last = len(session.content) - 1
                return Response(status=308, headers={"range": f"bytes=0-{last}"} if last >= 0 else {})
            del self._sessions[key]
        return _complete(
            session.name, session.resource, session.content_type, bytes(session.content), session.precondition
        )


def _complete(
    name: str, resource: dict[str, Any], content_type: str | None, content: bytes, precondition: int | None
) -> Upload:
    return Upload(
        name=name,
        content=content,
        content_type=resource.get("contentType") or content_type,
        metadata=resource.get("metadata") or {},
        precondition=precondition,
    )


def _named(resource: dict[str, Any], request: Request) -> str:
    name = resource.get("name") or request.parameter("name")
    if not name:
        raise StorageError(400, "Required parameter: name")
    return str(name)


def _parts(request: Request, body: bytes) -> tuple[dict[str, Any], str | None, bytes]:
    """Return metadata, type and content of a multipart/related body (RFC 2387); the content byte by byte as it came."""
    boundary = re.search(r'boundary="?([^";]+)', request.headers.get("content-type", ""))
    if boundary is None or body.count(mark := b"--" + boundary[1].encode()) != 3:
        raise StorageError(400, "A multipart upload has two parts.")
    _, first, second = body.split(mark, 2)
    resource = json.loads(first.partition(b"\r\n\r\n")[2])
    head, _, rest = second.partition(b"\r\n\r\n")
    content_type = re.search(rb"(?i)^content-type: *(\S.*?)\r?$", head, re.MULTILINE)
    return resource, content_type[1].decode() if content_type else None, rest.rpartition(b"\r\n" + mark)[0]
