"""Errors as HTTP answers: in the binding of the request, or as a problem of the tool API."""

from __future__ import annotations

from typing import Any

from a2a_hub.a2a import protojson
from a2a_hub.a2a.bindings import jsonrpc, rest
from a2a_hub.a2a.errors import A2AError
from a2a_hub.http.messages import JSON, PROBLEM_JSON, Request, Response
from a2a_hub.telemetry.log import Record

_TOOLS = "/tools/"


def refusal(request: Request, error: A2AError, record: Record) -> Response:
    """Return the answer to a request that is refused before its body is read, so that a JSON-RPC id is not known."""
    if request.path.startswith(_TOOLS):
        return problem(error, record)
    is_jsonrpc = request.path in ("", "/")
    body = jsonrpc.write_error(None, error) if is_jsonrpc else rest.write_error(error)
    return Response(status=error.kind.http_status, headers={"content-type": JSON} | error.headers, body=body)


def problem(error: A2AError, record: Record, *, with_reason: bool = False) -> Response:
    """Return the error as application/problem+json (RFC 9457), with its fields and, `with_reason`, its reason for programs."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": error.kind.message,
        "status": error.kind.http_status,
        "detail": error.message,
        "requestId": record["requestId"],
    }
    if with_reason:
        body["reason"] = error.kind.reason
    if error.fields:
        body["errors"] = [{"field": path, "detail": text} for path, text in error.fields]
    headers = {"content-type": PROBLEM_JSON} | error.headers
    return Response(status=error.kind.http_status, headers=headers, body=protojson.encode(body))
