"""What an operator can do about a refusal of Cloud Storage or Discovery Engine."""

from __future__ import annotations

from hubctl.corpus.target import Target

_YOU = "--member=user:$(gcloud config get account)"


def explained(error: Exception, target: Target) -> str:
    """What happened, and the command that mends it."""
    import requests
    from google.api_core import exceptions as api
    from google.auth.exceptions import GoogleAuthError

    cause = getattr(error, "cause", None)
    if isinstance(error, api.RetryError) and isinstance(cause, Exception):
        error = cause
    at_storage = _is_storage(error)
    service = "storage" if at_storage else "discoveryengine"
    match error:
        case GoogleAuthError() | api.Unauthorized():
            return (
                "there are no valid credentials: run `gcloud auth application-default login`, or set "
                'CLOUDSDK_AUTH_ACCESS_TOKEN="$(gcloud auth print-access-token)"'
            )
        case api.Forbidden() if error.reason == "SERVICE_DISABLED":
            return f"the API is not enabled:\n  gcloud services enable {service}.googleapis.com --project={target.project}"
        case api.Forbidden() if at_storage:
            return (
                f"gs://{target.bucket} lets you not do this:\n  gcloud storage buckets add-iam-policy-binding "
                f"gs://{target.bucket} {_YOU} --role=roles/storage.objectUser"
            )
        case api.Forbidden():
            return (
                f"the data store {target.data_store} lets you not do this:\n  gcloud projects add-iam-policy-binding "
                f"{target.project} {_YOU} --role=roles/discoveryengine.editor"
            )
        case api.NotFound() if at_storage:
            return (
                f"there is no bucket gs://{target.bucket}:\n"
                f"  gcloud storage buckets create gs://{target.bucket} --project={target.project} "
                "--uniform-bucket-level-access"
            )
        case api.NotFound():
            return f"there is no data store {target.data_store} in {target.location}: docs/documents.md says how to make one"
        case api.PreconditionFailed():
            return "somebody else changed a document at the same time: run the command again"
        case api.TooManyRequests():
            return "the service's quota is used up for the moment: run the command again in a minute"
        case api.GoogleAPICallError() if error.code is not None:
            return f"the service answered {int(error.code)}: run the command again; what is done stays done"
        case requests.RequestException() | api.GoogleAPIError():
            return f"no answer from {service}.googleapis.com: run the command again; what is done stays done"
        case _:
            return f"{type(error).__name__} of {service}.googleapis.com: run the command again"


def _is_storage(error: Exception) -> bool:
    """Google's two libraries raise the same exceptions; the answer that one holds tells where it came from."""
    response = getattr(error, "response", None)
    request = getattr(response, "request", None) or getattr(error, "request", None)
    return "/storage/v1/" in str(getattr(request, "url", ""))
