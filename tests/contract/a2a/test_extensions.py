"""Extensions: asked for by header, unknown ones ignored, the activated ones named, required ones insisted on (§4.6, §3.3.4)."""

import time
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


@pytest.mark.parametrize(
    ("declared", "requested", "serves"),
    [
        ("/v1/", "/v1/", True),
        ("/v1.2/", "/v1/", True),
        ("/v1.2.3/", "/v1.2/", True),
        ("/v1/", "/v1.2/", False),
        ("/v2/", "/v1/", False),
        ("/v0/", "/v0.0/", True),
        ("/v0.1/", "/v0/", False),
        ("/v0.1/", "/v0.2/", False),
        ("/v1/", "/", False),
    ],
)
def test_an_extension_serves_callers_of_versions_that_it_is_compatible_with(
    declared: str, requested: str, serves: bool
) -> None:
    uris = [f"https://example.com/profile{version}spec.md" for version in (declared, requested)]
    capabilities = replace(CARD.capabilities, extensions=(AgentExtension(uri=uris[0]),))
    way = WAYS[0]
    response = served(replace(CARD, capabilities=capabilities)).send(
        "POST", way.path, way.body(way.params()), headers={"a2a-extensions": uris[1]}
    )
    active = [value for name, value in response.headers.items() if name.endswith("a2a-extensions")]
    assert active == ([uris[0]] if serves else [])


@EACH_WAY
def test_a_message_activates_extensions_as_a_header_does(way: Way) -> None:
    params = way.params()
    params["message"] |= {"extensions": [TWO], "metadata": {ONE: {}, "skill-of-ours": 1}}
    response = _agent().send("POST", way.path, way.body(params))
    assert response.headers.get("x-a2a-extensions" if way.version == "0.3" else "a2a-extensions") == f"{ONE},{TWO}"


@EACH_WAY
def test_a_required_extension_must_be_asked_for(way: Way) -> None:
    agent = _agent(required=True)
    _, error, _ = error_of(way, agent.send("POST", way.path, way.body(way.params())))
    assert error["code"] == (400 if way.rest else -32008)
    (info,) = error["details" if way.rest else "data"]
    assert (info["reason"], info["metadata"]) == ("EXTENSION_SUPPORT_REQUIRED", {"extensions": ONE})
    asked = agent.send("POST", way.path, way.body(way.params()), headers={"a2a-extensions": ONE})
    assert asked.status == 200


def test_a_hostile_name_of_an_extension_costs_no_more_than_any_other_text() -> None:
    agent, way = _agent(), WAYS[0]

    def cost(uri: str) -> float:
        params = way.params()
        params["message"]["extensions"] = [uri]
        body = way.body(params)
        start = time.process_time()
        assert agent.send("POST", way.path, body).status == 200
        return time.process_time() - start

    assert min(cost("/v1" * 1_000_000) for _ in range(3)) < 3 * min(cost("abc" * 1_000_000) for _ in range(5))
