"""Why documents on Google Cloud could not be searched or read: causes, and Google's exceptions as causes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Step(StrEnum):
    """What was being done. Being allowed to search does not mean being allowed to read."""

    SEARCH = "search"
    SOURCE = "source"


class Cause(StrEnum):
    """What went wrong, as far as somebody has to do something else about it."""

    NO_CREDENTIALS = "no_credentials"
    DENIED = "denied"
    API_DISABLED = "api_disabled"
    NOT_FOUND = "not_found"
    QUOTA = "quota"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    REJECTED = "rejected"
    BROKEN = "broken"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    CHANGED = "changed"
    NO_SOURCE = "no_source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One failure. `resource` is what it is about (a `gs://` URI, or the serving config); `detail` is for the operator
    and holds no foreign text.
    """

    step: Step
    cause: Cause
    resource: str
    detail: str = ""


class CloudFailure(Exception):
    """Carries a Failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.step} {failure.cause} {failure.resource}")
        self.failure = failure


def failure_of(error: BaseException, *, step: Step, resource: str) -> Failure:
    """What an exception of Google's libraries means; whatever is not known is BROKEN."""
    if isinstance(error, CloudFailure):
        return error.failure
    status = getattr(error, "code", None)
    reason = getattr(error, "reason", None)
    detail = type(error).__name__
    if isinstance(status, int):
        detail += f", HTTP {int(status)}"
    if isinstance(reason, str) and reason.isupper():
        detail += f", {reason}"
    return Failure(step=step, cause=_cause(error, reason), resource=resource, detail=detail)


def _cause(error: BaseException, reason: object) -> Cause:
    import requests
    from google.api_core import exceptions as api
    from google.auth import exceptions as auth

    match error:
        case api.RetryError() if error.cause is not None:
            return _cause(error.cause, getattr(error.cause, "reason", None))
        case api.Unauthorized() | auth.DefaultCredentialsError() | auth.RefreshError():
            return Cause.NO_CREDENTIALS
        case auth.TransportError():
            return Cause.NO_CREDENTIALS
        case api.Forbidden():
            return Cause.API_DISABLED if reason == "SERVICE_DISABLED" else Cause.DENIED
        case api.NotFound():
            return Cause.NOT_FOUND
        case api.TooManyRequests():
            return Cause.QUOTA
        case api.GatewayTimeout() | requests.Timeout() | TimeoutError():
            return Cause.TIMEOUT
        case requests.ConnectionError() | ConnectionError():
            return Cause.UNREACHABLE
        case api.BadRequest():
            return Cause.REJECTED
        case _:
            return Cause.BROKEN
