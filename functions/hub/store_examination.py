"""The doctor's examination of the task store: the database, the role, and the indexes of lists, as the hub itself."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from a2a_hub.a2a.model import TaskState
from a2a_hub.diagnosis import report
from a2a_hub.quota.limits import Quota
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.task_store.store import SharedState, TaskQuery, TaskStore, Unavailable

ROLE = "roles/datastore.user"
API = "firestore.googleapis.com"
_PREPARE = "./deploy.sh --only prepare"
# No caller's owner, and no route's role.
_NOBODY = "doctor"
_MOST_CLAIMS = 1000
_MOST_SHOWN = 5
# Each has an index of its own.
_QUERIES = tuple(
    TaskQuery(context_id=context, states=states) for context in (None, _NOBODY) for states in ((), (TaskState.WORKING,))
)


def examine_store(store: TaskStore, settings: StoreSettings, *, account: str | None) -> Iterator[report.Step]:
    """Yield the steps. `account` is the service account of the hub, if it is known."""
    started = time.monotonic()
    try:
        for query in _QUERIES:
            store.list(_NOBODY, query, size=1, after=None)
        store.due((_NOBODY,), limit=1)
    except Unavailable as unavailable:
        seen, remedy = _seen_and_remedy(unavailable, settings, account or "SERVICE_ACCOUNT_EMAIL")
        yield report.failed("store", f"{_name(settings)}: {seen}", remedy=remedy)
        return
    message = f"{_name(settings)} answers lists of tasks"
    fix = "ask again; where it stays slow, see status.cloud.google.com, or the load of this machine"
    yield report.in_time("store", message, seconds=time.monotonic() - started, fix=fix)


def examine_quotas(store: SharedState) -> Iterator[report.Step]:
    """Yield a step for each kind of quota: its largest claims. Nothing if the store is away, which is a step of its own."""
    used: dict[str, Counter[str]] = {}
    with suppress(Unavailable):
        for claim in store.quota_claims("", limit=_MOST_CLAIMS):
            kind, _, subject = claim.counter.partition("/")
            if kind in set(Quota):
                used.setdefault(kind, Counter())[subject] += claim.amount
    for kind, claims in used.items():
        largest = ", ".join(f"{subject}: {amount}" for subject, amount in claims.most_common(_MOST_SHOWN))
        yield report.ok(kind, f"{len(claims)} of callers and routes in use; {largest}")


def _name(settings: StoreSettings) -> str:
    return settings.file.name if settings.file else f"Firestore {settings.database} of {settings.project}"


def _seen_and_remedy(unavailable: Unavailable, settings: StoreSettings, account: str) -> tuple[str, str]:
    if settings.file:
        return (
            "the file cannot be read",
            "see that the disk is not full, and that the file and its folder can be written",
        )
    cause = unavailable.__cause__
    # The error of the last retry.
    cause = getattr(cause, "cause", None) or cause
    project, text = settings.project, str(cause)
    match type(cause).__name__:
        case "NotFound":
            return "there is no such database", f"{_PREPARE} makes it"
        case "PermissionDenied" | "Forbidden" if "SERVICE_DISABLED" in text or "has not been used" in text:
            return "the API is not enabled", f"gcloud services enable {API} --project={project}"
        case "PermissionDenied" | "Forbidden":
            return (
                f"{account} lacks {ROLE}",
                f"gcloud projects add-iam-policy-binding {project} --member=serviceAccount:{account} --role={ROLE}",
            )
        case "FailedPrecondition" if "datastore mode" in text.lower():
            return (
                "the database is in Datastore mode",
                'name another: TASK_STORE = "firestore:NAME" in deploy.toml, which deploy.sh then makes',
            )
        case "FailedPrecondition":
            return "an index is missing", f"{_PREPARE} makes it; Firestore takes some minutes to build it"
        case "ResourceExhausted" | "TooManyRequests":
            return "a quota is used up", "ask again in a minute; the console shows the quotas of Firestore"
        case "DefaultCredentialsError" | "RefreshError" | "Unauthenticated":
            remedy = "see that the hub runs as a service account that exists and is enabled"
            return "the hub has no valid credentials", remedy
        case _:
            return (
                "no answer",
                "see that the hub can reach firestore.googleapis.com; status.cloud.google.com tells of disruptions",
            )
