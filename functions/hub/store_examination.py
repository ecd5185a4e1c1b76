"""The doctor's examination of the task store: the database, the role, and the indexes of lists, as the hub itself."""

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from a2a_hub.a2a.model import TaskState
from a2a_hub.diagnosis import report
from a2a_hub.diagnosis.steps import steps_of
from a2a_hub.quota.limits import Quota
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.task_store.store import SharedState, TaskQuery, TaskStore, Unavailable

_STEPS = steps_of(Path(__file__).with_suffix(".toml"))
# No caller's owner, and no route's role.
_NOBODY = "doctor"
_MAX_CLAIMS = 1000
_MIN_FREE_BYTES = 2_000_000
_MAX_SHOWN = 5
# Each has an index of its own.
_QUERIES = tuple(
    TaskQuery(context_id=context, states=states) for context in (None, _NOBODY) for states in ((), (TaskState.WORKING,))
)


def examine_store(
    store: TaskStore, settings: StoreSettings, *, account: str | None, min_free_bytes: int = _MIN_FREE_BYTES
) -> Iterator[report.Step]:
    """Yield the steps. `account` is the service account of the hub, if it is known."""
    started = time.monotonic()
    try:
        for query in _QUERIES:
            store.list(_NOBODY, query, size=1, after=None)
        store.due((_NOBODY,), limit=1)
        # A full disk still lets everything be read.
        fault = "full" if settings.file and shutil.disk_usage(settings.file.parent).free < min_free_bytes else None
    except Unavailable as unavailable:
        fault = "file" if settings.file else _fault(unavailable)
    if fault:
        step = _STEPS.filled(fault, project=settings.project, account=account or "SERVICE_ACCOUNT_EMAIL")
        yield replace(step, message=f"{_name(settings)}: {step.message}")
        return
    message = f"{_name(settings)} answers lists of tasks"
    fix = "ask again; where it stays slow, see status.cloud.google.com, or the load of this machine"
    yield report.in_time("store", message, seconds=time.monotonic() - started, fix=fix)


def examine_quotas(store: SharedState) -> Iterator[report.Step]:
    """Yield a step for each kind of quota with its largest claims; nothing during an outage of the store, which has its own
    step.
    """
    used: dict[str, Counter[str]] = {}
    with suppress(Unavailable):
        for claim in store.quota_claims("", limit=_MAX_CLAIMS):
            kind, _, subject = claim.counter.partition("/")
            if kind in set(Quota):
                used.setdefault(kind, Counter())[subject] += claim.amount
    for kind, claims in used.items():
        largest = ", ".join(f"{subject}: {amount}" for subject, amount in claims.most_common(_MAX_SHOWN))
        yield report.ok(kind, f"{len(claims)} of callers and routes in use; {largest}")


def _name(settings: StoreSettings) -> str:
    return settings.file.name if settings.file else f"Firestore {settings.database} of {settings.project}"


def _fault(unavailable: Unavailable) -> str:
    """Return the name of what Firestore answers."""
    cause = unavailable.__cause__
    # The error of the last retry.
    cause = getattr(cause, "cause", None) or cause
    text = str(cause)
    match type(cause).__name__:
        case "NotFound":
            return "no_database"
        case "PermissionDenied" | "Forbidden":
            is_off = "SERVICE_DISABLED" in text or "has not been used" in text
            return "api_off" if is_off else "no_role"
        case "FailedPrecondition":
            return "datastore_mode" if "datastore mode" in text.lower() else "no_index"
        case "ResourceExhausted" | "TooManyRequests":
            return "quota"
        case "DefaultCredentialsError" | "RefreshError" | "Unauthenticated":
            return "no_credentials"
        case _:
            return "no_answer"
