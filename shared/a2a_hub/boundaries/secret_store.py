"""Secrets from the environment and from Google Cloud's Secret Manager (its REST API, v1)."""

import base64
from collections.abc import Mapping

import msgspec

from a2a_hub.boundaries.sources import NoCredential, SecretReference, fetch_shared
from a2a_hub.http.client import Http, HttpFailure, fetch
from a2a_hub.http.messages import JSON
from a2a_hub.identity.service_tokens import ServiceTokens, TokenUnavailable
from a2a_hub.runtime.shared_fetch import Fetched, SharedFetch

ENDPOINT = "https://secretmanager.googleapis.com"
# A version that was added is in use after this time.
_FRESH_SECONDS = 300.0
_SECONDS = 10.0


class SecretStore:
    """A `Source` of secrets. `tokens` are the hub's own, which Secret Manager takes; None reads the environment alone."""

    def __init__(
        self,
        variables: Mapping[str, str],
        *,
        http: Http,
        tokens: ServiceTokens | None,
        endpoint: str = ENDPOINT,
    ) -> None:
        self._variables = variables
        self._http = http
        self._tokens = tokens
        self._endpoint = endpoint
        self._fetched = SharedFetch(self._fetch, clock=http.clock, name="secret")

    def value(self, reference: SecretReference, *, rejected: str | None = None) -> str:
        """See `Source.value`."""
        if (name := reference.variable) is None:
            return fetch_shared(self._fetched, reference, "secret", rejected=rejected)
        value = self._variables.get(name, "").strip()
        if not value:
            raise NoCredential("no_secret", f"the hub has no variable {name}", reference.remedy)
        return _checked(value, reference)

    def _fetch(self, reference: SecretReference) -> Fetched:
        if self._tokens is None:
            raise NoCredential(
                "no_secret",
                f"with IAM_CREDENTIALS=none the hub cannot read {reference}",
                "unset IAM_CREDENTIALS, so that Application Default Credentials are used, or name a variable (env:NAME)",
            )
        try:
            headers = {"authorization": f"Bearer {self._tokens.access_token()}", "accept": JSON}
            url = f"{self._endpoint}/v1/{reference.text}:access"
            answer, body = fetch(self._http, "GET", url, headers=headers, seconds=_SECONDS)
        except (TokenUnavailable, HttpFailure):
            raise NoCredential(
                "no_secret",
                f"Secret Manager could not be asked for {reference}",
                "see that the hub runs as a service account and can reach secretmanager.googleapis.com",
            ) from None
        if answer.status != 200:
            raise _refusal(answer.status, body, reference)
        try:
            data = msgspec.json.decode(body)["payload"]["data"]
            value = base64.b64decode(data, validate=True).decode().strip()
        except (ValueError, KeyError, TypeError, RecursionError):
            raise NoCredential("no_secret", f"{reference} holds no text", reference.remedy) from None
        now = self._http.clock()
        return Fetched(_checked(value, reference), now + _FRESH_SECONDS, float("inf"))


def _checked(value: str, reference: SecretReference) -> str:
    """Return a value that a header can carry. Raises NoCredential."""
    if value.isascii() and value.isprintable() and value:
        return value
    raise NoCredential("no_secret", f"{reference} holds more than one line of ASCII", reference.remedy)


def _refusal(status: int, body: bytes, reference: SecretReference) -> NoCredential:
    project = reference.text.split("/")[1]
    cause, remedy = f"Secret Manager answered HTTP {status}", "try again; status.cloud.google.com tells of disruptions"
    match status:
        case 403 if b"SERVICE_DISABLED" in body:
            cause = f"Secret Manager is not enabled in {project}"
            remedy = f"gcloud services enable secretmanager.googleapis.com --project={project}"
        case 401 | 403:
            cause, remedy = f"the hub may not read {reference}", reference.grant
        case 404:
            cause, remedy = f"there is no {reference}", reference.remedy
        case 400:
            cause, remedy = f"{reference} is disabled or destroyed", reference.remedy
    return NoCredential("no_secret", cause, remedy)
