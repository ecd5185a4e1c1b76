"""What to do about each refusal of the API, as one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hubctl.registration.target import Target

ROLE = "roles/discoveryengine.agentspaceAdmin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """For refusals of this status, with this reason and words in the message (in any case) where they are given."""

    status: str
    advice: Callable[[Target], str]
    reason: str | None = None
    words: str = ""


# The first that fits is told.
EXPLANATIONS: tuple[Explanation, ...] = (
    Explanation(
        status="UNAUTHENTICATED",
        advice=lambda _: (
            "The token is not valid (any more). Make CLOUDSDK_AUTH_ACCESS_TOKEN anew, or unset it and run:\n"
            "    gcloud auth application-default login"
        ),
    ),
    Explanation(
        status="PERMISSION_DENIED",
        reason="USER_PROJECT_DENIED",
        advice=lambda target: (
            f"You may not let {target.project} pay for the calls. Is --project right? Then somebody who may grant it runs:\n"
            f"    gcloud projects add-iam-policy-binding {target.project} \\\n"
            '        --member="user:$(gcloud config get-value account)" --role=roles/serviceusage.serviceUsageConsumer'
        ),
    ),
    Explanation(
        status="PERMISSION_DENIED",
        reason="SERVICE_DISABLED",
        advice=lambda target: (
            "The API is not enabled. Run, and wait a minute:\n"
            f"    gcloud services enable discoveryengine.googleapis.com --project={target.project}"
        ),
    ),
    Explanation(
        status="PERMISSION_DENIED",
        advice=lambda target: (
            "You lack the role, or the project is another one. Somebody who may grant it runs:\n"
            f"    gcloud projects add-iam-policy-binding {target.project} \\\n"
            f'        --member="user:$(gcloud config get-value account)" --role={ROLE}'
        ),
    ),
    Explanation(
        status="INVALID_ARGUMENT",
        words="authorization",
        advice=lambda target: (
            f"The authorization was not taken in location {target.authorization_location!r}. It has to exist in `global` or in "
            "the app's own location (reports differ): try the other one with --authorization-location."
        ),
    ),
    Explanation(
        status="INVALID_ARGUMENT",
        advice=lambda _: "If it is about the card, this finds the place:\n    hubctl check --card FILE",
    ),
    Explanation(
        status="FAILED_PRECONDITION",
        words="used by another agent",
        advice=lambda _: (
            "One authorization serves one agent. Give this one an authorization of its own:\n"
            "    hubctl register … --authorization OTHER_ID\n"
            "or find and delete the agent that holds it (it may be in another app):\n"
            "    hubctl register list …\n"
            "    hubctl register delete AGENT_ID …"
        ),
    ),
    Explanation(
        status="NOT_FOUND",
        words="/agents/",
        advice=lambda _: "Which agents there are is told by:\n    hubctl register list …",
    ),
    Explanation(
        status="NOT_FOUND",
        advice=lambda target: (
            f"There is no app {target.app!r} in location {target.location!r} of {target.project!r}. --app takes its id, which is "
            "not its name; the console shows both, and its location, under Gemini Enterprise › Apps."
        ),
    ),
)


def explained(status: str, message: str, reason: str | None, target: Target) -> str:
    """What to do about a refusal; "" where nothing is known."""
    for each in EXPLANATIONS:
        if each.status == status and each.reason in (None, reason) and each.words in message.lower():
            return each.advice(target)
    return ""
