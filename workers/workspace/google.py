"""Google's APIs with minimal scopes and bounded answers; a failure has a cause, and its remedy in the log."""

import functools
import json
import logging
import random
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

import google.auth
import requests
from google.auth import exceptions, impersonated_credentials
from google.auth.transport.requests import AuthorizedSession
from google.oauth2 import service_account

from workers.workspace.failures import Cause, GoogleFailed

_BASE = "https://www.googleapis.com/auth/"

READ_FILES: Final = _BASE + "drive.readonly"
READ_MAIL: Final = _BASE + "gmail.readonly"
READ_EVENTS: Final = _BASE + "calendar.events.readonly"
READ_FREE_TIME: Final = _BASE + "calendar.freebusy"
MAKE_FILES: Final = _BASE + "drive.file"
WRITE_DOCUMENTS: Final = _BASE + "documents"
WRITE_MAIL: Final = _BASE + "gmail.compose"
WRITE_EVENTS: Final = _BASE + "calendar.events"

T = TypeVar("T")
_PLATFORM = "https://www.googleapis.com/auth/cloud-platform"
_log = logging.getLogger("workspace")
_ATTEMPTS = 3
_BUSY_REASONS = {"rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "RATE_LIMIT_EXCEEDED"}
_DISABLED_REASONS = {"accessNotConfigured", "SERVICE_DISABLED"}
_SCOPE_REASONS = {"insufficientPermissions", "insufficientScopes", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}
_CAUSES = {
    400: Cause.INVALID,
    404: Cause.NOT_FOUND,
    409: Cause.CONFLICT,
    410: Cause.NOT_FOUND,
    412: Cause.CONFLICT,
}


def credentials_of(*, user: str, account: str) -> Callable[[str], Any]:
    """Return a source of credentials by scope: for `user`, impersonated by `account`; without a user, this machine's (ADC).

    The source, or the use of its credentials, raises GoogleAuthError.
    """

    def credentials(scope: str) -> Any:
        if not user:
            return google.auth.default(scopes=[scope])[0]
        source = google.auth.default(scopes=[_PLATFORM])[0]
        if account:
            return impersonated_credentials.Credentials(  # type: ignore[no-untyped-call]
                source_credentials=source, target_principal=account, target_scopes=[scope], subject=user
            )
        if not isinstance(source, service_account.Credentials):
            raise exceptions.DefaultCredentialsError(  # type: ignore[no-untyped-call]
                "WORKSPACE_USER needs WORKSPACE_ACCOUNT, or the key of a service account"
            )
        return source.with_scopes([scope]).with_subject(user)

    return credentials


class Api(StrEnum):
    """The base URL of an API."""

    DRIVE = "https://www.googleapis.com/drive/v3"
    UPLOAD = "https://www.googleapis.com/upload/drive/v3"
    DOCS = "https://docs.googleapis.com/v1"
    GMAIL = "https://gmail.googleapis.com/gmail/v1/users/me"
    CALENDAR = "https://www.googleapis.com/calendar/v3"

    @property
    def service(self) -> str:
        """The API's name for `gcloud services enable`."""
        name = "drive" if self is Api.UPLOAD else self.name.lower()
        return "calendar-json.googleapis.com" if name == "calendar" else f"{name}.googleapis.com"


def retried(call: Callable[[], T], *, first_wait_seconds: float) -> T:
    """Return the result of a call, which is repeated while Google is busy or unreachable. Raise GoogleFailed."""
    wait_seconds = first_wait_seconds
    for _ in range(_ATTEMPTS - 1):
        try:
            return call()
        except GoogleFailed as failed:
            if failed.cause not in (Cause.BUSY, Cause.UNREACHABLE):
                raise
        time.sleep(wait_seconds * random.uniform(0.5, 1))
        wait_seconds *= 2
    return call()


class Google:
    """The APIs, with the credentials that `credentials` returns for a scope.

    `endpoint` replaces the address of all of them. An answer has at most `max_bytes` and takes at most `seconds`.
    """

    def __init__(
        self,
        credentials: Callable[[str], Any],
        *,
        endpoint: str = "",
        seconds: float = 20.0,
        max_bytes: int = 2_000_000,
        first_wait_seconds: float = 0.5,
    ) -> None:
        self._credentials = credentials
        self._endpoint = endpoint.rstrip("/")
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._first_wait_seconds = first_wait_seconds
        self._sessions: dict[str, AuthorizedSession] = {}

    def get(self, api: Api, path: str, *, scope: str, **parameters: Any) -> dict[str, Any]:
        """Read a resource, with retries. Raise GoogleFailed."""
        return self._json(self._with_retries("GET", api, path, scope, params=parameters))

    def text(self, api: Api, path: str, *, scope: str, **parameters: Any) -> str:
        """Read a file's text, with retries. Raise GoogleFailed."""
        return self._with_retries("GET", api, path, scope, params=parameters).decode(errors="replace")

    def query(self, api: Api, path: str, value: object, *, scope: str) -> dict[str, Any]:
        """Post a query, with retries, because it changes nothing. Raise GoogleFailed."""
        return self._json(self._with_retries("POST", api, path, scope, json=value))

    def write(self, api: Api, path: str, value: object, *, scope: str, **parameters: Any) -> dict[str, Any]:
        """Post a change, once: before a retry, the caller checks if it took effect. Raise GoogleFailed."""
        return self._json(self._once("POST", api, path, scope, params=parameters, json=value))

    def upload(self, path: str, body: bytes, kind: str, *, scope: str, **parameters: Any) -> dict[str, Any]:
        """Upload a file, once. Raise GoogleFailed."""
        headers = {"Content-Type": kind}
        return self._json(self._once("POST", Api.UPLOAD, path, scope, params=parameters, data=body, headers=headers))

    def _with_retries(self, method: str, api: Api, path: str, scope: str, **request: Any) -> bytes:
        once = functools.partial(self._once, method, api, path, scope, **request)
        return retried(once, first_wait_seconds=self._first_wait_seconds)

    def _once(self, method: str, api: Api, path: str, scope: str, **request: Any) -> bytes:
        try:
            with self._session(scope).request(  # type: ignore[no-untyped-call]
                method,
                self._address(api) + path,
                timeout=self._seconds,
                max_allowed_time=self._seconds,
                stream=True,
                allow_redirects=False,
                **request,
            ) as answer:
                body = self._read(answer)
                if answer.status_code >= 300:
                    raise GoogleFailed(_cause(api, scope, answer.status_code, body))
                return body
        except exceptions.GoogleAuthError as error:
            if error.retryable or isinstance(error, exceptions.TransportError):
                _log.warning("%s: no token could be fetched: %s", api.service, error)
                raise GoogleFailed(Cause.UNREACHABLE) from None
            _log.error(
                "%s: the credentials give no token for %s (%s). docs/workspace-worker.md says how they are granted",
                *(api.service, scope, error),
            )
            raise GoogleFailed(Cause.SETTING_UP) from None
        except (requests.RequestException, OSError) as error:
            _log.warning("%s: %s", api.service, error)
            raise GoogleFailed(Cause.UNREACHABLE) from None

    def _read(self, answer: requests.Response) -> bytes:
        deadline = time.monotonic() + self._seconds
        body = bytearray()
        for piece in answer.iter_content(65536):
            body += piece
            if len(body) > self._max_bytes:
                raise GoogleFailed(Cause.TOO_LARGE)
            if time.monotonic() > deadline:
                raise GoogleFailed(Cause.UNREACHABLE)
        return bytes(body)

    def _address(self, api: Api) -> str:
        if not self._endpoint:
            return str(api)
        return self._endpoint + "/" + api.split("/", 3)[3]

    def _session(self, scope: str) -> AuthorizedSession:
        if scope not in self._sessions:
            self._sessions[scope] = AuthorizedSession(  # type: ignore[no-untyped-call]
                self._credentials(scope), refresh_timeout=self._seconds
            )
        return self._sessions[scope]

    @staticmethod
    def _json(body: bytes) -> dict[str, Any]:
        try:
            value = json.loads(body or b"{}")
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise GoogleFailed(Cause.UNREACHABLE)
        return value


def _cause(api: Api, scope: str, status: int, body: bytes) -> Cause:
    reasons, message = _error_details(body)
    if status == 429 or status >= 500 or reasons & _BUSY_REASONS:
        cause, remedy = Cause.BUSY, "it was too much at once, or Google's own trouble"
    elif reasons & _DISABLED_REASONS:
        cause, remedy = Cause.SETTING_UP, f"gcloud services enable {api.service}"
    elif status == 401 or reasons & _SCOPE_REASONS:
        cause, remedy = Cause.SETTING_UP, f"grant {scope} (docs/workspace-worker.md)"
    elif status == 403:
        cause, remedy = Cause.NOT_ALLOWED, "the person may not do this"
    else:
        cause, remedy = _CAUSES.get(status, Cause.INVALID), "nothing"
    level = logging.ERROR if cause is Cause.SETTING_UP else logging.INFO
    _log.log(level, "%s: status %d, %s; what fixes it: %s", api.service, status, message, remedy)
    return cause


def _error_details(body: bytes) -> tuple[set[str], str]:
    """Return the reasons and the text of a Google API error, in the older or newer form."""
    try:
        error: Mapping[str, Any] = json.loads(body)["error"]
        entries = [*error.get("errors", ()), *error.get("details", ())]
        return {str(entry.get("reason")) for entry in entries}, str(error.get("message", ""))[:500]
    except (ValueError, LookupError, TypeError, AttributeError):
        return set(), "no reason was given"
