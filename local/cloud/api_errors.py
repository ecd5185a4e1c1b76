"""Errors as Google's newer APIs write them: google.rpc.Status in JSON (google.aip.dev/193)."""

from __future__ import annotations

from typing import Any

from local.cloud.program import json_response
from shared.http import Response

_CODES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "UNAVAILABLE": 503,
}


class ApiError(Exception):
    """A request that the API refuses: google.rpc.Status in JSON."""

    def __init__(self, status: str, message: str, *, reason: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason = reason

    def response(self) -> Response:
        """The error as an answer."""
        error: dict[str, Any] = {"code": _CODES[self.status], "message": self.message, "status": self.status}
        if self.reason:
            info = "type.googleapis.com/google.rpc.ErrorInfo"
            domain = "googleapis.com"
            error["details"] = [{"@type": info, "reason": self.reason, "domain": domain}]
        return json_response({"error": error}, status=_CODES[self.status])
