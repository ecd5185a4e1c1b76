"""The operator's side of a failure: the command, or the sentence, that mends it."""

from __future__ import annotations

from a2a_hub.gemini.failure import Cause, Failure
from a2a_hub.gemini.settings import GeminiSettings

ROLE = "roles/aiplatform.user"
API = "aiplatform.googleapis.com"
_UNKNOWN_ACCOUNT = "SERVICE_ACCOUNT_EMAIL"


def hint(step: str, failure: Failure, settings: GeminiSettings, *, account: str | None) -> dict[str, str]:
    """What operators are told of a failed step, and nobody else: the remedy may name the project and the account."""
    return {
        "step": step,
        "cause": failure.cause.value,
        "resource": settings.model,
        "detail": failure.detail,
        "remedy": remedy(failure.cause, settings, account=account),
    }


def remedy(cause: Cause, settings: GeminiSettings, *, account: str | None) -> str:
    """What to do; `account` is the service account that was refused, where it is known."""
    project = settings.project
    match cause:
        case Cause.NO_CREDENTIALS:
            return (
                "gcloud auth application-default login (on your own machine; on Cloud Run, deploy the function with "
                "--service-account, and see that this account exists and is enabled)"
            )
        case Cause.DENIED:
            member = f"serviceAccount:{account or _UNKNOWN_ACCOUNT}"
            return f"gcloud projects add-iam-policy-binding {project} --member={member} --role={ROLE}"
        case Cause.API_DISABLED:
            return f"gcloud services enable {API} --project={project}"
        case Cause.NOT_FOUND:
            return (
                f"set {settings.variable} and GOOGLE_CLOUD_LOCATION to a model and a location that has it: "
                f"{settings.model} is not in {settings.location}"
            )
        case Cause.QUOTA:
            return (
                "ask again in a minute: Gemini's newer models have no quota to raise, but capacity that all projects share; "
                f"where it comes again, {_more_capacity(settings)}"
            )
        case Cause.UNREACHABLE | Cause.CUT:
            return f"see that the function can reach {API} (VPC egress, DNS), then ask again"
        case Cause.TIMEOUT:
            return "raise MODEL_TIMEOUT_SECONDS and the route's timeout_seconds, or choose a faster model"
        case Cause.STALLED:
            return "raise MODEL_IDLE_SECONDS if the model thinks for longer, or choose a faster model"
        case Cause.EMPTY:
            return "raise MODEL_MAX_OUTPUT_TOKENS: what the model thinks counts, too"
        case Cause.QUESTION_BLOCKED | Cause.ANSWER_BLOCKED | Cause.RECITATION:
            return "nothing is broken: the model's content filters decided so"
        case _:
            return "see the function's log by the request's id; status.cloud.google.com tells of disruptions"


def _more_capacity(settings: GeminiSettings) -> str:
    reserved = "reserve capacity (Provisioned Throughput)"
    if settings.location == "global":
        return reserved
    return f"set GOOGLE_CLOUD_LOCATION=global, which draws on every region's capacity, or {reserved}"
