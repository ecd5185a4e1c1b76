"""Why "The agent requires additional authorization" comes again and again, or nobody sees the agent: the checks, as a table.

Gemini Enterprise logs nothing about it; each check looks for something that was reported to be a cause
(docs/gemini-enterprise.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hubctl.cards.rule import Severity
from hubctl.registration import agent_checks, authorization_checks
from hubctl.registration.evidence import Evidence
from hubctl.registration.symptom import Check

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

CHECKS: tuple[Check, ...] = (
    Check(id="not-registered", severity=_E, look=agent_checks.not_registered),
    Check(id="authorization-unbound", severity=_E, look=authorization_checks.unbound),
    Check(id="authorization-other", severity=_E, look=authorization_checks.bound_elsewhere),
    Check(id="authorization-missing", severity=_E, look=authorization_checks.missing),
    Check(id="authorization-location", severity=_E, look=authorization_checks.location),
    Check(id="authorization-used", severity=_E, look=authorization_checks.used_by_another),
    Check(id="client-id", severity=_E, look=authorization_checks.client),
    Check(id="client-secret", severity=_E, look=authorization_checks.secret),
    Check(id="redirect-uris", severity=_E, look=authorization_checks.redirects),
    Check(id="authorization-uri", severity=_E, look=authorization_checks.parameters),
    Check(id="provider", severity=_E, look=authorization_checks.provider),
    Check(id="scopes", severity=_E, look=authorization_checks.scopes),
    Check(id="not-shared", severity=_E, look=agent_checks.not_shared),
    Check(id="card", severity=_E, look=agent_checks.card_errors),
    Check(id="duplicate", severity=_W, look=agent_checks.duplicates),
    Check(id="card-advice", severity=_W, look=agent_checks.card_warnings),
    Check(id="card-outdated", severity=_W, look=agent_checks.outdated),
    Check(id="card-unpublished", severity=_W, look=agent_checks.unpublished),
    Check(id="authorization-other-location", severity=_N, look=authorization_checks.other_location),
    Check(id="client-secret-unseen", severity=_N, look=authorization_checks.secret_unknown),
    Check(id="redirect-uris-unseen", severity=_N, look=authorization_checks.redirects_unknown),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One symptom under its check's name."""

    check: str
    severity: Severity
    message: str
    fix: str
    command: str | None


def diagnose(evidence: Evidence) -> tuple[Diagnosis, ...]:
    """Everything that the checks see, errors first."""
    found = [
        Diagnosis(
            check=check.id,
            severity=check.severity,
            message=symptom.message,
            fix=symptom.fix,
            command=symptom.command,
        )
        for check in CHECKS
        for symptom in check.look(evidence)
    ]
    order = list(Severity)
    return tuple(sorted(found, key=lambda each: order.index(each.severity)))


def has_errors(found: Sequence[Diagnosis]) -> bool:
    """Whether something is wrong for certain."""
    return any(each.severity is Severity.ERROR for each in found)
