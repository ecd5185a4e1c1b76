"""Errors as Google's APIs write them (google.rpc.Status in JSON)."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from shared.http import JSON, Response

_HTTP_STATUS = {
    "INVALID_ARGUMENT": HTTPStatus.BAD_REQUEST,
    "FAILED_PRECONDITION": HTTPStatus.BAD_REQUEST,
    "UNAUTHENTICATED": HTTPStatus.UNAUTHORIZED,
    "PERMISSION_DENIED": HTTPStatus.FORBIDDEN,
    "NOT_FOUND": HTTPStatus.NOT_FOUND,
    "ALREADY_EXISTS": HTTPStatus.CONFLICT,
}


class ApiError(Exception):
    """A request that the API refuses. `reason` is the machine-readable one of an ErrorInfo, where there is one."""

    def __init__(self, status: str, message: str, *, reason: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason = reason


def response(error: ApiError) -> Response:
    """The error as an HTTP answer."""
    code = _HTTP_STATUS[error.status]
    body: dict[str, Any] = {"code": code, "message": error.message, "status": error.status}
    if error.reason:
        info = "type.googleapis.com/google.rpc.ErrorInfo"
        body["details"] = [{"@type": info, "reason": error.reason, "domain": "googleapis.com"}]
    return json_response({"error": body}, status=code)


def json_response(value: Any, *, status: int = 200) -> Response:
    """A JSON answer."""
    body = json.dumps(value, ensure_ascii=False, indent=2).encode()
    return Response(status=status, headers={"content-type": f"{JSON}; charset=UTF-8"}, body=body)
