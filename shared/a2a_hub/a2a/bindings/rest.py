"""The HTTP+JSON binding (A2A 1.0.1 §11; 0.3's paths under /v1): method, path, query and bytes ↔ operation."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct

from a2a_hub.a2a import protojson, versions
from a2a_hub.a2a.errors import METHOD_NOT_ALLOWED, UNSUPPORTED_MEDIA_TYPE, A2AError
from a2a_hub.a2a.model import Binding, Event, Version
from a2a_hub.a2a.operations import OPERATIONS, Operation
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.a2a.versions import VersionCodec
from a2a_hub.http.messages import A2A_JSON, JSON, Request, Response

_MEDIA_TYPES = frozenset({"", JSON, A2A_JSON})


class RestExchange:
    """One HTTP+JSON request, to a path that `knows` accepts."""

    binding = Binding.HTTP_JSON

    def __init__(self, request: Request, *, max_body_bytes: int) -> None:
        self._request = request
        self._max_body_bytes = max_body_bytes
        self.body_bytes = 0
        accepts_own = A2A_JSON in request.headers.get("accept", "") or request.media_type == A2A_JSON
        self.media_type = A2A_JSON if accepts_own else JSON

    def resolve(self) -> tuple[Operation, VersionCodec]:
        named = versions.named_in(self._request)
        self._target = resolve(self._request.method, self._request.path, named)
        if self.media_type != JSON:
            self.media_type = self._target.codec.media_type
        return self._target.operation, self._target.codec

    def read_params(self, *, completes: bool = False) -> Struct:
        request = self._request
        body = request.body(self._max_body_bytes) if request.method == "POST" else b""
        self.body_bytes = len(body)
        if body and request.media_type not in _MEDIA_TYPES:
            raise A2AError(UNSUPPORTED_MEDIA_TYPE, "Send the body as Content-Type: application/json")
        return read_request(self._target, request.query, body, completes=completes)

    def write_result(self, value: Event | Struct | None) -> bytes:
        return self._target.codec.write_result(self._target.operation, value, self.binding)

    def write_error(self, error: A2AError) -> bytes:
        return write_error(error)

    def error_response(self, error: A2AError) -> Response:
        headers = {"content-type": self.media_type} | error.headers
        return Response(status=error.kind.http_status, headers=headers, body=write_error(error))


class Target(Struct, frozen=True):
    """The operation of a method and path; `path_fields` are the request's fields that the path gives."""

    operation: Operation
    codec: VersionCodec
    path_fields: Mapping[str, str]


class _Row(Struct, frozen=True):
    """A path with the operations of its methods. The groups of `template` are the fields that the path gives."""

    template: re.Pattern[str]
    methods: dict[str, Operation]
    codec: VersionCodec


_PATHS = [
    (operation, rest, codec) for operation in OPERATIONS for codec in CODECS.values() for rest in codec.paths(operation)
]
# Templates that also exist with a verb (`/tasks/{id}:cancel`): their ids hold no colon, and `/tasks/x:unknown` is not found.
_WITH_VERBS = frozenset(rest.path.rpartition(":")[0] for _, rest, _ in _PATHS if "}:" in rest.path)
_TENANT = r"/(?P<tenant>(?!\.{1,2}/)[^/:]+)"


@cache
def _rows() -> list[_Row]:
    rows: dict[tuple[str, Version, bool], _Row] = {}
    for operation, rest, codec in _PATHS:
        value = "[^/:]+" if rest.path in _WITH_VERBS else "[^/]+"
        template = re.sub(r"{(\w+)}", rf"(?P<\1>{value})", rest.path)
        for tenant in (False, True) if codec.has_tenants else (False,):
            key = rest.path, codec.version, tenant
            row = rows.setdefault(key, _Row(re.compile(_TENANT + template if tenant else template), {}, codec))
            row.methods[rest.method] = operation
    return list(rows.values())


# Names of a task id in the body or the query, which must not override the path's.
_SHADOWED_BY_PATH = frozenset({"taskId", "task_id"})


def knows(path: str) -> bool:
    """Return True if the path is one of the protocol's, in one of the versions."""
    return any(True for _ in _matches(path))


def resolve(method: str, path: str, named_version: Version | None) -> Target:
    """Return the operation at a path that `knows` accepts. Raises METHOD_NOT_ALLOWED, and VERSION_NOT_SUPPORTED for a path of
    another version than the named one.

    `/v1/…` is 0.3's, unless the request names 1.0: then `v1` is a tenant. A 1.0 path without a named version is
    1.0's, although a missing version means 0.3: 0.3 has no such path.
    """
    allowed: set[str] = set()
    for row, fields in _matches(path):
        if named_version is None and fields.get("tenant") == "v1":
            continue
        if named_version is not None and named_version is not row.codec.version:
            continue
        operation = row.methods.get(method)
        if operation is not None:
            return Target(operation, row.codec, fields)
        allowed |= row.methods.keys()
    if allowed:
        raise A2AError(METHOD_NOT_ALLOWED, headers={"allow": ", ".join(sorted(allowed))})
    raise versions.version_mismatch("The path")


def _matches(path: str) -> Iterator[tuple[_Row, dict[str, str]]]:
    for row in _rows():
        if match := row.template.fullmatch(path.removesuffix("/")):
            yield row, match.groupdict()


def read_request(target: Target, query: Mapping[str, Sequence[str]], body: bytes, *, completes: bool = False) -> Struct:
    """Return the request from path, query and body. Raises PARSE_ERROR or INVALID_PARAMS with the field named."""
    if target.operation.rest[0].method == "POST":
        # `null` is what the Go SDK sends with a request that has no fields beside the path's.
        params = protojson.decode(body) if body.strip() not in (b"", b"null") else {}
    else:
        # No request has a field that takes several values.
        params = {name: values[0] if len(values) == 1 else [*values] for name, values in query.items() if values}
    if isinstance(params, dict):
        given = {name: item for name, item in params.items() if name not in _SHADOWED_BY_PATH}
        params = (given if "task_id" in target.path_fields else params) | dict(target.path_fields)
    return target.codec.read_request(target.operation, params, Binding.HTTP_JSON, completes=completes)


def write_error(error: A2AError) -> bytes:
    """Return the google.rpc.Status body."""
    return protojson.encode(error.rest())
