"""What is registered in Gemini Enterprise, as steps of the doctor (`hubctl register doctor` tells more of it)."""

from __future__ import annotations

from a2a_hub.diagnosis.report import Examined, Outcome, Step, ok
from hubctl.cards.rule import Severity
from hubctl.main import CommandError
from hubctl.registration import evidence
from hubctl.registration.api import Api
from hubctl.registration.doctor import Diagnosis, diagnose
from hubctl.registration.oauth import OAuthClient

_OUTCOMES = {
    Severity.ERROR: Outcome.ERROR,
    Severity.WARNING: Outcome.WARNING,
    Severity.NOTE: Outcome.SKIPPED,
}


def examine_registration(api: Api, *, url: str, client: OAuthClient) -> Examined:
    """The agent whose card names `url`: its registered card beside the live one, its authorization, who sees it."""
    try:
        found = evidence.collect(
            api,
            card={"url": url},
            card_options=(f"--url {url}",),
            agent_id=None,
            client=client,
            live_card=url,
        )
    except CommandError as problem:
        message, _, fix = str(problem).partition("\n")
        step = Step(check="api", outcome=Outcome.ERROR, message=message, fix=fix or None)
        return Examined(subject="registered", steps=(step,))
    name = found.agent.name.rpartition("/")[2] if found.agent else "none"
    steps = [ok("agent", f"agent {name}, authorization {found.bound or 'none'}")] if found.agent else []
    return Examined(subject="registered", steps=(*steps, *map(_step, diagnose(found))))


def _step(each: Diagnosis) -> Step:
    return Step(
        check=each.check,
        outcome=_OUTCOMES[each.severity],
        message=each.message,
        fix=each.fix,
        command=each.command,
    )
