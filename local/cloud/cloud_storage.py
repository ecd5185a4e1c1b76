"""Cloud Storage's JSON API, as google-cloud-storage and gcloud speak it: objects, generations, uploads, IAM of buckets."""

import json
import re
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from a2a_hub.http.messages import Request, Response
from local.cloud import policies as iam
from local.cloud.accounts import Accounts, UnknownToken
from local.cloud.buckets import Bucket, StoredObject
from local.cloud.google_api import GoogleApi
from local.cloud.policies import READERS, Policy, member
from local.cloud.program import ApiError, json_body, json_response

DENIED = "deny-objects-get"
_PAGE = 1000
_LONGEST_BODY = 256 << 20
_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")
_REASONS = {
    400: "invalid",
    401: "required",
    403: "forbidden",
    404: "notFound",
    412: "conditionNotMet",
    416: "requestedRangeNotSatisfiable",
    429: "rateLimitExceeded",
    503: "backendError",
}


@dataclass(slots=True, kw_only=True)
class _Upload:
    """An object that arrives. `precondition` is the generation that it may replace, 0 being none."""

    name: str
    content: bytes
    content_type: str | None
    metadata: dict[str, str]
    precondition: int | None


class CloudStorage(GoogleApi):
    """`buckets` of one project, with which operators may do anything. Those `spared` keep their readers when others lose them."""

    faults_of = "storage"

    def __init__(self, buckets: Sequence[Bucket], *, accounts: Accounts, spared: Sequence[str] = ()) -> None:
        super().__init__(accounts=accounts)
        self._buckets = {bucket.name: bucket for bucket in buckets}
        self._spared = frozenset(spared)
        self._lock = threading.Lock()
        self._sessions: dict[str, _Upload] = {}

    def _refusal(self, request: Request, error: ApiError) -> Response:
        """Return the error in this API's own form; plain text if the request was for content."""
        headers = {"www-authenticate": 'Bearer realm="https://accounts.google.com/"'} if error.code == 401 else {}
        if request.parameter("alt") == "media":
            headers["content-type"] = "text/html; charset=UTF-8"
            return Response(status=error.code, headers=headers, body=error.message.encode())
        detail = {"message": error.message, "domain": "global", "reason": error.reason or _REASONS[error.code]}
        body = {"error": {"code": error.code, "message": error.message, "errors": [detail]}}
        return json_response(body, status=error.code, headers=headers)

    def _member(self, request: Request) -> str:
        try:
            return member(self._accounts.email(request))
        except UnknownToken:
            raise ApiError("UNAUTHENTICATED", "Invalid Credentials", reason="authError") from None

    def _answer(self, request: Request) -> Response:
        who = self._member(request)
        # Objects' names hold encoded slashes: the path is taken apart before it is decoded.
        parts = [unquote(part) for part in urlsplit(request.target or request.path).path.strip("/").split("/")]
        if parts and parts[0] in ("upload", "download"):
            parts = parts[1:]
        match (request.method, parts[2:] if parts[:2] == ["storage", "v1"] else []):
            case ("GET", ["b", name]):
                bucket = self._bucket(name)
                self._require(who, iam.GET_BUCKET, bucket)
                return json_response({"kind": "storage#bucket", "id": name, "name": name, "location": "US"})
            case ("GET" | "PUT", ["b", name, "iam"]):
                return self._policy(request, who, self._bucket(name))
            case ("GET", ["b", name, "o"]):
                return self._list(request, who, self._bucket(name))
            case ("POST" | "PUT", ["b", name, "o"]):
                return self._upload(request, who, self._bucket(name))
            case ("GET" | "DELETE", ["b", name, "o", object_name]):
                return self._object(request, who, self._bucket(name), object_name)
            case _:
                raise ApiError("NOT_FOUND", "Not Found")

    def _object(self, request: Request, who: str, bucket: Bucket, name: str) -> Response:
        permission = iam.DELETE if request.method == "DELETE" else iam.GET
        self._require(who, permission, bucket, name)
        generation = request.parameter("generation")
        found = bucket.get(name, int(generation) if generation else None)
        if found is None:
            if not self._may(who, iam.LIST, bucket):
                raise self._denied(who, permission, name)
            raise ApiError("NOT_FOUND", f"No such object: {bucket.name}/{name}")
        if request.method == "DELETE":
            bucket.delete(name)
            return Response(status=204)
        if request.parameter("ifGenerationNotMatch") == str(found.generation):
            return Response(status=304)
        if request.parameter("alt") == "media":
            return _media(request, found)
        return json_response(found.resource(_host(request)))

    def _upload(self, request: Request, who: str, bucket: Bucket) -> Response:
        self._require(who, iam.CREATE, bucket)
        done = self._started(request, bucket) if request.method == "POST" else self._resumed(request)
        if not isinstance(done, _Upload):
            return done
        known = bucket.get(done.name)
        if done.precondition not in (None, known.generation if known else 0):
            raise ApiError("CONDITION_NOT_MET", "At least one of the pre-conditions you specified did not hold.")
        if known:
            self._require(who, iam.DELETE, bucket, done.name)
        stored = bucket.put(done.name, done.content, content_type=done.content_type, metadata=done.metadata)
        return json_response(stored.resource(_host(request)))

    def _started(self, request: Request, bucket: Bucket) -> _Upload | Response:
        """Answer POST: store a complete upload, or say where the pieces go. Raises ApiError."""
        body = request.read_body(_LONGEST_BODY) or b""
        match request.parameter("uploadType"):
            case "multipart":
                return _upload(request, *_parts(request, body))
            case "resumable":
                upload = _upload(request, json.loads(body or b"{}"), request.headers.get("x-upload-content-type"), b"")
                key = secrets.token_urlsafe(16)
                with self._lock:
                    self._sessions[key] = upload
                url = f"{_host(request)}/upload/storage/v1/b/{bucket.name}/o?uploadType=resumable&upload_id={key}"
                return Response(headers={"location": url, "x-guploader-uploadid": key})
            case kind:
                raise ApiError("INVALID_ARGUMENT", f"Unknown upload type {kind}.")

    def _resumed(self, request: Request) -> _Upload | Response:
        """Answer PUT: take a piece of an upload; a 308 reports the size so far. Raises ApiError."""
        key = request.parameter("upload_id") or ""
        with self._lock:
            upload = self._sessions.get(key)
            if upload is None:
                raise ApiError("NOT_FOUND", "The upload session does not exist.")
            body = request.read_body(_LONGEST_BODY) or b""
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

    def _list(self, request: Request, who: str, bucket: Bucket) -> Response:
        self._require(who, iam.LIST, bucket)
        after = request.parameter("pageToken") or ""
        most = min(_PAGE, int(request.parameter("maxResults") or _PAGE))
        versions = request.parameter("versions") == "true"
        listed = bucket.listed(request.parameter("prefix") or "", versions=versions)
        found = [each for each in listed if each.name > after]
        items = [each.resource(_host(request)) for each in found[:most]]
        page: dict[str, Any] = {"kind": "storage#objects", "items": items}
        if len(found) > most:
            page["nextPageToken"] = found[most - 1].name
        return json_response(page)

    def _policy(self, request: Request, who: str, bucket: Bucket) -> Response:
        self._require(who, iam.SET_POLICY if request.method == "PUT" else iam.GET_POLICY, bucket)
        if request.method == "PUT":
            bucket.policy = Policy(json_body(request).get("bindings", ()))
            if bucket.policy.without(READERS).bindings != bucket.policy.bindings:
                self.faults.switch_off(DENIED)
        bindings = self._policy_of(bucket).bindings
        version = 3 if any("condition" in each for each in bindings) else 1
        return json_response({"kind": "storage#policy", "version": version, "etag": "CAE=", "bindings": bindings})

    def _policy_of(self, bucket: Bucket) -> Policy:
        is_denied = DENIED in self.faults and bucket.name not in self._spared
        return bucket.policy.without(READERS) if is_denied else bucket.policy

    def _bucket(self, name: str) -> Bucket:
        if name not in self._buckets:
            raise ApiError("NOT_FOUND", "The specified bucket does not exist.")
        return self._buckets[name]

    def _may(self, who: str, permission: str, bucket: Bucket, name: str = "") -> bool:
        resource = f"projects/_/buckets/{bucket.name}" + (f"/objects/{name}" if name else "")
        return who in self._accounts.operators or self._policy_of(bucket).allows(who, permission, resource)

    def _require(self, who: str, permission: str, bucket: Bucket, name: str = "") -> None:
        if not self._may(who, permission, bucket, name):
            raise self._denied(who, permission, name)

    @staticmethod
    def _denied(who: str, permission: str, name: str) -> ApiError:
        account = "Anonymous caller" if who == iam.EVERYBODY else who.partition(":")[2]
        of = "object" if name or permission.startswith("storage.objects") else "bucket"
        message = (
            f"{account} does not have {permission} access to the Google Cloud Storage {of}. "
            f"Permission '{permission}' denied on resource (or it may not exist)."
        )
        return ApiError("UNAUTHENTICATED" if who == iam.EVERYBODY else "PERMISSION_DENIED", message)


