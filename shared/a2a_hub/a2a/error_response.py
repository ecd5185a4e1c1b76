"""Errors over HTTP: of a body that cannot be read, and as answers, in the binding of the request or as a problem (RFC 9457)."""

from typing import Annotated

from msgspec import Meta, Struct

from a2a_hub.a2a import protojson
from a2a_hub.a2a.bindings import jsonrpc, rest
from a2a_hub.a2a.errors import (
    PARSE_ERROR,
    PAYLOAD_TOO_LARGE,
    REQUEST_TIMEOUT,
    UNAUTHENTICATED,
    UNSUPPORTED_MEDIA_TYPE,
    A2AError,
)
from a2a_hub.a2a.refusal import TemporaryRefusal, answer_unread
from a2a_hub.http.messages import JSON, PROBLEM_JSON, BodyError, BodyFault, Request, Response
from a2a_hub.telemetry.log import Record

_TOOLS = "/tools/"


class FieldError(Struct, frozen=True):
    """A field of the request, and its error."""

    field: str
    detail: str


class Problem(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An error over HTTP (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str
    reason: Annotated[str | None, Meta(description="The error's name for programs, where the endpoint gives one.")] = (
        None
    )
    errors: list[FieldError] = []


def refusal(request: Request, error: A2AError, record: Record) -> Response:
    """Return the answer to a request that is refused before its body is read, so that a JSON-RPC id is not known."""
    answer = answer_unread(error, request, record) if isinstance(error, TemporaryRefusal) else None
    if answer is not None:
        return answer
    if request.path.startswith(_TOOLS):
        return problem(error, record)
    is_jsonrpc = request.path in ("", "/")
    body = jsonrpc.write_error(None, error) if is_jsonrpc else rest.write_error(error)
    return Response(status=error.kind.http_status, headers={"content-type": JSON} | error.headers, body=body)


def problem(error: A2AError, record: Record, *, with_reason: bool = False) -> Response:
    """Return the error as application/problem+json (RFC 9457), with its fields and, `with_reason`, its reason for programs."""
    body = Problem(
        type="about:blank",
        title=error.kind.message,
        status=error.kind.http_status,
        detail=error.message,
        request_id=record["requestId"],
        reason=error.kind.reason if with_reason else None,
        errors=[FieldError(field=path, detail=text) for path, text in error.fields],
    )
    headers = {"content-type": PROBLEM_JSON} | error.headers
    return Response(status=error.kind.http_status, headers=headers, body=protojson.encode(body))


def read_body(request: Request, max_bytes: int) -> bytes:
    """Return the request's body. Raises A2AError for one that is too large, broken, compressed, too slow, or not
    the signed one (RFC 9110 §15.5).
    """
    try:
        return request.body(max_bytes)
    except BodyError as error:
        raise body_error(error) from None


def body_error(error: BodyError) -> A2AError:
    """Return the error for a body that could not be read."""
    match error.fault:
        case BodyFault.TOO_LARGE:
            return A2AError(PAYLOAD_TOO_LARGE, f"The request body is larger than {error.limit_bytes} bytes")
        case BodyFault.COMPRESSED:
            text = "Send the body as it is, without Content-Encoding"
            return A2AError(UNSUPPORTED_MEDIA_TYPE, text, headers={"accept-encoding": "identity"})
        case BodyFault.FORGED:
            text = "The body is not the one that was signed"
            return A2AError(UNAUTHENTICATED, text, headers={"www-authenticate": 'Bearer realm="a2a"'})
        case BodyFault.TOO_SLOW:
            return A2AError(REQUEST_TIMEOUT)
        case BodyFault.BROKEN:
            return A2AError(PARSE_ERROR, "The request's body breaks off, or is not framed as HTTP says")
