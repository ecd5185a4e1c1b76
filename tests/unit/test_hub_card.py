"""The hub's own card, by the rules of A2A 1.0.1 §4.4 and §5.7, and of 0.3.0 §5.6."""

from typing import Any

import msgspec
import pytest

from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.compat.v0_3.card import to_compat_card
from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.routing.hub_card import ROUTE_EXTENSION, SecurityKind, hub_card
from a2a_hub.routing.parser import load
from tests.contract.a2a.schemas import faults, faults_v0_3
from tests.unit.route_tables import DEFAULT, route_text

TABLE = load(route_text("tagged", 'tags = ["one", "two"]', 'keywords = ["x"]', priority=1) + DEFAULT, variables={})
CHOICES = [(), (SecurityKind.BEARER,), tuple(SecurityKind)]


def _card(security: tuple[SecurityKind, ...]) -> AgentCard:
    return hub_card(
        TABLE,
        public_url="https://hub.example.com",
        security=security,
        routes=TABLE.routes,
        extended=bool(security),
        keeps_tasks=True,
    )


def _json(card: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(card))


@pytest.mark.parametrize("security", CHOICES, ids=str)
def test_the_card_is_one_by_the_schemas_of_both_versions(security: tuple[SecurityKind, ...]) -> None:
    card = _card(security)
    assert faults("AgentCard", _json(card)) == []
    assert faults_v0_3("AgentCard", _json(to_compat_card(card))) == []


def test_a_skill_has_a_tag_though_its_route_has_none() -> None:
    assert [skill.tags for skill in _card(()).skills] == [("one", "two"), ("other",)]


def test_each_extension_is_described() -> None:
    own = f'keywords = ["x"]\npasses_tasks = true\nextensions = ["{URI}"]\nallow_clients = ["developer"]'
    table = load(route_text("coder", own, priority=1) + DEFAULT, variables={})
    card = hub_card(
        table,
        public_url="https://h.example",
        security=(),
        routes=table.routes,
        extended=False,
        keeps_tasks=True,
        tells_routes=True,
    )
    passed, told = card.capabilities.extensions
    assert (passed.uri, passed.description) == (URI, f"Passed on to and from {table.by_id['coder'].name}.")
    assert (told.uri, bool(told.description)) == (ROUTE_EXTENSION, True)


@pytest.mark.parametrize("security", CHOICES, ids=str)
def test_every_scheme_that_is_required_is_declared_and_every_one_alone_is_enough(
    security: tuple[SecurityKind, ...],
) -> None:
    card = _card(security)
    assert [list(each.schemes) for each in card.security_requirements] == [[kind.value] for kind in security]
    assert list(card.security_schemes or {}) == [kind.value for kind in security]


def test_the_preferred_interface_of_0_3_is_the_one_at_its_url() -> None:
    """0.3.0 §5.6.4."""
    card = _json(to_compat_card(_card(())))
    assert {"url": card["url"], "transport": card["preferredTransport"]} in card["additionalInterfaces"]


@pytest.mark.parametrize(
    ("japanese", "description"),
    [
        ('description_ja = "テスト計画。"', "Answers x. Delivered by qa workers. / テスト計画。担当：qa。"),
        ("", "Answers x. Delivered by qa workers."),
    ],
)
def test_a_skill_of_workers_names_who_delivers(japanese: str, description: str) -> None:
    row = f'[[routes]]\nid = "x"\nname = "X"\ndescription = "Answers x."\n{japanese}\nrole = "qa"\ndefault = true\n'
    table = load(row, variables={})
    card = hub_card(
        table, public_url="https://h.example", security=(), routes=table.routes, extended=False, keeps_tasks=True
    )
    assert [skill.description for skill in card.skills] == [description]
