"""The rules on a card for Gemini Enterprise as one table, their application to a card, published or as text, and the findings."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from a2a_hub.card_rules import content_rules, form_rules
from a2a_hub.card_rules.card import Card, Finding, Flaw, Rule, Severity
from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON

_TILE_2 = "Gemini Enterprise A2A tile, rule 2"
_TILE_4 = "Gemini Enterprise A2A tile, rule 4"
_TILE_5 = "Gemini Enterprise A2A tile, rule 5"
_SCHEMA = "A2A 0.3.0, JSON schema, AgentCard"
_CLIENT = "Gemini Enterprise as an A2A client (docs/gemini-enterprise.md)"
_REPORTED = "reported by people who registered agents (docs/gemini-enterprise.md)"
_REGISTRY = "Agent Registry, JSON schemas (docs/agent-registry.md)"

_WELL_KNOWN = "/.well-known/agent-card.json"
_SECONDS = 15.0
_MAX_BYTES = 4 << 20

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

_NOT_JSON = Rule("json", "RFC 8259", _E)

RULES: tuple[Rule, ...] = (
    Rule("camel-case", _TILE_2, _E),
    Rule("required", _SCHEMA, _E),
    Rule("tags", _TILE_2, _E),
    Rule("protocol-version", _TILE_2, _E),
    Rule("non-standard", _TILE_2, _E),
    Rule("supported-interfaces", _REPORTED, _E),
    Rule("type", _SCHEMA, _E),
    Rule("url-https", _CLIENT, _E, content_rules.url_scheme),
    Rule("url-public", _CLIENT, _E, content_rules.url_public),
    Rule("transport", _CLIENT, _E, content_rules.transport),
    Rule("mime-types", _CLIENT, _E, content_rules.mime_types),
    Rule("text-modes", _CLIENT, _W, content_rules.text_modes),
    Rule("streaming", _CLIENT, _W, content_rules.streaming),
    Rule("security", _TILE_4, _E, content_rules.declared),
    Rule("security-names", "A2A 0.3.0 §5.5", _E, content_rules.names),
    Rule("google-oauth", _TILE_5, _W, content_rules.google_oauth),
    Rule("offline-access", _TILE_5, _E, content_rules.offline_access),
    Rule("scopes", _TILE_4, _W, content_rules.scopes),
    Rule("skill-ids", "A2A 0.3.0 §5.5.4", _E, content_rules.skill_ids),
    Rule("registry-size", _REGISTRY, _N, content_rules.registry_size),
)

NEEDS_AUTHORIZATION = frozenset({"security", "google-oauth", "offline-access", "scopes"})
"""Rules that say nothing about an agent that is registered without an authorization."""


def check_card(value: dict[str, Any]) -> tuple[Finding, ...]:
    """Return all findings on a card, errors first."""
    card = Card(value=value)
    of_form = tuple(form_rules.departed(card))
    found = [
        _finding(rule, flaw)
        for rule in RULES
        for flaw in (rule.find(card) if rule.find else (flaw for id_, flaw in of_form if id_ == rule.id))
    ]
    return tuple(each for severity in Severity for each in found if each.severity is severity)


def check_text(text: str) -> tuple[Finding, ...]:
    """Return all findings on a card as it is written."""
    try:
        value = json.loads(text)
    except ValueError as problem:
        return (_not_json(f"this is not JSON: {problem}", "fix it: a comma, a quote or a bracket is out of place"),)
    except RecursionError:
        return (_not_json("this is nested deeper than any card", "fix it: brackets are opened without end"),)
    if not isinstance(value, dict):
        return (_not_json("a card is a JSON object", 'write {"name": …}'),)
    return check_card(value)


def has_errors(findings: Sequence[Finding]) -> bool:
    """Return True if a finding makes a registration fail."""
    return any(each.severity is Severity.ERROR for each in findings)


def _finding(rule: Rule, flaw: Flaw) -> Finding:
    return Finding(rule=rule.id, source=rule.source, severity=rule.severity, **flaw._asdict())


def _not_json(message: str, fix: str) -> Finding:
    return _finding(_NOT_JSON, Flaw("$", message, fix))


def as_json(place: str, findings: Sequence[Finding]) -> str:
    """Return one JSON object: `card`, `ok`, `findings`."""
    value = {"card": place, "ok": not has_errors(findings), "findings": [asdict(each) for each in findings]}
    return json.dumps(value, ensure_ascii=False)


class CardUnreadable(Exception):
    """The reason why there is no card, as a sentence with its address."""


def published_card(url: str, *, http: HttpClient) -> str:
    """Return the card at a URL as text: the strict 0.3 card, which is the one to register.

    A URL that names no .json file is an agent's. Raises CardUnreadable.
    """
    address = url if urlsplit(url).path.endswith(".json") else url.rstrip("/") + _WELL_KNOWN
    headers = {"accept": JSON, "a2a-version": "0.3"}
    try:
        answer, body = fetch(http, "GET", address, headers=headers, seconds=_SECONDS, max_bytes=_MAX_BYTES)
    except HttpFailure as failure:
        raise CardUnreadable(f"{address} cannot be read: {failure.detail}") from None
    if answer.status != 200:
        raise CardUnreadable(f"{address} answers HTTP {answer.status}: a card must be readable without a token")
    return body.decode("utf-8", errors="replace")
