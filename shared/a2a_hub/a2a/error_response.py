"""A refusal in the form of what was asked for: JSON-RPC, HTTP+JSON, or a problem for the tool API."""

from __future__ import annotations

from typing import Any

from a2a_hub.a2a import protojson
from a2a_hub.a2a.bindings import jsonrpc
from a2a_hub.a2a.errors import A2AError
from a2a_hub.http.messages import JSON, PROBLEM_JSON, Request, Response
from a2a_hub.telemetry.log import Record

_TOOLS = "/tools/"


def refusal(request: Request, error: A2AError, record: Record) -> Response:
    """The answer to a request that was refused before its body was looked at, so that a JSON-RPC id is not known."""
    if request.path.startswith(_TOOLS):
        return problem(error, record)
    if request.path in ("", "/"):
        body = jsonrpc.write_error(None, error)
    else:
        from a2a_hub.a2a.bindings import rest

        body = rest.write_error(error)
    return Response(status=error.kind.http_status, headers={"content-type": JSON} | error.headers, body=body)


def problem(error: A2AError, record: Record, *, with_reason: bool = False) -> Response:
    """The error as application/problem+json (RFC 9457), with the fields named, and `with_reason` the word that programs go by."""
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
