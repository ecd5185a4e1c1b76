"""The rules on a card for Gemini Enterprise as one table, their application, and the findings as text and JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hubctl.cards import content_rules, form_rules, security_rules
from hubctl.cards.card import Card, Finding, Flaw, Rule, Severity, finding
from hubctl.console import counted

_TILE_2 = "Gemini Enterprise A2A tile, rule 2"
_TILE_4 = "Gemini Enterprise A2A tile, rule 4"
_TILE_5 = "Gemini Enterprise A2A tile, rule 5"
_SCHEMA = "A2A 0.3.0, JSON schema, AgentCard"
_CLIENT = "Gemini Enterprise as an A2A client (docs/gemini-enterprise.md)"
_REPORTED = "reported by people who registered agents (docs/gemini-enterprise.md)"
_OWN = "this project's choice"

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

NOT_JSON = Rule(id="json", source="RFC 8259", severity=_E, find=lambda _: ())

RULES: tuple[Rule, ...] = (
    Rule(id="camel-case", source=_TILE_2, severity=_E, find=form_rules.camel_case),
    Rule(id="required", source=_SCHEMA, severity=_E, find=form_rules.required),
    Rule(id="tags", source=_TILE_2, severity=_E, find=form_rules.tags),
    Rule(id="protocol-version", source=_TILE_2, severity=_E, find=form_rules.protocol_version),
    Rule(id="protocol-version-v1", source=_TILE_2, severity=_N, find=content_rules.v1),
    Rule(id="schema-version", source=_TILE_2, severity=_E, find=form_rules.schema_version),
    Rule(id="non-standard", source=_TILE_2, severity=_E, find=form_rules.non_standard),
    Rule(id="supported-interfaces", source=_REPORTED, severity=_E, find=form_rules.supported_interfaces),
    Rule(id="only-in-1.0", source=_SCHEMA, severity=_E, find=form_rules.only_in_1_0),
    Rule(id="type", source=_SCHEMA, severity=_E, find=form_rules.types),
    Rule(id="extensions", source=_CLIENT, severity=_E, find=form_rules.extensions),
    Rule(id="url-https", source=_CLIENT, severity=_E, find=content_rules.url_scheme),
    Rule(id="url-public", source=_CLIENT, severity=_E, find=content_rules.url_public),
    Rule(id="url-plain", source="RFC 3986 §3.2.1", severity=_W, find=content_rules.url_plain),
    Rule(id="transport", source=_CLIENT, severity=_E, find=content_rules.transport),
    Rule(id="mime-types", source=_CLIENT, severity=_E, find=content_rules.mime_types),
    Rule(id="text-modes", source=_CLIENT, severity=_W, find=content_rules.text_modes),
    Rule(id="streaming", source=_CLIENT, severity=_W, find=content_rules.streaming),
    Rule(id="security", source=_TILE_4, severity=_E, find=security_rules.declared),
    Rule(id="security-names", source="A2A 0.3.0 §5.5", severity=_E, find=security_rules.names),
    Rule(id="google-oauth", source=_TILE_5, severity=_W, find=security_rules.google_oauth),
    Rule(id="offline-access", source=_TILE_5, severity=_E, find=security_rules.offline_access),
    Rule(id="scopes", source=_TILE_4, severity=_W, find=security_rules.scopes),
    Rule(id="skills", source="A2A 0.3.0 §5.5.4", severity=_W, find=content_rules.no_skills),
    Rule(id="skill-ids", source="A2A 0.3.0 §5.5.4", severity=_E, find=content_rules.skill_ids),
    Rule(id="empty", source="A2A 0.3.0 §5.5", severity=_E, find=content_rules.empty_texts),
    Rule(id="description-length", source=_OWN, severity=_W, find=content_rules.long_descriptions),
    Rule(id="icon", source="W3C Mixed Content", severity=_W, find=content_rules.icon),
    Rule(id="signature", source="A2A 0.3.0 §5.5.6, RFC 7515", severity=_W, find=content_rules.signatures),
    Rule(id="size", source=_OWN, severity=_W, find=content_rules.size),
)

NEEDS_AUTHORIZATION = frozenset({"security", "google-oauth", "offline-access", "scopes"})
"""Rules that say nothing about an agent that is registered without an authorization."""


def check_card(value: dict[str, Any]) -> tuple[Finding, ...]:
    """Return all findings on a card, errors first."""
    card = Card(value=value)
    found = (finding(rule, flaw) for rule in RULES for flaw in rule.find(card))
    return tuple(sorted(found, key=lambda each: each.severity.rank))


def check_text(text: str) -> tuple[Finding, ...]:
    """Return all findings on a card as it is written."""
    try:
        value = json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_no_constant)
    except ValueError as problem:
        return (_not_json(f"this is not JSON: {problem}", "fix it: a comma, a quote or a bracket is out of place"),)
    except RecursionError:
        return (_not_json("this is nested deeper than any card", "fix it: brackets are opened without end"),)
    except _Repeated as problem:
        return (_not_json(f"the name {problem} stands twice in one object", "delete one of the two"),)
    if not isinstance(value, dict):
        return (_not_json("a card is a JSON object", 'write {"name": …}'),)
    return check_card(value)


def has_errors(findings: Sequence[Finding]) -> bool:
    """Return True if a finding makes a registration fail."""
    return any(each.severity is Severity.ERROR for each in findings)


def _not_json(message: str, fix: str) -> Finding:
    return finding(NOT_JSON, Flaw(path="$", message=message, fix=fix))


class _Repeated(Exception):
    """A name that one object has twice."""


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, item in pairs:
        if name in value:
            raise _Repeated(name)
        value[name] = item
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def as_text(place: str, findings: Sequence[Finding]) -> str:
    """Return three lines for each finding, and the count."""
    lines = []
    for each in findings:
        lines += [
            f"{each.severity}: {each.path}: {each.message}",
            f"    fix:  {each.fix}",
            f"    rule: {each.rule} ({each.source})",
        ]
    return "\n".join([*lines, f"{place}: {summary(findings)}"])


def summary(findings: Sequence[Finding]) -> str:
    """Return the verdict and the count of each severity."""
    counts = [(severity, sum(each.severity is severity for each in findings)) for severity in Severity]
    counts_text = ", ".join(counted(count, severity) for severity, count in counts if count)
    verdict = "Gemini Enterprise would not work with it" if has_errors(findings) else "good for Gemini Enterprise"
    return f"{verdict} ({counts_text})" if counts_text else verdict


def as_json(place: str, findings: Sequence[Finding]) -> str:
    """Return one JSON object: `card`, `ok`, `findings`."""
    value = {"card": place, "ok": not has_errors(findings), "findings": [asdict(each) for each in findings]}
    return json.dumps(value, ensure_ascii=False)
