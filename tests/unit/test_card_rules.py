"""The rules on agent cards: each is broken by a card that breaks nothing else, and says where, why and what to write."""

import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_hub.card_rules.card import departures
from a2a_hub.card_rules.check import RULES, check_card, check_text, has_errors
from tests.unit.cards import good_card

Change = Callable[[dict[str, Any]], object]


def _flow(card: dict[str, Any]) -> dict[str, Any]:
    flow: dict[str, Any] = card["securitySchemes"]["google"]["flows"]["authorizationCode"]
    return flow


# Rule, what breaks it and nothing else, the path that is named, a piece of the fix.
BROKEN: list[tuple[str, Change, str, str]] = [
    (
        "camel-case",
        lambda c: c["skills"][0].update(input_modes=[]),
        "$.skills[0].input_modes",
        "rename it to inputModes",
    ),
    ("camel-case", lambda c: c.update(icon_url=""), "$.icon_url", "rename it to iconUrl, or delete it"),
    ("required", lambda c: c.pop("version"), "$.version", '"version"'),
    ("required", lambda c: c["skills"][1].pop("description"), "$.skills[1].description", '"description"'),
    (
        "required",
        lambda c: _flow(c).pop("tokenUrl"),
        "$.securitySchemes.google.flows.authorizationCode.tokenUrl",
        "",
    ),
    (
        "required",
        lambda c: c["securitySchemes"].update(other={"description": "?"}),
        "$.securitySchemes.other.type",
        '"type"',
    ),
    ("tags", lambda c: c["skills"][0].pop("tags"), "$.skills[0].tags", '"tags": []'),
    ("protocol-version", lambda c: c.pop("protocolVersion"), "$.protocolVersion", '"0.3.0"'),
    ("non-standard", lambda c: c.update(schema_version="v1"), "$.schema_version", "protocolVersion"),
    ("non-standard", lambda c: c.update(schemaVersion="v1"), "$.schemaVersion", "protocolVersion"),
    ("non-standard", lambda c: c.update(endpoints=[]), "$.endpoints", "url"),
    ("non-standard", lambda c: c["skills"][0].update(colour="red"), "$.skills[0].colour", "delete it"),
    (
        "supported-interfaces",
        lambda c: c.update(supportedInterfaces=[]),
        "$.supportedInterfaces",
        "delete it",
    ),
    (
        "supported-interfaces",
        lambda c: c.update(supportedInterfaces=[{"url": c["url"]}], securityRequirements=[]),
        "$.supportedInterfaces",
        "register the one that `hubctl card --url https://",
    ),
    ("non-standard", lambda c: c.update(securityRequirements=[]), "$.securityRequirements", "security"),
    (
        "non-standard",
        lambda c: c["capabilities"].update(extendedAgentCard=True),
        "$.capabilities.extendedAgentCard",
        "supportsAuthenticatedExtendedCard",
    ),
    (
        "required",
        lambda c: c["securitySchemes"].update(b={"httpAuthSecurityScheme": {"scheme": "bearer"}}),
        "$.securitySchemes.b.type",
        "members beside it",
    ),
    ("type", lambda c: c.update(version=1), "$.version", "string"),
    ("type", lambda c: c.update(documentationUrl=None), "$.documentationUrl", "string"),
    ("type", lambda c: c["skills"].append("pm"), "$.skills[2]", "object"),
    (
        "type",
        lambda c: c["securitySchemes"].update(b={"type": "basic"}),
        "$.securitySchemes.b.type",
        "oauth2",
    ),
    ("type", lambda c: c["capabilities"].update(streaming="yes"), "$.capabilities.streaming", "boolean"),
    (
        "type",
        lambda c: c["capabilities"].update(extensions=["u"]),
        "$.capabilities.extensions[0]",
        "object",
    ),
    (
        "required",
        lambda c: c["capabilities"].update(extensions=[{}]),
        "$.capabilities.extensions[0].uri",
        '"uri"',
    ),
    ("url-https", lambda c: c.update(url="http://hub.example.com"), "$.url", "https://"),
    ("url-https", lambda c: c.update(url="hub.example.com"), "$.url", "https address"),
    ("url-public", lambda c: c.update(url="https://127.0.0.1:8080"), "$.url", "public address"),
    ("url-public", lambda c: c.update(url="https://10.1.2.3"), "$.url", "public address"),
    ("transport", lambda c: c.update(preferredTransport="GRPC"), "$.preferredTransport", "JSONRPC"),
    ("mime-types", lambda c: c["defaultInputModes"].append("text"), "$.defaultInputModes[2]", '"text/plain"'),
    (
        "mime-types",
        lambda c: c["skills"][0].update(outputModes=["a b"]),
        "$.skills[0].outputModes[0]",
        "MIME",
    ),
    (
        "text-modes",
        lambda c: c.update(defaultOutputModes=["application/json"]),
        "$.defaultOutputModes",
        "text/plain",
    ),
    (
        "streaming",
        lambda c: c["capabilities"].pop("streaming"),
        "$.capabilities.streaming",
        '"streaming": true',
    ),
    ("streaming", lambda c: c["capabilities"].update(streaming=False), "$.capabilities.streaming", ""),
    ("security", lambda c: c.pop("security"), "$.security", "hubctl card"),
    ("security-names", lambda c: c.update(security=[{"gogle": []}]), "$.security[0].gogle", "'google'"),
    (
        "google-oauth",
        lambda c: c["securitySchemes"].update(google={"type": "http", "scheme": "bearer"}),
        "$.securitySchemes",
        "authorizationCode",
    ),
    (
        "google-oauth",
        lambda c: _flow(c).update(authorizationUrl="https://mock.example.com/auth"),
        "$.securitySchemes.google.flows.authorizationCode.authorizationUrl",
        "accounts.google.com",
    ),
    (
        "offline-access",
        lambda c: _flow(c).update(authorizationUrl="https://accounts.google.com/o/oauth2/v2/auth?prompt=consent"),
        "$.securitySchemes.google.flows.authorizationCode.authorizationUrl",
        "add access_type=offline",
    ),
    (
        "scopes",
        lambda c: _flow(c).update(scopes={"openid": ""}),
        "$.securitySchemes.google.flows.authorizationCode.scopes",
        "add email",
    ),
    ("skill-ids", lambda c: c["skills"][1].update(id="pm"), "$.skills[1].id", "one of its own"),
    ("registry-size", lambda c: c["skills"][0].update(examples=["x" * 1500] * 6), "$", "shorten examples"),
]


