"""What can be wrong with a registered agent and its card, which is a snapshot."""

from __future__ import annotations

from collections.abc import Iterator

from hubctl.cards.rule import Severity
from hubctl.registration.differences import differences
from hubctl.registration.evidence import Evidence
from hubctl.registration.symptom import Symptom, delete, register, rewrite


def not_registered(evidence: Evidence) -> Iterator[Symptom]:
    """There is an agent."""
    if evidence.agent is None:
        yield Symptom(
            message=f"no agent of the app {evidence.target.app!r} has this card's name or url",
            fix="register it",
            command=rewrite(evidence) if evidence.target.authorization_id else register(evidence),
        )


def duplicates(evidence: Evidence) -> Iterator[Symptom]:
    """There is one agent only."""
    for other in evidence.alike[1:]:
        yield Symptom(
            message=f"agent {other.id} ({other.display_name!r}) has this card's name or url too: people may be talking to it",
            fix="delete it",
            command=delete(evidence, other.id),
        )


def not_shared(evidence: Evidence) -> Iterator[Symptom]:
    """People see the agent."""
    if evidence.agent is not None and not evidence.agent.shared:
        yield Symptom(
            message="the agent is not shared: nobody but its administrators sees it",
            fix="register again: it is shared with all users",
            command=register(evidence),
        )


def _card(evidence: Evidence, *severities: Severity) -> Iterator[Symptom]:
    for finding in evidence.card_findings:
        if finding.severity in severities:
            yield Symptom(
                message=f"registered card, {finding.path}: {finding.message}",
                fix=f"{finding.fix}; then register again",
                command=register(evidence),
            )


def card_errors(evidence: Evidence) -> Iterator[Symptom]:
    """The registered card breaks no rule."""
    return _card(evidence, Severity.ERROR)


def card_warnings(evidence: Evidence) -> Iterator[Symptom]:
    """The registered card is as good as it can be."""
    return _card(evidence, Severity.WARNING)


def outdated(evidence: Evidence) -> Iterator[Symptom]:
    """The registered card is the one that is published."""
    if evidence.agent is None or evidence.agent.card is None or evidence.live_card is None:
        return
    for difference in sorted(differences(evidence.agent.card, evidence.live_card)):
        yield Symptom(
            message=f"the registered card is a snapshot: {difference}",
            fix="register again, then start a new conversation",
            command=register(evidence),
        )


def unpublished(evidence: Evidence) -> Iterator[Symptom]:
    """There is a published card to compare with."""
    if evidence.live_card_problem is not None:
        yield Symptom(
            message=f"the agent's own card cannot be compared: {evidence.live_card_problem}",
            fix="is the hub up, and its card public? --live-card FILE|URL names another place",
        )
