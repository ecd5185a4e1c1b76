"""The operator's side of a failure: the command, or the sentence, that mends it."""

from __future__ import annotations

from functions.docqa.cloud.config import CloudConfig
from functions.docqa.cloud.failure import Cause, Failure, Step

SEARCH_ROLE = "roles/discoveryengine.viewer"
READ_ROLE = "roles/storage.objectViewer"
_UNKNOWN_ACCOUNT = "SERVICE_ACCOUNT_EMAIL"


def remedy(failure: Failure, config: CloudConfig, *, account: str | None) -> str:
    """What to do; `account` is the service account that was refused, where it is known."""
    member = f"serviceAccount:{account or _UNKNOWN_ACCOUNT}"
    service = "discoveryengine" if failure.step is Step.SEARCH else "storage"
    bucket = "gs://" + failure.resource.removeprefix("gs://").partition("/")[0]
    match (failure.step, failure.cause):
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
            return "raise MAX_SOURCE_BYTES, or split the document"
        case (Step.SOURCE, Cause.NOT_FOUND | Cause.CHANGED | Cause.NO_SOURCE):
            return (
                "hubctl corpus status, then hubctl corpus push --prune: the data store does not agree with the bucket"
            )
        case (Step.SOURCE, Cause.UNREADABLE):
            return f"gcloud storage cp {failure.resource} . and replace it by a document that opens without a password"
        case (_, Cause.BROKEN):
            return f"ask again; status.cloud.google.com tells of disruptions of {service}.googleapis.com"
        case _:
            return "see the function's log by the request's id"
