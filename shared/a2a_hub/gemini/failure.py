"""Why a model gave no answer, or not all of it: causes, and the exceptions of Google's SDK as causes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from a2a_hub.http.client import Fault, HttpFailure
from a2a_hub.http.messages import delay_of


class Cause(StrEnum):
    """What went wrong, as far as somebody has to do something else about it."""

    NO_CREDENTIALS = "no_credentials"
    DENIED = "denied"
    API_DISABLED = "api_disabled"
    NOT_FOUND = "not_found"
    REJECTED = "rejected"
    QUOTA = "quota"
    OVERLOADED = "overloaded"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    STALLED = "stalled"
    CUT = "cut"
    BROKEN = "broken"
    EMPTY = "empty"
    QUESTION_BLOCKED = "question_blocked"
    ANSWER_BLOCKED = "answer_blocked"
    RECITATION = "recitation"
    CANCELLED = "cancelled"


PASSES = frozenset({Cause.QUOTA, Cause.OVERLOADED, Cause.UNREACHABLE, Cause.CUT})
"""What may be over in a moment: as long as nothing of the answer was told, the same request is sent again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What one request was charged for (`usageMetadata`)."""

    prompt: int = 0
    answer: int = 0
    thoughts: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failure. `detail` is for the operator and holds no foreign text, `finish` is the API's word for the end."""

    cause: Cause
    detail: str = ""
    finish: str = ""
    retry_after_seconds: float | None = None
    tokens: Tokens = field(default_factory=Tokens)


class ModelFailed(Exception):
    """Carries a Failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.cause} {failure.detail}")
        self.failure = failure


_HTTP_CAUSES = {
    Fault.UNRESOLVED: Cause.UNREACHABLE,
    Fault.UNREACHABLE: Cause.UNREACHABLE,
    Fault.TLS: Cause.UNREACHABLE,
    Fault.CUT: Cause.CUT,
    Fault.TOO_LARGE: Cause.BROKEN,
    Fault.CANCELLED: Cause.CANCELLED,
}
_STATUS_CAUSES = {
    400: Cause.REJECTED,
    401: Cause.NO_CREDENTIALS,
    404: Cause.NOT_FOUND,
    413: Cause.REJECTED,
    429: Cause.QUOTA,
    499: Cause.CANCELLED,
}
_LONGEST_RETRY_AFTER_SECONDS = 3600.0


def failure_of(error: Exception, *, is_late: bool) -> Failure:
    """What an exception means; `is_late` says that the whole time is over. Whatever is not known is BROKEN."""
    from google.auth.exceptions import GoogleAuthError
    from google.genai.errors import APIError

    match error:
        case ModelFailed():
            return error.failure
        case HttpFailure(fault=Fault.TIMEOUT):
            return Failure(cause=Cause.TIMEOUT if is_late else Cause.STALLED, detail=error.detail)
        case HttpFailure():
            return Failure(cause=_HTTP_CAUSES[error.fault], detail=error.detail)
        case APIError():
            return _refusal(error)
        case GoogleAuthError():
            return Failure(cause=Cause.NO_CREDENTIALS, detail=type(error).__name__)
        case _:
            return Failure(cause=Cause.BROKEN, detail=type(error).__name__)


def _refusal(error: object) -> Failure:
    status, reason = getattr(error, "code", None), _reason(getattr(error, "details", None))
    if status == 403:
        cause = Cause.API_DISABLED if reason == "SERVICE_DISABLED" else Cause.DENIED
    elif isinstance(status, int) and status >= 500:
        cause = Cause.OVERLOADED
    else:
        cause = _STATUS_CAUSES.get(status, Cause.BROKEN) if isinstance(status, int) else Cause.BROKEN
    detail = f"HTTP {status}" + (f", {reason}" if reason else "")
    return Failure(cause=cause, detail=detail, retry_after_seconds=_retry_after(error))


def _reason(answer: object) -> str:
    """The `reason` of google.rpc.ErrorInfo, which is a word in capitals; "" without one."""
    error = answer.get("error", answer) if isinstance(answer, dict) else {}
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        reason = detail.get("reason") if isinstance(detail, dict) else None
        if isinstance(reason, str) and reason.replace("_", "").isalpha() and reason.isupper():
            return reason
    return ""


def _retry_after(error: object) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", {})
    delay = delay_of(headers.get("retry-after"))
    return None if delay is None else min(delay, _LONGEST_RETRY_AFTER_SECONDS)
