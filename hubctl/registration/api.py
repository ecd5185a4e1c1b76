"""Sends the requests of a registration with the operator's own credentials, and explains refusals."""

import argparse
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON
from a2a_hub.identity.default_credentials import DefaultCredentials
from a2a_hub.identity.service_tokens import TokenUnavailable
from hubctl.connection import NO_CREDENTIALS
from hubctl.main import CommandError
from hubctl.registration.target import Call, Endpoints, Target, get_resource

_SECONDS, _MAX_BYTES = 60.0, 16 << 20
_REFUSALS = Path(__file__).with_name("refusals.toml")


class Refused(Exception):
    """The API's error: `code` the HTTP status, `status` Google's name of it, `reason` the machine-readable one."""

    def __init__(self, code: int, answer: Any) -> None:
        error = answer.get("error") if isinstance(answer, dict) else None
        if not isinstance(error, dict):
            error = {"status": "UNKNOWN", "message": "the answer is not one of the API's"}
        super().__init__(error.get("message"))
        self.code = code
        self.status = str(error.get("status"))
        self.message = str(error.get("message"))
        reasons = (each.get("reason") for each in error.get("details") or () if isinstance(each, dict))
        self.reason = next(filter(None, reasons), None)


class Api:
    """The API for one project. `access_token` returns the operator's token."""

    def __init__(
        self, *, target: Target, endpoints: Endpoints, access_token: Callable[[], str], http: HttpClient
    ) -> None:
        self.target = target
        self.endpoints = endpoints
        self.http = http
        self._access_token = access_token

    def send(self, call: Call) -> dict[str, Any]:
        """Send the call and return the API's answer. Raises CommandError with a fix, for a refusal as for a missing answer."""
        try:
            return self.tried(call)
        except Refused as refused:
            raise self.refusal(refused) from None

    def refusal(self, refused: Refused) -> CommandError:
        """Return the error that tells the operator what to do about a refusal."""
        text = f"{refused.status} (HTTP {refused.code}): {refused.message}\n{explained(refused, self.target)}"
        return CommandError(text.rstrip())

    def tried(self, call: Call) -> dict[str, Any]:
        """Send the call and return the API's answer. Raises Refused, and CommandError where no answer comes."""
        headers = {
            "authorization": f"Bearer {self._access_token()}",
            "x-goog-user-project": self.target.project,
            "accept": JSON,
        }
        body = None
        if call.body is not None:
            headers["content-type"] = JSON
            body = json.dumps(call.body, ensure_ascii=False).encode()
        status, value = json_exchange(self.http, call.method, call.url(self.endpoints), headers=headers, body=body)
        if status == 200 and isinstance(value, dict):
            return value
        raise Refused(status, value)

    def found(self, name: str) -> dict[str, Any] | None:
        """Return the resource, None where it does not exist."""
        try:
            return self.tried(get_resource(name))
        except Refused as refused:
            if refused.code == 404:
                return None
            raise self.refusal(refused) from None

    def agents(self) -> Iterator[dict[str, Any]]:
        """Yield every agent of the app, page by page."""
        token: str | None = None
        while True:
            page = self.send(self.target.list_agents(page_token=token))
            yield from page.get("agents", ())
            token = page.get("nextPageToken")
            if not token:
                return


def json_exchange(
    http: HttpClient, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None
) -> tuple[int, Any]:
    """Return status and JSON of one exchange, None for what is no JSON. Raises CommandError where no answer comes."""
    try:
        answer, content = fetch(http, method, url, headers=headers, body=body, seconds=_SECONDS, max_bytes=_MAX_BYTES)
    except HttpFailure as failure:
        raise CommandError(f"no answer from {url.partition('?')[0]}: {failure.detail}") from None
    try:
        return answer.status, json.loads(content)
    except ValueError:
        return answer.status, None


def api_of(
    arguments: argparse.Namespace,
    environment: Mapping[str, str],
    *,
    missing: str,
    authorization_id: str | None,
    authorization_location: str | None = None,
) -> Api:
    """Return the API for the app that options or environment name. Raises CommandError, with `missing` if they name none."""
    project = arguments.project or environment.get("GOOGLE_CLOUD_PROJECT")
    app = arguments.app or environment.get("GEMINI_ENTERPRISE_APP")
    location = arguments.location or environment.get("GEMINI_ENTERPRISE_LOCATION") or "global"
    if not project or not app:
        raise CommandError(missing)
    target = Target(
        project=project,
        location=location,
        app=app,
        authorization_id=authorization_id,
        authorization_location=authorization_location or location,
    )
    endpoints = Endpoints(arguments.endpoint or environment.get("GOOGLE_ENDPOINT") or None)
    return Api(target=target, endpoints=endpoints, access_token=operators_token(environment), http=HttpClient())


def operators_token(environment: Mapping[str, str]) -> Callable[[], str]:
    """Return the source of the token: CLOUDSDK_AUTH_ACCESS_TOKEN, as gcloud reads it, else Application Default Credentials."""
    given = environment.get("CLOUDSDK_AUTH_ACCESS_TOKEN")
    if given:
        return lambda: given
    default = DefaultCredentials()

    def access_token() -> str:
        try:
            return default.access_token()
        except TokenUnavailable:
            raise CommandError(NO_CREDENTIALS) from None

    return access_token


class Remedy(NamedTuple):
    """A row of refusals.toml."""

    status: str
    fix: str
    reason: str | None = None
    words: str = ""


@cache
def _remedies() -> list[Remedy]:
    return [Remedy(**row) for row in tomllib.loads(_REFUSALS.read_text(encoding="utf-8"))["refusals"]]


def explained(refused: Refused, target: Target) -> str:
    """Return what to do about a refusal; "" where nothing is known."""
    message = refused.message.lower()
    for remedy in _remedies():
        if remedy.status == refused.status and remedy.reason in (None, refused.reason) and remedy.words in message:
            return remedy.fix.format_map(asdict(target))
    return ""
