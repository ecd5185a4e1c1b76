"""Errors as Cloud Storage's JSON API writes them (cloud.google.com/storage/docs/json_api/v1/status-codes)."""

from __future__ import annotations

from a2a_hub.http.messages import Response
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


class StorageError(Exception):
    """A request that the API refuses."""

    def __init__(self, status: int, message: str, *, reason: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason = reason or _REASONS[status]


def response(error: StorageError, *, is_media: bool) -> Response:
    """The error as an answer; where content was asked for, it is plain text."""
    headers = (
        {"www-authenticate": 'Bearer realm="https://accounts.google.com/"'} if error.status == 401 else {}
    )
    if is_media:
        headers["content-type"] = "text/html; charset=UTF-8"
        return Response(status=error.status, headers=headers, body=error.message.encode())
    detail = {"message": error.message, "domain": "global", "reason": error.reason}
    body = {"error": {"code": error.status, "message": error.message, "errors": [detail]}}
    return json_response(body, status=error.status, headers=headers)
