"""The HTTP+JSON binding (A2A 1.0.1 §11; 0.3's paths under /v1): method, path, query and bytes ↔ operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.a2a import protojson, versions
from a2a_hub.a2a.bindings.params import read_params
from a2a_hub.a2a.compat.v0_3.dialect import Dialect
from a2a_hub.a2a.compat.v0_3.result import to_compat_result
from a2a_hub.a2a.envelope import wrapped
from a2a_hub.a2a.errors import METHOD_NOT_ALLOWED, A2AError
from a2a_hub.a2a.model import Event, Message, Task
from a2a_hub.a2a.operations import OPERATIONS, Operation
from a2a_hub.a2a.versions import Version
from a2a_hub.http.messages import A2A_JSON, JSON

MEDIA_TYPES = frozenset({"", JSON, A2A_JSON})


class Target(Struct, frozen=True):
    """What a method and path stand for; `path_fields` are the request's fields that the path gives."""

    operation: Operation
    version: Version
    path_fields: Mapping[str, str]


class _Segment(Struct, frozen=True):
    """A segment of a path: `text` as it is, or a field's value with `text` behind it. `before_verb`: a colon ends the value."""

    text: str
    field: str = ""
    before_verb: bool = False

    def value(self, given: str) -> str | None:
        """The field's value in a segment that matches, "" where there is no field; None for one that does not match."""
        if not self.field:
            return "" if given == self.text else None
        if not given.endswith(self.text):
            return None
        value = given.removesuffix(self.text)
        if not value or (self.before_verb and ":" in value):
            return None
        if self.field == "tenant" and (":" in value or value in (".", "..")):
            return None
        return value


class _Row(Struct, frozen=True):
    segments: tuple[_Segment, ...]
    methods: dict[str, Operation]
    version: Version

    def fields(self, given: Sequence[str]) -> dict[str, str] | None:
        """The fields that a path of as many segments gives; None for one of another form."""
        fields: dict[str, str] = {}
        for segment, text in zip(self.segments, given, strict=True):
            value = segment.value(text)
            if value is None:
                return None
            if segment.field:
                fields[segment.field] = value
        return fields


_PATHS = [rest.path for operation in OPERATIONS for rest in (*operation.rest, *operation.rest_v0_3)]
# Templates that exist with a verb, too (`/tasks/{id}:cancel`): there, an id holds no colon, and `/tasks/x:unknown` is no path.
_WITH_VERBS = frozenset(path.rpartition(":")[0] for path in _PATHS if "}:" in path)


def _segments(path: str, *, tenant: bool) -> tuple[_Segment, ...]:
    def segment(text: str) -> _Segment:
        field, found, behind = text.removeprefix("{").partition("}")
        return _Segment(behind, field, before_verb=path in _WITH_VERBS) if found else _Segment(text)

    return tuple(map(segment, (["{tenant}"] if tenant else []) + path.removeprefix("/").split("/")))


def _rows() -> dict[int, list[_Row]]:
    """The rows by their number of segments."""
    rows: dict[tuple[str, Version, bool], _Row] = {}
    for operation in OPERATIONS:
        forms = [(rest, Version.V1_0, tenant) for rest in operation.rest for tenant in (False, True)]
        forms += [(rest, Version.V0_3, False) for rest in operation.rest_v0_3]
        for rest, version, tenant in forms:
            row = rows.setdefault(
                (rest.path, version, tenant), _Row(_segments(rest.path, tenant=tenant), {}, version)
            )
            row.methods[rest.method] = operation
    by_length: dict[int, list[_Row]] = {}
    for row in rows.values():
        by_length.setdefault(len(row.segments), []).append(row)
    return by_length


_ROWS = _rows()
# A task id in the body or in the query, however it is spelt, does not replace the path's.
_SHADOWED_BY_PATH = frozenset({"taskId", "task_id"})


def knows(path: str) -> bool:
    """The path is one of the protocol's, in one of the versions."""
    return any(True for _ in _matches(path))


def resolve(method: str, path: str, named_version: Version | None) -> Target:
    """The operation at a path that `knows` accepts. Raises METHOD_NOT_ALLOWED, and VERSION_NOT_SUPPORTED where the
    path belongs to another version than the named one.

    `/v1/…` is 0.3's, unless the request names 1.0: then `v1` is a tenant. A 1.0 path without a named version is
    1.0's, although a missing version means 0.3: 0.3 has no such path.
    """
    allowed: set[str] = set()
    for row, fields in _matches(path):
        if named_version is None and fields.get("tenant") == "v1":
            continue
        if named_version is not None and named_version is not row.version:
            continue
        operation = row.methods.get(method)
        if operation is not None:
            return Target(operation, row.version, fields)
        allowed |= row.methods.keys()
    if allowed:
        raise A2AError(METHOD_NOT_ALLOWED, headers={"allow": ", ".join(sorted(allowed))})
    raise versions.contradiction("The path")


def _matches(path: str) -> Iterator[tuple[_Row, dict[str, str]]]:
    root, *given = path.removesuffix("/").split("/")
    for row in () if root else _ROWS.get(len(given), ()):
        fields = row.fields(given)
        if fields is not None:
            yield row, fields


def read_request(target: Target, query: Mapping[str, Sequence[str]], body: bytes) -> msgspec.Struct:
    """The 1.0 request from path, query and body. Raises PARSE_ERROR or INVALID_PARAMS with the field named."""
    if target.operation.rest[0].method == "POST":
        # `null` is what the Go SDK sends with a request that has no fields beside the path's.
        params = protojson.decode(body) if body.strip() not in (b"", b"null") else {}
    else:
        # None of these requests has a field that takes several values.
        params = {
            name: values[0] if len(values) == 1 else [*values] for name, values in query.items() if values
        }
    if isinstance(params, dict):
        given = {name: item for name, item in params.items() if name not in _SHADOWED_BY_PATH}
        params = (given if "task_id" in target.path_fields else params) | dict(target.path_fields)
    return read_params(target.operation, target.version, params, Dialect.REST)


def result_writer(target: Target) -> Callable[[Event | msgspec.Struct | None], bytes]:
    """A function that writes one result, or one stream event, in the version of the request.

    GetTask and CancelTask answer the bare task; the other events come in their wrapper.
    """
    bare = not target.operation.wraps

    def write(value: Event | msgspec.Struct | None) -> bytes:
        if value is None:
            return b"{}"
        if target.version is Version.V1_0:
            return protojson.encode(value if bare else wrapped(value))
        compat: Any = to_compat_result(value, Dialect.REST)
        return protojson.encode(compat["task"] if bare and isinstance(value, Task | Message) else compat)

    return write


def write_error(error: A2AError) -> bytes:
    """The google.rpc.Status body."""
    return protojson.encode(error.rest())
