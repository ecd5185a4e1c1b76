"""Errors as Google's newer APIs write them: google.rpc.Status in JSON (google.aip.dev/193)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2a_hub.http.messages import Response
from local.cloud.program import json_response

_ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
_CODES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429,
    "UNAVAILABLE": 503,
}


class ApiError(Exception):
    """A request that the API refuses. `reason` and `metadata` are those of an ErrorInfo, where there is one."""

    def __init__(
        self,
        status: str,
        message: str,
        *,
        reason: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason = reason
        self.metadata = metadata

    def response(self) -> Response:
        """The error as an answer."""
        error: dict[str, Any] = {"code": _CODES[self.status], "message": self.message, "status": self.status}
        if self.reason:
            info: dict[str, Any] = {"@type": _ERROR_INFO, "reason": self.reason, "domain": "googleapis.com"}
            if self.metadata:
                info["metadata"] = dict(self.metadata)
            error["details"] = [info]
        return json_response({"error": error}, status=_CODES[self.status])
