"""Sends the requests of a registration, with the operator's own credentials."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from a2a_hub.http.messages import JSON
from a2a_hub.identity.service_tokens import DefaultCredentials, TokenUnavailable
from hubctl.main import CommandError
from hubctl.registration import calls
from hubctl.registration.calls import Call
from hubctl.registration.explanations import explained
from hubctl.registration.target import Endpoints, Target

_SECONDS = 60.0
_MOST_BYTES = 16 << 20


class Refused(Exception):
    """The API's error: `code` the HTTP status, `status` Google's name of it, `reason` the machine-readable one."""

    def __init__(self, code: int, status: str, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.message = message
        self.reason = reason


class Api:
    """The API for one project. `access_token` gives the operator's token."""

    def __init__(
        self,
        *,
        target: Target,
        endpoints: Endpoints,
        access_token: Callable[[], str],
        http: HttpClient,
    ) -> None:
        self.target = target
        self.endpoints = endpoints
        self.http = http
        self._access_token = access_token

    def send(self, call: Call) -> dict[str, Any]:
        """The API's answer. Raises CommandError with what to do, for a refusal as for an answer that does not come."""
        try:
            return self.tried(call)
        except Refused as refused:
            raise self.refusal(refused) from None

    def refusal(self, refused: Refused) -> CommandError:
        """The error that tells the operator what to do about a refusal."""
        text = explained(refused.status, refused.message, refused.reason, self.target)
        return CommandError(f"{refused.status} (HTTP {refused.code}): {refused.message}\n{text}".rstrip())

    def tried(self, call: Call) -> dict[str, Any]:
        """The API's answer. Raises Refused, and CommandError where no answer comes."""
        headers = {
            "authorization": f"Bearer {self._access_token()}",
            "x-goog-user-project": self.target.project,
            "accept": JSON,
        }
        body = None
        if call.body is not None:
            headers["content-type"] = JSON
            body = json.dumps(call.body, ensure_ascii=False).encode()
        status, value = exchange(self.http, call.method, call.url(self.endpoints), headers=headers, body=body)
        if status == 200 and isinstance(value, dict):
            return value
        raise _refused(status, value)

    def found(self, name: str) -> dict[str, Any] | None:
        """The resource, None where it does not exist."""
        try:
            return self.tried(calls.get(name))
        except Refused as refused:
            if refused.code == 404:
                return None
            raise self.refusal(refused) from None

    def agents(self) -> Iterator[dict[str, Any]]:
        """Every agent of the app, page by page."""
        token: str | None = None
        while True:
            page = self.send(calls.list_agents(self.target, page_token=token))
            yield from page.get("agents", ())
            token = page.get("nextPageToken")
            if not token:
                return


def exchange(
    http: HttpClient, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None
) -> tuple[int, Any]:
    """Status and JSON of one exchange, None for what is no JSON. Raises CommandError where no answer comes."""
    budget = Budget(
        deadline=http.clock() + _SECONDS, connect_seconds=10, idle_seconds=_SECONDS, max_bytes=_MOST_BYTES
    )
    try:
        answer = http.request(method, url, headers=headers, body=body, budget=budget)
        content = answer.read()
    except HttpFailure as failure:
        address = url.partition("?")[0]
        raise CommandError(f"no answer from {address}: {failure.detail}") from None
    try:
        return answer.status, json.loads(content)
    except ValueError:
        return answer.status, None


def operators_token(environment: Mapping[str, str]) -> Callable[[], str]:
    """CLOUDSDK_AUTH_ACCESS_TOKEN, as gcloud reads it, else Application Default Credentials."""
    given = environment.get("CLOUDSDK_AUTH_ACCESS_TOKEN")
    if given:
        return lambda: given
    default = DefaultCredentials()

    def access_token() -> str:
        try:
            return default.access_token()
        except TokenUnavailable:
            raise CommandError(
                "there are no credentials: run `gcloud auth application-default login`, or set "
                'CLOUDSDK_AUTH_ACCESS_TOKEN="$(gcloud auth print-access-token)"'
            ) from None

    return access_token


def _refused(code: int, value: Any) -> Refused:
    error = value.get("error") if isinstance(value, dict) else None
    if not isinstance(error, dict):
        return Refused(code, "UNKNOWN", "the answer is not one of the API's")
    details = error.get("details")
    reasons = [each.get("reason") for each in details or () if isinstance(each, dict) and each.get("reason")]
    return Refused(code, str(error.get("status")), str(error.get("message")), next(map(str, reasons), None))
