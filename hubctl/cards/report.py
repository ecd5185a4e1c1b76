"""Findings on a card as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from hubctl.cards.check import has_errors
from hubctl.cards.rule import Finding, Severity
from hubctl.text_table import counted


def as_text(place: str, findings: Sequence[Finding]) -> str:
    """Three lines for each finding, and the count."""
    lines = []
    for each in findings:
        lines += [
            f"{each.severity}: {each.path}: {each.message}",
            f"    fix:  {each.fix}",
            f"    rule: {each.rule} ({each.source})",
        ]
    return "\n".join([*lines, f"{place}: {summary(findings)}"])


def summary(findings: Sequence[Finding]) -> str:
    """How many of each, and what it means."""
    counts = [(severity, sum(each.severity is severity for each in findings)) for severity in Severity]
    told = ", ".join(counted(count, severity) for severity, count in counts if count)
    verdict = (
        "Gemini Enterprise would not work with it" if has_errors(findings) else "good for Gemini Enterprise"
    )
    return f"{verdict} ({told})" if told else verdict


def as_json(place: str, findings: Sequence[Finding]) -> str:
    """One object: `card`, `ok`, `findings`."""
    value = {"card": place, "ok": not has_errors(findings), "findings": [asdict(each) for each in findings]}
    return json.dumps(value, ensure_ascii=False)
