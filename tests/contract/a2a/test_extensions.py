"""Extensions: asked for by header, unknown ones ignored, the activated ones named, required ones insisted on (§4.6, §3.3.4)."""

from itertools import product

import pytest
from msgspec.structs import replace

from a2a_hub.a2a.card import AgentExtension
from tests.contract.a2a.served import CARD, WAYS, Served, Way, error_of, served

EACH_WAY = pytest.mark.parametrize("way", WAYS, ids=str)
ONE, TWO, UNKNOWN = (f"https://example.com/extensions/{name}/v1" for name in ("one", "two", "unknown"))


def _agent(*, required: bool = False) -> Served:
    extensions = (AgentExtension(uri=ONE, required=required), AgentExtension(uri=TWO))
    return served(replace(CARD, capabilities=replace(CARD.capabilities, extensions=extensions)))


@pytest.mark.parametrize(
    ("asked", "active"),
    [
        (ONE, ONE),
        (f"{TWO}, {ONE}", f"{ONE},{TWO}"),
        (f"{UNKNOWN},{TWO}", TWO),
        (UNKNOWN, None),
        ("", None),
        (",, ,", None),
        ("\u2603", None),
    ],
)
def test_the_answer_names_the_extensions_that_it_activates(asked: str, active: str | None) -> None:
    for way, header in product(WAYS, ("a2a-extensions", "x-a2a-extensions")):
        response = _agent().send("POST", way.path, way.body(way.params()), headers={header: asked})
        assert response.status == 200
        named = "x-a2a-extensions" if way.version == "0.3" else "a2a-extensions"
        assert response.headers.get(named) == active, (way, header)


@EACH_WAY
def test_a_required_extension_must_be_asked_for(way: Way) -> None:
    agent = _agent(required=True)
    _, error, _ = error_of(way, agent.send("POST", way.path, way.body(way.params())))
    assert error["code"] == (400 if way.rest else -32008)
    (info,) = error["details" if way.rest else "data"]
    assert (info["reason"], info["metadata"]) == ("EXTENSION_SUPPORT_REQUIRED", {"extensions": ONE})
    asked = agent.send("POST", way.path, way.body(way.params()), headers={"a2a-extensions": ONE})
    assert asked.status == 200