def _media(request: Request, found: StoredObject) -> Response:
    hashes = found.hashes
    headers = {
        "content-type": found.content_type,
        "x-goog-generation": str(found.generation),
        "x-goog-metageneration": "1",
        "x-goog-stored-content-length": str(len(found.content)),
        "x-goog-hash": f"crc32c={hashes['crc32c']},md5={hashes['md5']}",
    }
    unit, _, span = request.headers.get("range", "").partition("=")
    first, _, last = span.partition("-")
    if unit != "bytes" or not first.isdigit():
        return Response(headers=headers, body=found.content)
    start, end = int(first), min(int(last or len(found.content)), len(found.content) - 1)
    if start >= len(found.content):
        raise ApiError("OUT_OF_RANGE", "Request range not satisfiable")
    headers["content-range"] = f"bytes {start}-{end}/{len(found.content)}"
    return Response(status=206, headers=headers, body=found.content[start : end + 1])


def _host(request: Request) -> str:
    return f"http://{request.headers.get('host', 'storage.googleapis.com')}"


def _upload(request: Request, resource: dict[str, Any], content_type: str | None, content: bytes) -> _Upload:
    name, generation = resource.get("name") or request.parameter("name"), request.parameter("ifGenerationMatch")
    if not name:
        raise ApiError("INVALID_ARGUMENT", "Required parameter: name")
    return _Upload(
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
