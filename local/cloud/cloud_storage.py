"""Cloud Storage's JSON API, as the unmodified google-cloud-storage and gcloud speak it.

Objects, generations, uploads in one or in pieces, IAM of buckets (with a condition, of a part of one).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from a2a_hub.http.messages import Request, Response
from local.cloud import buckets as iam
from local.cloud.accounts import Accounts, UnknownToken, member
from local.cloud.buckets import BadPolicy, Bucket, BucketPolicy, StoredObject
from local.cloud.google_api import GoogleApi
from local.cloud.program import ApiError, json_body, json_response
from local.cloud.storage_uploads import Upload, Uploads

DENIED = "deny-objects-get"
FAULTS = {
    DENIED: "every role with storage.objects.get, the administrators' and Google's own aside, is taken from every bucket",
}
_PAGE = 1000
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


class CloudStorage(GoogleApi):
    """`buckets` of one project; `owners` may do anything with them. Those `spared` keep their readers when others lose them."""

    known_faults = FAULTS

    def __init__(
        self,
        buckets: Sequence[Bucket],
        *,
        accounts: Accounts,
        owners: Sequence[str] = (),
        spared: Sequence[str] = (),
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        super().__init__(accounts=accounts, sleep=sleep)
        self._buckets = {bucket.name: bucket for bucket in buckets}
        self._spared = frozenset(spared)
        self._owners = tuple(member(each) for each in owners)
        self._uploads = Uploads()
        self._before_denial: dict[str, BucketPolicy] = {}

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
        url = f"{_host(request)}/upload/storage/v1/b/{bucket.name}/o"
        done = self._uploads.start(request, url=url) if request.method == "POST" else self._uploads.resume(request)
        if not isinstance(done, Upload):
            return done
        known = bucket.get(done.name)
        if done.precondition not in (None, known.generation if known else 0):
            raise ApiError("CONDITION_NOT_MET", "At least one of the pre-conditions you specified did not hold.")
        if known:
            self._require(who, iam.DELETE, bucket, done.name)
        stored = bucket.put(done.name, done.content, content_type=done.content_type, metadata=done.metadata)
        return json_response(stored.resource(_host(request)))

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
            try:
                bucket.policy = BucketPolicy(json_body(request).get("bindings", ()))
            except (BadPolicy, ValueError) as error:
                raise ApiError("INVALID_ARGUMENT", str(error)) from None
            if bucket.name in self._before_denial and bucket.policy.grants(iam.GET):
                del self._before_denial[bucket.name]
                if not self._before_denial:
                    self.faults.switch_off(DENIED)
        version = 3 if any("condition" in each for each in bucket.policy.bindings) else 1
        policy = {"kind": "storage#policy", "version": version, "etag": "CAE="}
        return json_response({**policy, "bindings": bucket.policy.bindings})

    def _bucket(self, name: str) -> Bucket:
        if name not in self._buckets:
            raise ApiError("NOT_FOUND", "The specified bucket does not exist.")
        return self._buckets[name]

    def _may(self, who: str, permission: str, bucket: Bucket, name: str = "") -> bool:
        resource = f"projects/_/buckets/{bucket.name}" + (f"/objects/{name}" if name else "")
        return who in self._owners or bucket.policy.allows(who, permission, resource)

    def _require(self, who: str, permission: str, bucket: Bucket, name: str = "") -> None:
        if not self._may(who, permission, bucket, name):
            raise self._denied(who, permission, name)

    @staticmethod
    def _denied(who: str, permission: str, name: str) -> ApiError:
        of = "object" if name or permission.startswith("storage.objects") else "bucket"
        message = (
            f"{_account(who)} does not have {permission} access to the Google Cloud Storage {of}. "
            f"Permission '{permission}' denied on resource (or it may not exist)."
        )
        return ApiError("UNAUTHENTICATED" if who == "allUsers" else "PERMISSION_DENIED", message)

    def _changed(self, name: str, parameters: Mapping[str, Any] | None) -> None:
        if name != DENIED:
            return
        if parameters is not None:
            for bucket in self._buckets.values():
                if bucket.name in self._spared:
                    continue
                self._before_denial[bucket.name] = bucket.policy
                bucket.policy = bucket.policy.without(iam.GET)
        while parameters is None and self._before_denial:
            bucket_name, before = self._before_denial.popitem()
            self._buckets[bucket_name].policy = before


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


def _account(who: str) -> str:
    return "Anonymous caller" if who == "allUsers" else who.partition(":")[2]
