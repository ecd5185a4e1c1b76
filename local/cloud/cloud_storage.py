"""`python -m local.cloud.cloud_storage`: Cloud Storage's JSON API, as the unmodified google-cloud-storage and gcloud speak it.

Objects, generations, uploads in one or in pieces, IAM of buckets (with a condition, of a part of one). The account of an
access token comes from its issuer (`local.cloud.accounts`).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Request, Response
from local.cloud import buckets as iam
from local.cloud import storage_uploads
from local.cloud.accounts import Accounts, UnknownToken, member
from local.cloud.buckets import BadPolicy, Bucket, BucketPolicy, StoredObject
from local.cloud.faults import LATENCY, LATENCY_HELP, Faults
from local.cloud.program import CommandLine, json_body, json_response, pairs, recorded, serve
from local.cloud.storage_uploads import StorageError, Upload, Uploads

DENIED, QUOTA, BROKEN = "deny-objects-get", "quota", "server-error"
FAULTS = {
    DENIED: "every role with storage.objects.get, the administrators' and Google's own aside, is taken from every bucket",
    QUOTA: "every request is answered with 429",
    BROKEN: "every request is answered with 503",
    LATENCY: LATENCY_HELP,
}
_PAGE = 1000


class CloudStorage:
    """`buckets` of one project; `owners` may do anything with all of them."""

    def __init__(
        self,
        buckets: Sequence[Bucket],
        *,
        issuers: Sequence[str] = (),
        tokens: Mapping[str, str] | None = None,
        owners: Sequence[str] = (),
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._buckets = {bucket.name: bucket for bucket in buckets}
        self._accounts = Accounts(issuers, http=HttpClient(), known=tokens)
        self._owners = tuple(member(each) for each in owners)
        self._uploads = Uploads()
        self._before_denial: dict[str, BucketPolicy] = {}
        self.faults = Faults(FAULTS, changed=self._changed, sleep=sleep)

    def handle(self, request: Request) -> Response:
        """Return the answer to one request."""
        if (response := self.faults.handle(request)) is not None:
            return response
        self.faults.wait()
        is_media = request.parameter("alt") == "media"
        try:
            if QUOTA in self.faults:
                raise StorageError(429, "The rate of requests exceeds the rate limit. Please reduce it.")
            if BROKEN in self.faults:
                raise StorageError(503, "We encountered an internal error. Please try again.")
            return self._answer(request, self._member(request))
        except StorageError as error:
            return storage_uploads.response(error, is_media=is_media)

    def _member(self, request: Request) -> str:
        try:
            return member(self._accounts.email(request))
        except UnknownToken:
            raise StorageError(401, "Invalid Credentials", reason="authError") from None

    def _answer(self, request: Request, who: str) -> Response:
        # Objects' names hold encoded slashes: the path is taken apart before it is decoded.
        parts = [unquote(part) for part in urlsplit(request.target or request.path).path.strip("/").split("/")]
        if parts and parts[0] in ("upload", "download"):
            parts = parts[1:]
        match (request.method, parts[2:] if parts[:2] == ["storage", "v1"] else []):
            case ("POST", ["b"]):
                return self._create_bucket(request, who)
            case ("GET", ["b", name]):
                bucket = self._bucket(name)
                self._require(who, iam.GET_BUCKET, bucket)
                return json_response({"kind": "storage#bucket", "id": name, "name": name, "location": "US"})
            case ("GET" | "PUT", ["b", name, "iam"]):
                return self._policy(request, who, self._bucket(name))
            case ("GET", ["b", name, "iam", "testPermissions"]):
                bucket = self._bucket(name)
                permissions = [each for each in request.query.get("permissions", ()) if self._may(who, each, bucket)]
                return json_response({"permissions": permissions})
            case ("GET", ["b", name, "o"]):
                return self._list(request, who, self._bucket(name))
            case ("POST" | "PUT", ["b", name, "o"]):
                return self._upload(request, who, self._bucket(name))
            case ("GET" | "DELETE", ["b", name, "o", object_name]):
                return self._object(request, who, self._bucket(name), object_name)
            case _:
                raise StorageError(404, "Not Found")

    def _object(self, request: Request, who: str, bucket: Bucket, name: str) -> Response:
        permission = iam.DELETE if request.method == "DELETE" else iam.GET
        self._require(who, permission, bucket, name)
        generation = request.parameter("generation")
        found = bucket.get(name, int(generation) if generation else None)
        if found is None:
            if not self._may(who, iam.LIST, bucket):
                raise self._denied(who, permission, name)
            raise StorageError(404, f"No such object: {bucket.name}/{name}")
        if request.method == "DELETE":
            bucket.delete(name)
            return Response(status=204)
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
            raise StorageError(412, "At least one of the pre-conditions you specified did not hold.")
        if known:
            self._require(who, iam.DELETE, bucket, done.name)
        stored = bucket.put(done.name, done.content, content_type=done.content_type, metadata=done.metadata)
        return json_response(stored.resource(_host(request)))

    def _list(self, request: Request, who: str, bucket: Bucket) -> Response:
        self._require(who, iam.LIST, bucket)
        after = request.parameter("pageToken") or ""
        most = min(_PAGE, int(request.parameter("maxResults") or _PAGE))
        found = [each for each in bucket.listed(request.parameter("prefix") or "") if each.name > after]
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
                raise StorageError(400, str(error)) from None
            if bucket.name in self._before_denial and bucket.policy.grants(iam.GET):
                del self._before_denial[bucket.name]
                if not self._before_denial:
                    self.faults.switch_off(DENIED)
        version = 3 if any("condition" in each for each in bucket.policy.bindings) else 1
        policy = {"kind": "storage#policy", "version": version, "etag": "CAE="}
        return json_response({**policy, "bindings": bucket.policy.bindings})

    def _create_bucket(self, request: Request, who: str) -> Response:
        name = str(json_body(request).get("name", ""))
        if who not in self._owners:
            raise StorageError(403, f"{_account(who)} does not have {iam.CREATE_BUCKET} access to the project.")
        if name in self._buckets:
            raise StorageError(409, "Your previous request to create the named bucket succeeded.")
        self._buckets[name] = Bucket(name, project=request.parameter("project") or "")
        return json_response({"kind": "storage#bucket", "id": name, "name": name})

    def _bucket(self, name: str) -> Bucket:
        if name not in self._buckets:
            raise StorageError(404, "The specified bucket does not exist.")
        return self._buckets[name]

    def _may(self, who: str, permission: str, bucket: Bucket, name: str = "") -> bool:
        resource = f"projects/_/buckets/{bucket.name}" + (f"/objects/{name}" if name else "")
        return who in self._owners or bucket.policy.allows(who, permission, resource)

    def _require(self, who: str, permission: str, bucket: Bucket, name: str = "") -> None:
        if not self._may(who, permission, bucket, name):
            raise self._denied(who, permission, name)

    @staticmethod
    def _denied(who: str, permission: str, name: str) -> StorageError:
        of = "object" if name or permission.startswith("storage.objects") else "bucket"
        message = (
            f"{_account(who)} does not have {permission} access to the Google Cloud Storage {of}. "
            f"Permission '{permission}' denied on resource (or it may not exist)."
        )
        return StorageError(401 if who == "allUsers" else 403, message)

    def _changed(self, name: str, parameters: Mapping[str, Any] | None) -> None:
        if name != DENIED:
            return
        if parameters is not None:
            for bucket in self._buckets.values():
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
        raise StorageError(416, "Request range not satisfiable")
    headers["content-range"] = f"bytes {start}-{end}/{len(found.content)}"
    return Response(status=206, headers=headers, body=found.content[start : end + 1])


def _host(request: Request) -> str:
    return f"http://{request.headers.get('host', 'storage.googleapis.com')}"


def _account(who: str) -> str:
    return "Anonymous caller" if who == "allUsers" else who.partition(":")[2]


def main() -> None:
    """Serve until stopped by a signal."""
    parser = CommandLine("cloud_storage")
    parser.add_argument("--project", default="my-hub-project")
    parser.add_list("--owner", "an account that may do everything")
    parser.add_tokens()
    parser.add_list("--bucket", "and its files", metavar="NAME[=FOLDER]")
    parser.add_list("--reader", "an account that may read every bucket")
    parser.add_argument("--search-agent", metavar="EMAIL", help="the search's own account, which reads every bucket")
    given = parser.parse_args()
    bindings = [{"role": iam.VIEWER, "members": list(map(member, given.reader))}] if given.reader else []
    if given.search_agent:
        bindings.append({"role": iam.SEARCH_AGENT, "members": [member(given.search_agent)]})
    buckets = []
    for each in given.bucket:
        name, _, folder = each.partition("=")
        bucket = Bucket(name, project=given.project)
        if folder:
            bucket.load(Path(folder))
        if bindings:
            bucket.policy = BucketPolicy(bindings)
        buckets.append(bucket)
    service = CloudStorage(buckets, issuers=given.issuer, tokens=pairs(given.token), owners=given.owner)
    serve(recorded(service.handle), name="cloud_storage", port=given.port)


if __name__ == "__main__":
    main()
