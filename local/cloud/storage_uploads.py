"""Uploads of the Cloud Storage stand-in."""

import json
import re
import secrets
import threading
from dataclasses import dataclass
from typing import Any

from a2a_hub.http.messages import Request, Response
from local.cloud.program import ApiError

LONGEST_BODY = 256 << 20
_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")


@dataclass(slots=True, kw_only=True)
class Upload:
    """An object that arrives. `precondition` is the generation that it may replace, 0 being none."""

    name: str
    content: bytes
    content_type: str | None
    metadata: dict[str, str]
    precondition: int | None


class Uploads:
    """The uploads that are under way. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[str, Upload] = {}

    def start(self, request: Request, *, url: str) -> Upload | Response:
        """Answer POST: store a complete upload, or say where the pieces go. Raises ApiError."""
        body = request.read_body(LONGEST_BODY) or b""
        match request.parameter("uploadType"):
            case "multipart":
                return _upload(request, *_parts(request, body))
            case "resumable":
                upload = _upload(request, json.loads(body or b"{}"), request.headers.get("x-upload-content-type"), b"")
                key = secrets.token_urlsafe(16)
                with self._lock:
                    self._sessions[key] = upload
                location = f"{url}?uploadType=resumable&upload_id={key}"
                return Response(headers={"location": location, "x-guploader-uploadid": key})
            case kind:
                raise ApiError("INVALID_ARGUMENT", f"Unknown upload type {kind}.")

    def resume(self, request: Request) -> Upload | Response:
        """Answer PUT: take a piece of an upload; a 308 reports the size so far. Raises ApiError."""
        key = request.parameter("upload_id") or ""
        with self._lock:
            upload = self._sessions.get(key)
            if upload is None:
                raise ApiError("NOT_FOUND", "The upload session does not exist.")
            body = request.read_body(LONGEST_BODY) or b""
            match = _RANGE.fullmatch(request.headers.get("content-range", f"bytes 0-{len(body)}/*"))
            if match is None:
                raise ApiError("INVALID_ARGUMENT", "Invalid Content-Range.")
            if match[1] is not None:
                if int(match[1]) > len(upload.content):
                    raise ApiError("UNAVAILABLE", "A piece before this one is missing.")
                upload.content = upload.content[: int(match[1])] + body
            size = len(upload.content)
            if "content-range" in request.headers and match[3] != str(size):
                return Response(status=308, headers={"range": f"bytes=0-{size - 1}"} if size else {})
            return self._sessions.pop(key)


def _upload(request: Request, resource: dict[str, Any], content_type: str | None, content: bytes) -> Upload:
    name, generation = resource.get("name") or request.parameter("name"), request.parameter("ifGenerationMatch")
    if not name:
        raise ApiError("INVALID_ARGUMENT", "Required parameter: name")
    return Upload(
        name=str(name),
        content=content,
        content_type=resource.get("contentType") or content_type,
        metadata=resource.get("metadata") or {},
        precondition=int(generation) if generation else None,
    )


def _parts(request: Request, body: bytes) -> tuple[dict[str, Any], str | None, bytes]:
    """Return metadata, type and content of a multipart/related body (RFC 2387); the content byte by byte as it came."""
    boundary = re.search(r'boundary="?([^";]+)', request.headers.get("content-type", ""))
    if boundary is None or body.count(mark := b"--" + boundary[1].encode()) != 3:
        raise ApiError("INVALID_ARGUMENT", "A multipart upload has two parts.")
    _, first, second = body.split(mark, 2)
    resource = json.loads(first.partition(b"\r\n\r\n")[2])
    head, _, rest = second.partition(b"\r\n\r\n")
    content_type = re.search(rb"(?i)^content-type: *(\S.*?)\r?$", head, re.MULTILINE)
    return resource, content_type[1].decode() if content_type else None, rest.rpartition(b"\r\n" + mark)[0]
