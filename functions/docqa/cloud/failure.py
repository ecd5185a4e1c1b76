"""Reasons why documents on Google Cloud could not be searched or read: causes, Google's exceptions as causes, and remedies."""

from __future__ import annotations

from enum import StrEnum

from functions.docqa.cloud.config import CloudConfig
from functions.docqa.model import Hint

SEARCH_ROLE = "roles/discoveryengine.viewer"
READ_ROLE = "roles/storage.objectViewer"
USER_SCOPE = "https://www.googleapis.com/auth/discoveryengine.serving.readwrite"
_UNKNOWN_ACCOUNT = "SERVICE_ACCOUNT_EMAIL"


class Step(StrEnum):
    """The step that failed. Search and read need separate permissions."""

    SEARCH = "search"
    SOURCE = "source"


class Cause(StrEnum):
    """The causes, distinguished only where the remedy differs."""

    NO_CREDENTIALS = "no_credentials"
    NOT_SIGNED_IN = "not_signed_in"
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


class Failure(Exception):
    """One failure. `resource` is what it is about (a `gs://` URI, or the serving config); `detail` is for the operator
    and holds no foreign text.
    """

    def __init__(self, *, step: Step, cause: Cause, resource: str, detail: str = "") -> None:
        super().__init__(f"{step} {cause} {resource}")
        self.step, self.cause, self.resource, self.detail = step, cause, resource, detail


def failure_of(error: BaseException, *, step: Step, resource: str) -> Failure:
    """Return the failure that an exception of Google's libraries stands for; an unknown one is BROKEN."""
    if isinstance(error, Failure):
        return error
    status = getattr(error, "code", None)
    reason = getattr(error, "reason", None)
    detail = type(error).__name__
    if isinstance(status, int):
        detail += f", HTTP {int(status)}"
    if isinstance(reason, str) and reason.isupper():
        detail += f", {reason}"
    return Failure(step=step, cause=_cause(error, reason), resource=resource, detail=detail)


def hint_of(failure: Failure, config: CloudConfig, *, account: str | None) -> Hint:
    """Return the failure for the operator, with the command or the sentence that fixes it."""
    return Hint(
        step=failure.step,
        cause=failure.cause,
        resource=failure.resource,
        detail=failure.detail,
        remedy=remedy(failure, config, account=account),
    )


def remedy(failure: Failure, config: CloudConfig, *, account: str | None) -> str:
    """Return the command or the sentence; `account` is the service account that was refused, where it is known."""
    member = f"serviceAccount:{account or _UNKNOWN_ACCOUNT}"
    service = "discoveryengine" if failure.step is Step.SEARCH else "storage"
    bucket = "gs://" + failure.resource.removeprefix("gs://").partition("/")[0]
    match (failure.step, failure.cause):
        case (_, Cause.NOT_SIGNED_IN):
            return (
                f'set boundary = "user" on the route of docqa and PASS_CALLER_TOKEN=true at the gate, and let users grant the '
                f"scope: hubctl register … --scope {USER_SCOPE}"
            )
        case (Step.SEARCH, Cause.DENIED) if config.as_user:
            return (
                f"gcloud projects add-iam-policy-binding {config.project} --member=group:GROUP_OF_THE_USERS "
                f"--role={SEARCH_ROLE} (and the sign-in must grant the scope {USER_SCOPE})"
            )
        case (_, Cause.NO_CREDENTIALS):
            return (
                "gcloud auth application-default login (on your own machine; on Cloud Run, deploy the function with "
                "--service-account, and see that this account exists and is enabled)"
            )
        case (_, Cause.API_DISABLED):
            return f"gcloud services enable {service}.googleapis.com --project={config.project}"
        case (Step.SEARCH, Cause.DENIED):
            return f"gcloud projects add-iam-policy-binding {config.project} --member={member} --role={SEARCH_ROLE}"
        case (Step.SOURCE, Cause.DENIED):
            return f"gcloud storage buckets add-iam-policy-binding {bucket} --member={member} --role={READ_ROLE}"
        case (Step.SEARCH, Cause.QUOTA):
            return f"gcloud beta quotas info list --service={service}.googleapis.com --project={config.project}"
        case (Step.SOURCE, Cause.QUOTA):
            return (
                "ask again in a minute: Cloud Storage takes more requests as their number grows; where it comes again, "
                "see the bandwidth quotas of Cloud Storage in the console"
            )
        case (Step.SEARCH, Cause.NOT_FOUND):
            return (
                "see that the serving config's project, location and data store or engine exist, and set "
                "DISCOVERY_ENGINE_DATA_STORE or DISCOVERY_ENGINE_ENGINE, and DISCOVERY_ENGINE_LOCATION, accordingly"
            )
        case (Step.SEARCH, Cause.REJECTED):
            return "see that DISCOVERY_ENGINE_SERVING_CONFIG names a search serving config of this location"
        case (_, Cause.UNREACHABLE | Cause.TIMEOUT):
            return f"see that the function can reach {service}.googleapis.com (VPC egress, DNS), then ask again"
        case (Step.SOURCE, Cause.TOO_LARGE):
            return "split the document"
        case (Step.SOURCE, Cause.NOT_FOUND | Cause.CHANGED):
            return (
                "hubctl corpus status, then hubctl corpus push --prune: the data store does not agree with the bucket"
            )
        case (Step.SOURCE, Cause.UNREADABLE):
            return f"gcloud storage cp {failure.resource} . and replace it by a document that opens without a password"
        case (_, Cause.BROKEN):
            return f"ask again; status.cloud.google.com tells of disruptions of {service}.googleapis.com"
        case _:
            return "see the function's log by the request's id"


def _cause(error: BaseException, reason: object) -> Cause:
    import requests
    from google.api_core import exceptions as api
    from google.auth import exceptions as auth

    match error:
        case api.RetryError() if error.cause is not None:
            return _cause(error.cause, getattr(error.cause, "reason", None))
        case api.Unauthorized() | auth.GoogleAuthError():
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
