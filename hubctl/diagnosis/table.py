"""The doctor's findings for people and for machines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from a2a_hub.diagnosis.report import Outcome, Report, Step
from hubctl.text_table import row

_WIDTHS = (1, 12, 11, 100)
_MARKS = {Outcome.OK: "✓", Outcome.WARNING: "!", Outcome.ERROR: "✗", Outcome.SKIPPED: "-"}


def has_errors(report: Report) -> bool:
    """Whether something does not work."""
    return any(step.outcome is Outcome.ERROR for _, step in _steps(report))


def as_text(report: Report) -> Iterator[str]:
    """A row for each step; under one that is not well, what mends it. A command stands on a line of its own, whole."""
    yield row(("", "part", "check", "what was seen"), _WIDTHS)
    yield row(tuple("-" * width for width in _WIDTHS), _WIDTHS)
    for subject, step in _steps(report):
        yield from _lines(subject, step)
    yield ""
    counts = {outcome: sum(step.outcome is outcome for _, step in _steps(report)) for outcome in Outcome}
    told = [f"{count} {_PLURALS[outcome]}" for outcome, count in counts.items() if count]
    yield ", ".join(told)


_PLURALS = {
    Outcome.OK: "well",
    Outcome.WARNING: "could be better",
    Outcome.ERROR: "wrong",
    Outcome.SKIPPED: "not tested",
}


def as_json(report: Report) -> str:
    """One object: `ok`, `account`, `findings`."""
    findings = [
        {
            "subject": subject,
            "check": step.check,
            "outcome": step.outcome.value,
            "message": step.message,
            "fix": step.fix,
            "command": step.command,
        }
        for subject, step in _steps(report)
    ]
    return json.dumps(
        {"ok": not has_errors(report), "account": report.account, "findings": findings}, ensure_ascii=False
    )


def _steps(report: Report) -> Iterable[tuple[str, Step]]:
    return ((part.subject, step) for part in report.examined for step in part.steps)


def _lines(subject: str, step: Step) -> Iterator[str]:
    if step.outcome in (Outcome.OK, Outcome.SKIPPED):
        yield row((_MARKS[step.outcome], subject, step.check, step.message), _WIDTHS)
        return
    head = row((_MARKS[step.outcome], subject, step.check, "."), (*_WIDTHS[:3], 1))
    yield f"{head[:-1]}{step.message}"
    if step.fix:
        yield f"    fix: {step.fix}"
    if step.command:
        yield f"    run: {step.command}"
