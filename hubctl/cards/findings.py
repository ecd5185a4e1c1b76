"""The findings on a card as text for a terminal."""

from collections.abc import Sequence

from a2a_hub.card_rules.card import Finding, Severity
from a2a_hub.card_rules.check import has_errors
from hubctl.console import counted


def as_text(place: str, findings: Sequence[Finding]) -> str:
    """Return three lines for each finding, then the verdict and the count of each severity."""
    lines = []
    for each in findings:
        lines += [
            f"{each.severity}: {each.path}: {each.message}",
            f"    fix:  {each.fix}",
            f"    rule: {each.rule} ({each.source})",
        ]
    counts = [(severity, sum(each.severity is severity for each in findings)) for severity in Severity]
    counts_text = ", ".join(counted(count, severity) for severity, count in counts if count)
    verdict = "Gemini Enterprise would not work with it" if has_errors(findings) else "good for Gemini Enterprise"
    return "\n".join([*lines, f"{place}: {verdict}" + (f" ({counts_text})" if counts_text else "")])
