"""Sends the requests of a registration with the operator's own credentials, and explains refusals."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from a2a_hub.http.client import HttpClient, HttpFailure
from a2a_hub.http.messages import JSON
from a2a_hub.identity.default_credentials import DefaultCredentials
from a2a_hub.identity.service_tokens import TokenUnavailable
from hubctl.connection import exchange
from hubctl.main import CommandError
from hubctl.registration.target import Call, Endpoints, Target, get_resource


class Refused(Exception):
    """The API's error: `code` the HTTP status, `status` Google's name of it, `reason` the machine-readable one."""

    def __init__(self, code: int, status: str, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.message = message
        self.reason = reason


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
        text = explained(refused.status, refused.message, refused.reason, self.target)
        return CommandError(f"{refused.status} (HTTP {refused.code}): {refused.message}\n{text}".rstrip())

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
        raise _refused(status, value)

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
        answer = exchange(http, method, url, headers=headers, body=body)
    except HttpFailure as failure:
        raise CommandError(f"no answer from {url.partition('?')[0]}: {failure.detail}") from None
    try:
        return answer.status, json.loads(answer.body)
    except ValueError:
        return answer.status, None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """For refusals of this status, with this reason and words in the message (in any case) where they are given."""

    status: str
    advice: str
    """With {target} for the registration's place."""
    reason: str | None = None
    words: str = ""


# The first that fits applies.
EXPLANATIONS: tuple[Explanation, ...] = (
    Explanation(
        status="UNAUTHENTICATED",
        advice=(
            "The token is not valid (any more). Make CLOUDSDK_AUTH_ACCESS_TOKEN anew, or unset it and run:\n"
            "    gcloud auth application-default login"
        ),
    ),
    Explanation(
        status="PERMISSION_DENIED",
        reason="USER_PROJECT_DENIED",
        advice=(
            "You may not let {target.project} pay for the calls. Is --project right? Then somebody who may grant it runs:\n"
            "    gcloud projects add-iam-policy-binding {target.project} \\\n"
            '        --member="user:$(gcloud config get-value account)" --role=roles/serviceusage.serviceUsageConsumer'
        ),
    ),
    Explanation(
        status="PERMISSION_DENIED",
        reason="SERVICE_DISABLED",
        advice=(
            "The API is not enabled. Run, and wait a minute:\n"
            "    gcloud services enable discoveryengine.googleapis.com --project={target.project}"
        ),
    ),
    Explanation(
        status="PERMISSION_DENIED",
        advice=(
            "You lack the role, or the project is another one. Somebody who may grant it runs:\n"
            "    gcloud projects add-iam-policy-binding {target.project} \\\n"
            '        --member="user:$(gcloud config get-value account)" --role=roles/discoveryengine.agentspaceAdmin'
        ),
    ),
    Explanation(
        status="INVALID_ARGUMENT",
        words="authorization",
        advice=(
            "The authorization was not taken in location {target.authorization_location!r}. It has to exist in `global` or in "
            "the app's own location (reports differ): try the other one with --authorization-location."
        ),
    ),
    Explanation(
        status="INVALID_ARGUMENT",
        advice="If it is about the card, this finds the place:\n    hubctl check --card FILE",
    ),
    Explanation(
        status="FAILED_PRECONDITION",
        words="used by another agent",
        advice=(
            "One authorization serves one agent. Give this one an authorization of its own:\n"
            "    hubctl register … --authorization OTHER_ID\n"
            "or find and delete the agent that holds it (it may be in another app):\n"
            "    hubctl register list …\n"
            "    hubctl register delete AGENT_ID …"
        ),
    ),
    Explanation(status="NOT_FOUND", words="/agents/", advice="This lists the agents:\n    hubctl register list …"),
    Explanation(
        status="NOT_FOUND",
        advice=(
            "There is no app {target.app!r} in location {target.location!r} of {target.project!r}. --app takes its id, which is "
            "not its name; the console shows both, and its location, under Gemini Enterprise › Apps."
        ),
    ),
)


def explained(status: str, message: str, reason: str | None, target: Target) -> str:
    """Return what to do about a refusal; "" where nothing is known."""
    for each in EXPLANATIONS:
        if each.status == status and each.reason in (None, reason) and each.words in message.lower():
            return each.advice.format(target=target)
    return ""