def test_a_good_card_has_no_findings() -> None:
    assert check_card(good_card()) == ()


@pytest.mark.parametrize(("rule", "change", "path", "fix"), BROKEN, ids=[f"{b[0]} {b[2]}" for b in BROKEN])
def test_a_card_that_breaks_one_rule_is_told_that_rule_alone(rule: str, change: Change, path: str, fix: str) -> None:
    card = good_card()
    change(card)
    findings = check_card(card)
    assert [(each.rule, each.path) for each in findings] == [(rule, path)]
    assert fix in findings[0].fix
    assert findings[0].message


def test_a_field_in_snake_case_is_missing_under_its_own_name_too() -> None:
    card = good_card()
    card["protocol_version"] = card.pop("protocolVersion")
    assert [each.rule for each in check_card(card)] == ["camel-case", "protocol-version"]


def test_every_rule_has_a_card_that_breaks_it_and_ids_are_used_once() -> None:
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)
    assert {broken[0] for broken in BROKEN} == set(ids)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "JSON object"),
        ("[" * 100_000, "nested deeper"),
    ],
)
def test_what_is_no_json_object_is_told_so(text: str, message: str) -> None:
    (finding,) = check_text(text)
    assert (finding.rule, finding.path) == ("json", "$")
    assert message in finding.message


def test_errors_come_first_and_warnings_alone_are_no_errors() -> None:
    card = good_card() | {"defaultOutputModes": ["application/json"]}
    assert not has_errors(check_card(card))
    card["skills"][0]["examples"] = ["x" * 10_000]
    findings = check_card(card | {"url": "http://hub.example.com"})
    assert [each.severity for each in findings] == ["error", "warning", "note"]


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "api.localhost",
        "127.1",
        "2130706433",
        "0x7f000001",
        "[::1]",
        "[fe80::1%25eth0]",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "hub",
        "hub.internal",
        "hub.local.",
    ],
)
def test_a_host_that_the_internet_does_not_know_is_found(host: str) -> None:
    findings = check_card(good_card() | {"url": f"https://{host}/"})
    assert [each.rule for each in findings] == ["url-public"]


@pytest.mark.parametrize("host", ["hub.example.com", "8.8.8.8", "[2600::1]", "locals.example.com", "日本.jp"])
def test_a_host_that_the_internet_may_know_is_not(host: str) -> None:
    assert check_card(good_card() | {"url": f"https://{host}:8443/a2a"}) == ()


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_whatever_stands_in_a_field_something_is_said_and_nothing_breaks(data: st.DataObject) -> None:
    card = good_card()
    holder = data.draw(
        st.sampled_from([card, card["skills"][0], card["capabilities"], card["securitySchemes"]["google"]])
    )
    holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(_json)
    findings = check_text(json.dumps(card))
    assert has_errors(findings) or not list(departures(card))


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(name="\ud800"),
        lambda c: _flow(c).update(authorizationUrl="https://["),
    ],
    ids=["half a character", "no URL"],
)
def test_what_is_no_text_or_no_url_breaks_nothing(change: Change) -> None:
    card = good_card()
    change(card)
    assert not [each for each in check_text(json.dumps(card)) if each.rule == "json"]


@pytest.mark.parametrize(
    "large",
    [
        lambda count: {f"field{number}": 1 for number in range(count)},
        lambda count: {"skills": [{f"a_field{number}": 1} for number in range(count)]},
        lambda count: {
            "securitySchemes": {f"scheme{number}": {"type": "apiKey"} for number in range(count)},
            "security": [{f"other{number}": []} for number in range(count)],
        },
    ],
    ids=["unknown fields", "skills without anything", "undeclared schemes"],
)
def test_a_hostile_card_takes_time_and_memory_in_proportion_to_its_length(large: Callable[[int], object]) -> None:
    text = json.dumps(large(4_000))
    started = time.process_time()
    check_text(text)
    assert time.process_time() - started < 1.5
    tracemalloc.start()
    try:
        check_text(text)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()
