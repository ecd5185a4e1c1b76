"""What a check of the doctor is, what it finds, and the commands that mend it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hubctl.cards.rule import Severity
from hubctl.registration.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """What a check saw, what mends it, and the command that does, where one can."""

    message: str
    fix: str
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One cause: its id, how bad it is, and what looks for it."""

    id: str
    severity: Severity
    look: Callable[[Evidence], Iterable[Symptom]]


def register(evidence: Evidence, *, authorization_location: str | None = None) -> str:
    """The command that registers this agent again: everything is written anew but the authorization's content."""
    target = evidence.target
    words = ["hubctl register", _app(evidence)]
    if target.authorization_id is None:
        words.append("--no-authorization")
    else:
        place = authorization_location or target.authorization_location
        words.append(f"--authorization {target.authorization_id} --authorization-location {place}")
    return " ".join([*words, *evidence.card_options])


def rewrite(
    evidence: Evidence, *, client_id: str | None = None, authorization_location: str | None = None
) -> str:
    """The command that also writes the authorization's content anew: with an updateMask, and read back."""
    client = client_id or evidence.client.id or evidence.oauth.get("clientId") or "CLIENT_ID"
    command = register(evidence, authorization_location=authorization_location)
    return f"OAUTH_CLIENT_SECRET=SECRET {command} --client-id {client}"


def delete(evidence: Evidence, agent_id: str) -> str:
    """The command that deletes another agent of the app."""
    return f"hubctl register delete {agent_id} {_app(evidence)}"


def _app(evidence: Evidence) -> str:
    target = evidence.target
    return f"--project {target.project} --app {target.app} --location {target.location}"
