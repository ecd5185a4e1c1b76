"""What a check of the doctor is, what it finds, and the commands that mend it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hubctl.cards.rule import Severity
from hubctl.registration.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """What a check saw, and the command or act that mends it."""

    message: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One cause: its id, how bad it is, and what looks for it."""

    id: str
    severity: Severity
    look: Callable[[Evidence], Iterable[Symptom]]


def hubctl(evidence: Evidence, *words: str, authorization_location: str | None = None) -> str:
    """A hubctl command for this target."""
    target = evidence.target
    options = {"--project": target.project, "--app": target.app, "--location": target.location}
    if target.authorization_id is not None:
        options["--authorization"] = target.authorization_id
        options["--authorization-location"] = authorization_location or target.authorization_location
    given = " ".join(f"{name} {value}" for name, value in options.items())
    return " ".join(["hubctl register", *words, given])


def rewrite(evidence: Evidence) -> str:
    """The command that writes the authorization anew."""
    return (
        f"OAUTH_CLIENT_SECRET=… {hubctl(evidence)} --client-id {evidence.oauth.get('clientId') or 'ID'}, "
        "which patches with updateMask and reads back"
    )
